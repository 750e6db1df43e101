-------------------------- MODULE QuietDirectory --------------------------
(***************************************************************************)
(* A ZooKeeper lock that one client takes again and again without listing  *)
(* its queue, while others may come at any time.                           *)
(*                                                                         *)
(* A directory numbers its nodes from zero, without gaps. If it is empty,  *)
(* the servers may remove it at any time; the next node makes it anew, and *)
(* numbers begin again. The first of the queue holds the lock.             *)
(*                                                                         *)
(* Our client knows below which number all nodes are gone: from a listing  *)
(* that showed its own node as the first, and from its own deletions. A    *)
(* node of its own with just that number is the first, if the directory is *)
(* still the same. Answers and events reach the client in the order they   *)
(* were sent, at any time; a connection may break and lose all of them.    *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    MaxNumber,
    MaxRemovals,
    Watched,    \* whether the removal of the directory is told
    Forgets     \* whether a broken connection ends what is known

VARIABLES
    nodes,      \* numbers in the directory
    next,       \* the number of the next node
    removals,
    watch,      \* whether the server will tell of the next removal
    wire,       \* what the server has sent to our client
    asked,      \* what our client has sent, and the server has not served yet
    state,      \* of our client: idle, making, holding, leaving
    mine,       \* the number of its node
    trust,      \* none; set: it is known from the next listing on; sure
    goneBelow   \* if it is sure: all nodes with smaller numbers are gone

vars == <<nodes, next, removals, watch, wire, asked, state, mine, trust, goneBelow>>

First(n) == n \in nodes /\ \A m \in nodes : n <= m

Init ==
    /\ nodes = {}
    /\ next = 0
    /\ removals = 0
    /\ watch = FALSE
    /\ wire = <<>>
    /\ asked = <<>>
    /\ state = "idle"
    /\ mine = 0
    /\ trust = "none"
    /\ goneBelow = 0

\* ---- others ----

OthersCome ==
    /\ next < MaxNumber
    /\ nodes' = nodes \union {next}
    /\ next' = next + 1
    /\ UNCHANGED <<removals, watch, wire, asked, state, mine, trust, goneBelow>>

\* Not our node, from when it was made until its deletion was served.
OursIsThere == state \in {"making", "holding", "leaving"} /\ mine \in nodes

OthersGo ==
    /\ \E n \in nodes :
        /\ ~(OursIsThere /\ n = mine)
        /\ nodes' = nodes \ {n}
    /\ UNCHANGED <<next, removals, watch, wire, asked, state, mine, trust, goneBelow>>

Remove ==
    /\ nodes = {}
    /\ next > 0
    /\ removals < MaxRemovals
    /\ next' = 0
    /\ removals' = removals + 1
    /\ wire' = IF watch THEN Append(wire, [kind |-> "removed", number |-> 0]) ELSE wire
    /\ watch' = FALSE
    /\ UNCHANGED <<nodes, asked, state, mine, trust, goneBelow>>

\* ---- what our client asks ----

Requests ==
    IF trust = "sure" THEN <<"create">> ELSE <<"watch", "create", "list">>

Begin ==
    /\ state = "idle"
    /\ asked' = Requests
    /\ state' = "making"
    /\ mine' = MaxNumber
    /\ trust' = IF trust = "sure" THEN trust ELSE "set"
    /\ UNCHANGED <<nodes, next, removals, watch, wire, goneBelow>>

Leave ==
    /\ state = "holding"
    /\ asked' = Append(asked, "delete")
    /\ state' = "leaving"
    /\ UNCHANGED <<nodes, next, removals, watch, wire, mine, trust, goneBelow>>

Serve ==
    /\ asked # <<>>
    /\ asked' = Tail(asked)
    /\ CASE Head(asked) = "watch" ->
            \* There is nothing to watch before the first node.
            /\ watch' = (Watched /\ next > 0)
            /\ wire' = IF next = 0 THEN Append(wire, [kind |-> "removed", number |-> 0]) ELSE wire
            /\ UNCHANGED <<nodes, next, mine>>
         [] Head(asked) = "create" ->
            /\ next < MaxNumber
            /\ nodes' = nodes \union {next}
            /\ next' = next + 1
            /\ mine' = next
            /\ wire' = Append(wire, [kind |-> "made", number |-> next])
            /\ UNCHANGED watch
         [] Head(asked) = "list" ->
            /\ wire' = Append(wire, [kind |-> IF First(mine) THEN "first" ELSE "behind", number |-> mine])
            /\ UNCHANGED <<nodes, next, watch, mine>>
         [] Head(asked) = "delete" ->
            /\ nodes' = nodes \ {mine}
            /\ wire' = Append(wire, [kind |-> "deleted", number |-> mine])
            /\ UNCHANGED <<next, watch, mine>>
    /\ UNCHANGED <<removals, state, trust, goneBelow>>

\* ---- what it hears ----

\* Whether a listing was sent with the node.
Listing ==
    \/ \E i \in 1..Len(asked) : asked[i] = "list"
    \/ \E i \in 1..Len(wire) : wire[i].kind \in {"first", "behind"}

Hear ==
    /\ wire # <<>>
    /\ wire' = Tail(wire)
    /\ LET news == Head(wire) IN
       CASE news.kind = "removed" ->
            /\ trust' = "none"
            /\ UNCHANGED <<asked, state, goneBelow>>
         [] news.kind = "made" /\ trust = "sure" /\ goneBelow = news.number ->
            /\ state' = "holding"
            /\ UNCHANGED <<asked, trust, goneBelow>>
         [] news.kind = "made" /\ (trust = "sure" \/ ~Listing) ->
            \* Somebody came between, or what was known is not known any more.
            /\ asked' = <<"list">>
            /\ trust' = "none"
            /\ UNCHANGED <<state, goneBelow>>
         [] news.kind = "first" ->
            /\ state' = "holding"
            /\ trust' = IF trust = "set" THEN "sure" ELSE trust
            /\ goneBelow' = news.number
            /\ UNCHANGED asked
         [] news.kind = "behind" ->
            /\ asked' = Append(asked, "delete")
            /\ state' = "leaving"
            /\ trust' = "none"
            /\ UNCHANGED goneBelow
         [] news.kind = "deleted" ->
            /\ state' = "idle"
            /\ goneBelow' = IF goneBelow = news.number THEN news.number + 1 ELSE goneBelow
            /\ UNCHANGED <<asked, trust>>
         [] OTHER -> UNCHANGED <<asked, state, trust, goneBelow>>
    /\ UNCHANGED <<nodes, next, removals, watch, mine>>

\* Between two nodes: what a broken connection does to one under way is not what this is about.
Break ==
    /\ state = "idle"
    /\ wire' = <<>>
    /\ watch' = FALSE
    /\ trust' = IF Forgets THEN "none" ELSE trust
    /\ UNCHANGED <<nodes, next, removals, asked, state, mine, goneBelow>>

Next == OthersCome \/ OthersGo \/ Remove \/ Begin \/ Leave \/ Serve \/ Hear \/ Break

Spec == Init /\ [][Next]_vars

Exclusion == state = "holding" => First(mine)
=============================================================================
