------------------------------- MODULE Quorum ------------------------------
(***************************************************************************)
(* A lock kept by a majority of independent nodes that know nothing of     *)
(* each other (Redlock), and its tokens.                                   *)
(*                                                                         *)
(* Each node counts its own grants. A client asks the nodes one by one;    *)
(* with a majority of votes it takes the largest token among them. That    *)
(* alone does not make tokens grow: tries that fail count up single nodes, *)
(* so the next majority may have seen less than the last one. So before    *)
(* the lock counts as taken, the client raises the counters of a majority  *)
(* to its token.                                                           *)
(*                                                                         *)
(* A node may end what it holds at any time (the ttl, a release). A client *)
(* counts its lease as taken only while a majority keeps it: that is the   *)
(* local deadline, which is shorter than every ttl.                        *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
    Clients,
    Nodes,
    MaxCount,   \* how far counters are looked at
    WriteBack,  \* whether the agreed token is written back
    Nobody

VARIABLES
    holder,     \* of each node: whom it has granted the lock, or Nobody
    counter,    \* of each node: the last token it gave or was raised to
    vote,       \* of each client and node: the token the node answered with, 0 if none
    raised,     \* of each client: the nodes it has raised to its token
    last,       \* the token of the lease taken last
    ordered     \* whether every lease had a larger token than the one before

vars == <<holder, counter, vote, raised, last, ordered>>

Majorities == {some \in SUBSET Nodes : 2 * Cardinality(some) > Cardinality(Nodes)}

Init ==
    /\ holder = [n \in Nodes |-> Nobody]
    /\ counter = [n \in Nodes |-> 0]
    /\ vote = [c \in Clients |-> [n \in Nodes |-> 0]]
    /\ raised = [c \in Clients |-> {}]
    /\ last = 0
    /\ ordered = TRUE

Voters(c) == {n \in Nodes : vote[c][n] > 0}

\* The largest token among the votes.
Agreed(c) == CHOOSE t \in 0..MaxCount : (\E n \in Nodes : vote[c][n] = t) /\ (\A n \in Nodes : vote[c][n] <= t)

Forget(c) ==
    /\ vote' = [vote EXCEPT ![c] = [n \in Nodes |-> 0]]
    /\ raised' = [raised EXCEPT ![c] = {}]

-----------------------------------------------------------------------------
Ask(c, n) ==
    /\ vote[c][n] = 0 /\ raised[c] = {}
    /\ holder[n] = Nobody /\ counter[n] < MaxCount
    /\ holder' = [holder EXCEPT ![n] = c]
    /\ counter' = [counter EXCEPT ![n] = @ + 1]
    /\ vote' = [vote EXCEPT ![c][n] = counter[n] + 1]
    /\ UNCHANGED <<raised, last, ordered>>

\* Never lowers a counter.
Raise(c, n) ==
    /\ WriteBack
    /\ Voters(c) \in Majorities /\ n \in Voters(c) \ raised[c]
    /\ counter' = [counter EXCEPT ![n] = IF @ < Agreed(c) THEN Agreed(c) ELSE @]
    /\ raised' = [raised EXCEPT ![c] = @ \cup {n}]
    /\ UNCHANGED <<holder, vote, last, ordered>>

\* The lock is taken: a majority has granted it, has heard of the token, and still keeps it.
Take(c) ==
    /\ \E some \in Majorities :
        \A n \in some : holder[n] = c /\ vote[c][n] > 0 /\ (WriteBack => n \in raised[c])
    /\ ordered' = (ordered /\ Agreed(c) > last)
    /\ last' = Agreed(c)
    /\ Forget(c)
    /\ UNCHANGED <<holder, counter>>

\* Too few votes, or too late.
GiveUp(c) ==
    /\ Voters(c) # {}
    /\ Forget(c)
    /\ UNCHANGED <<holder, counter, last, ordered>>

\* The ttl has passed, or a release has arrived.
End(n) ==
    /\ holder[n] # Nobody
    /\ holder' = [holder EXCEPT ![n] = Nobody]
    /\ UNCHANGED <<counter, vote, raised, last, ordered>>

Next ==
    \/ \E c \in Clients : Take(c) \/ GiveUp(c) \/ \E n \in Nodes : Ask(c, n) \/ Raise(c, n)
    \/ \E n \in Nodes : End(n)

Spec == Init /\ [][Next]_vars

TypeOK ==
    /\ holder \in [Nodes -> Clients \cup {Nobody}]
    /\ counter \in [Nodes -> 0..MaxCount]
    /\ vote \in [Clients -> [Nodes -> 0..MaxCount]]
    /\ raised \in [Clients -> SUBSET Nodes]

\* Of two leases, the later has the larger token.
TokensGrow == ordered

\* Clients and nodes are alike: TLC need not try every renaming.
Symmetric == Permutations(Clients) \cup Permutations(Nodes)
=============================================================================
