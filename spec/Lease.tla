------------------------------- MODULE Lease -------------------------------
(***************************************************************************)
(* One lock, its queue, and the resource it guards.                        *)
(*                                                                         *)
(* Clients queue, are granted a lease with a token, read the resource,     *)
(* write to it, and release. They may stop for any time at any point and   *)
(* go on as if nothing had happened: a pause of the process, a slow disk.  *)
(* They may die, and what they sent before still arrives. Whatever is sent *)
(* arrives at any later time. The store may end a lease at any time: it    *)
(* cannot tell a slow holder from a dead one. So two clients may well      *)
(* believe in their leases at once, and only the resource can help.        *)
(*                                                                         *)
(* The question: which checks of tokens does the resource have to make so  *)
(* that no acknowledged write is ever lost?                                *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    Clients,    \* who competes for the lock
    MaxToken,   \* how many grants are looked at
    Checked     \* which requests the resource checks: a subset of {"read", "write"}

VARIABLES
    queue,      \* the store: clients in order of arrival
    holder,     \* the store: the token of the lease it keeps, 0 if the lock is free
    lastToken,  \* the store: the last token it gave
    state,      \* of each client
    token,      \* of each client: that of its lease, 0 if it has had none
    seen,       \* of each client: what it read
    wire,       \* requests that have been sent and have not arrived
    content,    \* the resource: the tokens under which it was written, in order
    fence,      \* the resource: the largest token it has let pass a check
    acknowledged \* the tokens of writes the resource said it had done

vars == <<queue, holder, lastToken, state, token, seen, wire, content, fence, acknowledged>>

States == {"idle", "waiting", "holding", "reading", "read", "writing", "leaving", "dead"}

Range(sequence) == {sequence[i] : i \in 1..Len(sequence)}

Init ==
    /\ queue = <<>> /\ holder = 0 /\ lastToken = 0
    /\ state = [c \in Clients |-> "idle"]
    /\ token = [c \in Clients |-> 0]
    /\ seen = [c \in Clients |-> <<>>]
    /\ wire = {}
    /\ content = <<>> /\ fence = 0 /\ acknowledged = {}

-----------------------------------------------------------------------------
(* Clients. *)

Enqueue(c) ==
    /\ state[c] = "idle"
    /\ c \notin Range(queue)
    /\ queue' = Append(queue, c)
    /\ state' = [state EXCEPT ![c] = "waiting"]
    /\ UNCHANGED <<holder, lastToken, token, seen, wire, content, fence, acknowledged>>

Send(c, kind, from, to) ==
    /\ state[c] = from
    /\ wire' = wire \cup {[kind |-> kind, client |-> c, token |-> token[c], based |-> seen[c]]}
    /\ state' = [state EXCEPT ![c] = to]
    /\ UNCHANGED <<queue, holder, lastToken, token, seen, content, fence, acknowledged>>

SendRead(c)    == Send(c, "read", "holding", "reading")
SendWrite(c)   == Send(c, "write", "read", "writing")
SendRelease(c) == Send(c, "release", "leaving", "idle")

Die(c) ==
    /\ state[c] # "dead"
    /\ state' = [state EXCEPT ![c] = "dead"]
    /\ UNCHANGED <<queue, holder, lastToken, token, seen, wire, content, fence, acknowledged>>

-----------------------------------------------------------------------------
(* The store. *)

Grant ==
    /\ holder = 0 /\ queue # <<>> /\ lastToken < MaxToken
    /\ LET c == Head(queue) IN
        /\ lastToken' = lastToken + 1
        /\ holder' = lastToken + 1
        /\ queue' = Tail(queue)
        /\ IF state[c] = "waiting"
           THEN /\ state' = [state EXCEPT ![c] = "holding"]
                /\ token' = [token EXCEPT ![c] = lastToken + 1]
           ELSE UNCHANGED <<state, token>>  \* it has died, and the store does not know it yet
    /\ UNCHANGED <<seen, wire, content, fence, acknowledged>>

\* The ttl has passed without a renewal.
Expire ==
    /\ holder # 0
    /\ holder' = 0
    /\ UNCHANGED <<queue, lastToken, state, token, seen, wire, content, fence, acknowledged>>

\* A dead waiter no longer sends heartbeats.
Lapse(c) ==
    /\ state[c] = "dead" /\ c \in Range(queue)
    /\ queue' = SelectSeq(queue, LAMBDA other : other # c)
    /\ UNCHANGED <<holder, lastToken, state, token, seen, wire, content, fence, acknowledged>>

\* Only the lease that is to be released: a late release must not free a successor.
ReleaseArrives(request) ==
    /\ request.kind = "release"
    /\ wire' = wire \ {request}
    /\ holder' = IF holder = request.token THEN 0 ELSE holder
    /\ UNCHANGED <<queue, lastToken, state, token, seen, content, fence, acknowledged>>

-----------------------------------------------------------------------------
(* The resource. *)

Refuses(request) == request.kind \in Checked /\ request.token < fence

\* A check that is passed moves the fence.
FenceAfter(request) == IF request.kind \in Checked THEN request.token ELSE fence

\* The client goes on with the answer, if it still lives and waits for it.
Answer(request, from, to) ==
    LET c == request.client IN
        IF state[c] = from /\ token[c] = request.token
        THEN state' = [state EXCEPT ![c] = to]
        ELSE UNCHANGED state

ReadArrives(request) ==
    /\ request.kind = "read"
    /\ wire' = wire \ {request}
    /\ IF Refuses(request)
       THEN /\ Answer(request, "reading", "leaving")
            /\ UNCHANGED <<seen, fence>>
       ELSE /\ Answer(request, "reading", "read")
            /\ seen' = [seen EXCEPT ![request.client] = content]
            /\ fence' = FenceAfter(request)
    /\ UNCHANGED <<queue, holder, lastToken, token, content, acknowledged>>

WriteArrives(request) ==
    /\ request.kind = "write"
    /\ wire' = wire \ {request}
    /\ Answer(request, "writing", "leaving")
    /\ IF Refuses(request)
       THEN UNCHANGED <<content, fence, acknowledged>>
       ELSE /\ content' = Append(request.based, request.token)
            /\ fence' = FenceAfter(request)
            /\ acknowledged' = acknowledged \cup {request.token}
    /\ UNCHANGED <<queue, holder, lastToken, token, seen>>

-----------------------------------------------------------------------------
Next ==
    \/ Grant
    \/ Expire
    \/ \E c \in Clients : Enqueue(c) \/ SendRead(c) \/ SendWrite(c) \/ SendRelease(c) \/ Die(c) \/ Lapse(c)
    \/ \E request \in wire : ReleaseArrives(request) \/ ReadArrives(request) \/ WriteArrives(request)

\* The store does its work in the end; nobody promises anything for clients or the wire.
Spec == Init /\ [][Next]_vars /\ WF_vars(Grant) /\ WF_vars(Expire) /\ \A c \in Clients : WF_vars(Lapse(c))

TypeOK ==
    /\ holder \in 0..lastToken /\ lastToken \in 0..MaxToken /\ fence \in 0..lastToken
    /\ state \in [Clients -> States]
    /\ token \in [Clients -> 0..lastToken]
    /\ Range(queue) \subseteq Clients /\ Len(queue) = Cardinality(Range(queue))

\* Whoever the store keeps a lease for has the largest token.
HolderIsNewest == holder # 0 => holder = lastToken

\* What the resource said it had done is there.
NoWriteLost == acknowledged \subseteq Range(content)

\* Neither a slow holder nor a dead one, nor a dead waiter ahead, keeps a waiter waiting for ever.
EveryWaiterIsServed ==
    \A c \in Clients : state[c] = "waiting" ~> (state[c] # "waiting" \/ lastToken = MaxToken)
=============================================================================
