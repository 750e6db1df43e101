-------------------------- MODULE QuietDirectory --------------------------
(***************************************************************************)
(* A ZooKeeper lock that one client takes again and again without listing  *)
(* its queue, while others may come at any time.                           *)
(*                                                                         *)
(* A directory numbers its nodes from zero, without gaps. If it is empty,  *)
(* the servers may remove it at any time; the next node makes it anew, and *)
(* numbers begin again. The first of the queue holds the lock. Every       *)
(* change is a transaction, and transactions are numbered too.             *)
(*                                                                         *)
(* Our client knows its last node that was the first, and whether that is  *)
(* deleted. Its next node with the next number is the first, if there were *)
(* too few transactions between the two for the directory to be another    *)
(* one.                                                                    *)
(***************************************************************************)
EXTENDS Naturals, Sequences

CONSTANTS
    MaxNumber,
    MaxTransactions,
    Counted         \* whether the transactions between two nodes are counted

VARIABLES
    nodes,          \* numbers in the directory
    next,           \* the number of the next node
    zxid,           \* how many transactions there were
    wire,           \* what the server has sent to our client
    asked,          \* what our client has sent, and the server has not served yet
    state,          \* of our client: idle, making, holding, leaving
    mine,           \* the number of its node
    made,           \* the transaction that made it
    last            \* its last node that was the first

vars == <<nodes, next, zxid, wire, asked, state, mine, made, last>>

None == [number |-> 0, zxid |-> 0, over |-> FALSE]

First(n) == n \in nodes /\ \A m \in nodes : n <= m

Transaction == zxid < MaxTransactions /\ zxid' = zxid + 1

Init ==
    /\ nodes = {}
    /\ next = 0
    /\ zxid = 0
    /\ wire = <<>>
    /\ asked = <<>>
    /\ state = "idle"
    /\ mine = MaxNumber
    /\ made = 0
    /\ last = None

\* ---- others ----

OthersCome ==
    /\ Transaction
    /\ next < MaxNumber
    /\ nodes' = nodes \union {next}
    /\ next' = next + 1
    /\ UNCHANGED <<wire, asked, state, mine, made, last>>

\* Not our node, from when it was made until its deletion was served.
OursIsThere == state \in {"making", "holding", "leaving"} /\ mine \in nodes

OthersGo ==
    /\ Transaction
    /\ \E n \in nodes :
        /\ ~(OursIsThere /\ n = mine)
        /\ nodes' = nodes \ {n}
    /\ UNCHANGED <<next, wire, asked, state, mine, made, last>>

\* To make it anew takes another transaction, which is left out here: that is the worse case.
Remove ==
    /\ Transaction
    /\ nodes = {}
    /\ next > 0
    /\ next' = 0
    /\ UNCHANGED <<nodes, wire, asked, state, mine, made, last>>

\* ---- what our client asks ----

Begin ==
    /\ state = "idle"
    /\ asked' = IF last.over THEN <<"create">> ELSE <<"create", "list">>
    /\ state' = "making"
    /\ mine' = MaxNumber
    /\ UNCHANGED <<nodes, next, zxid, wire, made, last>>

Leave ==
    /\ state = "holding"
    /\ asked' = Append(asked, "delete")
    /\ state' = "leaving"
    /\ UNCHANGED <<nodes, next, zxid, wire, mine, made, last>>

Answer(kind, number, transaction) ==
    wire' = Append(wire, [kind |-> kind, number |-> number, zxid |-> transaction])

Serve ==
    /\ asked # <<>>
    /\ asked' = Tail(asked)
    /\ CASE Head(asked) = "create" ->
            /\ Transaction
            /\ next < MaxNumber
            /\ nodes' = nodes \union {next}
            /\ next' = next + 1
            /\ mine' = next
            /\ made' = zxid'
            /\ Answer("made", next, zxid')
         [] Head(asked) = "list" ->
            /\ Answer(IF First(mine) THEN "first" ELSE "behind", mine, made)
            /\ UNCHANGED <<nodes, next, zxid, mine, made>>
         [] Head(asked) = "delete" ->
            /\ Transaction
            /\ nodes' = nodes \ {mine}
            /\ Answer("deleted", mine, made)
            /\ UNCHANGED <<next, mine, made>>
    /\ UNCHANGED <<state, last>>

\* ---- what it hears ----

\* Whether a listing was sent with the node.
Listing ==
    \/ \E i \in 1..Len(asked) : asked[i] = "list"
    \/ \E i \in 1..Len(wire) : wire[i].kind \in {"first", "behind"}

Follows(node) ==
    /\ last.over
    /\ node.number = last.number + 1
    /\ Counted => node.zxid - last.zxid <= node.number

Hear ==
    /\ wire # <<>>
    /\ wire' = Tail(wire)
    /\ LET news == Head(wire)
           begun == [number |-> news.number, zxid |-> news.zxid, over |-> FALSE]
       IN
       CASE news.kind = "made" /\ Follows(news) ->
            /\ state' = "holding"
            /\ last' = begun
            /\ UNCHANGED asked
         [] news.kind = "made" /\ ~Follows(news) /\ ~Listing ->
            \* Somebody came between, or may have.
            /\ asked' = <<"list">>
            /\ UNCHANGED <<state, last>>
         [] news.kind = "first" ->
            /\ state' = "holding"
            /\ last' = begun
            /\ UNCHANGED asked
         [] news.kind = "behind" ->
            /\ asked' = Append(asked, "delete")
            /\ state' = "leaving"
            /\ last' = None
         [] news.kind = "deleted" ->
            /\ state' = "idle"
            /\ last' = IF last.zxid = news.zxid THEN [last EXCEPT !.over = TRUE] ELSE last
            /\ UNCHANGED asked
         [] OTHER -> UNCHANGED <<asked, state, last>>
    /\ UNCHANGED <<nodes, next, zxid, mine, made>>

Next == OthersCome \/ OthersGo \/ Remove \/ Begin \/ Leave \/ Serve \/ Hear

Spec == Init /\ [][Next]_vars

Exclusion == state = "holding" => First(mine)
=============================================================================
