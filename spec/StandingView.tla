--------------------------- MODULE StandingView ---------------------------
(***************************************************************************)
(* The queue of one lock at a store that tells of changes (etcd,           *)
(* ZooKeeper), and clients that each keep a view of it.                    *)
(*                                                                         *)
(* A ticket is an entry in a slot, with the revision at which it was       *)
(* created. Slots are used again. A client that waits opens a watch, reads *)
(* the queue when it is open, applies what is told, and holds the lock     *)
(* when its ticket is the first in its view.                               *)
(*                                                                         *)
(* What goes wrong here, at any time and any number of times: a delete     *)
(* that was sent arrives again; an event is told late, or again; a watch   *)
(* breaks and is opened again at a member that lags behind, which then     *)
(* tells once more what was told or read before; a session is revoked,     *)
(* which deletes all its tickets at one revision, told in fragments.       *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
    Clients,
    Slots,
    MaxRevision,
    Guarded,    \* whether a delete names the create revision of what it is to delete
    Counted,    \* whether a view is a number instead of a set
    Listed,     \* whether nothing is granted between the opening of a watch and its listing
    Whole       \* whether a revision is judged only when all of it was told

VARIABLES
    history,    \* the store: what each revision changed, a set of events
    content,    \* the store: of each slot, the ticket in it, or none
    wire,       \* deletes that were sent; each may arrive any number of times
    state,      \* of each client
    created,    \* of each client: the create revision of its ticket
    place,      \* of each client: the slot of its ticket
    told,       \* of each client: up to which revision its watch has told, 0 if it has none
    pieces,     \* of each client: what of the next revision was told
    listed,     \* of each client: whether its view is of a listing
    seen,       \* of each client: the revision of its view
    view,       \* of each client: the tickets in its view, [slot, created]
    number,     \* of each client, if it counts: how many tickets there are, and as of which listing
    revoked     \* clients whose session was ended from outside since they asked

vars == <<history, content, wire, state, created, place, told, pieces, listed, seen, view, number, revoked>>

Nobody == [client |-> "nobody", created |-> 0]

Revision == Len(history)

Max(a, b) == IF a > b THEN a ELSE b

Event(kind, slot, born) == [kind |-> kind, slot |-> slot, created |-> born]

Init ==
    /\ history = <<>>
    /\ content = [s \in Slots |-> Nobody]
    /\ wire = {}
    /\ state = [c \in Clients |-> "idle"]
    /\ created = [c \in Clients |-> 0]
    /\ place = [c \in Clients |-> CHOOSE s \in Slots : TRUE]
    /\ told = [c \in Clients |-> 0]
    /\ pieces = [c \in Clients |-> {}]
    /\ listed = [c \in Clients |-> FALSE]
    /\ seen = [c \in Clients |-> 0]
    /\ view = [c \in Clients |-> {}]
    /\ number = [c \in Clients |-> [count |-> 0, since |-> 0]]
    /\ revoked = {}

Tickets == {[slot |-> s, created |-> content[s].created] : s \in {t \in Slots : content[t] # Nobody}}

-----------------------------------------------------------------------------
(* Requests. *)

\* Only into an empty slot. Whoever finds no other ticket holds the lock.
Join(c, s) ==
    /\ state[c] = "idle" /\ content[s] = Nobody /\ Revision < MaxRevision
    /\ history' = Append(history, {Event("put", s, Revision + 1)})
    /\ content' = [content EXCEPT ![s] = [client |-> c, created |-> Revision + 1]]
    /\ created' = [created EXCEPT ![c] = Revision + 1]
    /\ place' = [place EXCEPT ![c] = s]
    /\ state' = [state EXCEPT ![c] = IF Tickets = {} THEN "holding" ELSE "waiting"]
    /\ revoked' = revoked \ {c}
    /\ UNCHANGED <<wire, told, pieces, listed, seen, view, number>>

\* Released, or given up while waiting: the delete is on its way, now and perhaps again later.
Leave(c) ==
    /\ state[c] \in {"holding", "waiting"}
    /\ wire' = wire \cup {[slot |-> place[c], created |-> created[c]]}
    /\ state' = [state EXCEPT ![c] = "idle"]
    /\ UNCHANGED <<history, content, created, place, told, pieces, listed, seen, view, number, revoked>>

\* The message stays: a channel may repeat it, or another member may get it too.
DeleteArrives(request) ==
    /\ content[request.slot] # Nobody /\ Revision < MaxRevision
    /\ Guarded => content[request.slot].created = request.created
    /\ history' = Append(history, {Event("delete", request.slot, 0)})
    /\ content' = [content EXCEPT ![request.slot] = Nobody]
    /\ UNCHANGED <<wire, state, created, place, told, pieces, listed, seen, view, number, revoked>>

\* A session of some clients' tickets is ended from outside: all its tickets go at one revision.
Revoke(session) ==
    LET gone == {s \in Slots : content[s].client \in session} IN
    /\ gone # {} /\ Revision < MaxRevision
    /\ history' = Append(history, {Event("delete", s, 0) : s \in gone})
    /\ content' = [s \in Slots |-> IF s \in gone THEN Nobody ELSE content[s]]
    /\ revoked' = revoked \cup session
    /\ UNCHANGED <<wire, state, created, place, told, pieces, listed, seen, view, number>>

-----------------------------------------------------------------------------
(* The view. *)

\* From now on, as far as the member knows that is asked: it may lag behind. The first time, and after every break.
Open(c, from) ==
    /\ state[c] = "waiting"
    /\ told' = [told EXCEPT ![c] = from]
    /\ pieces' = [pieces EXCEPT ![c] = {}]
    /\ listed' = [listed EXCEPT ![c] = FALSE]
    /\ view' = [view EXCEPT ![c] = {}]
    /\ seen' = [seen EXCEPT ![c] = 0]
    /\ UNCHANGED <<history, content, wire, state, created, place, number, revoked>>

\* Of the newest revision. If my ticket is not there, it is gone.
List(c) ==
    /\ state[c] = "waiting" /\ told[c] > 0 /\ ~listed[c]
    /\ listed' = [listed EXCEPT ![c] = TRUE]
    /\ view' = [view EXCEPT ![c] = Tickets]
    /\ seen' = [seen EXCEPT ![c] = Revision]
    /\ number' = [number EXCEPT ![c] =
            IF Counted THEN [count |-> Cardinality(Tickets), since |-> Revision] ELSE number[c]]
    /\ UNCHANGED <<history, content, wire, state, created, place, told, pieces, revoked>>

Apply(tickets, events, at) ==
    {t \in tickets : \A e \in events : ~(e.slot = t.slot /\ (e.kind = "put" \/ t.created < at))}
        \cup {[slot |-> e.slot, created |-> e.created] : e \in {f \in events : f.kind = "put"}}

Some(events, kind) == Cardinality({e \in events : e.kind = kind})

\* What the view makes of events of one revision. A set is deaf to what is not newer than itself. A number takes all that is newer
\* than the listing it began with: it cannot know what it was told before.
Take(c, events, at) ==
    /\ IF at > seen[c]
       THEN /\ view' = [view EXCEPT ![c] = Apply(view[c], events, at)]
            /\ seen' = [seen EXCEPT ![c] = IF pieces'[c] = {} THEN at ELSE seen[c]]
       ELSE UNCHANGED <<view, seen>>
    /\ number' = [number EXCEPT ![c] =
            IF Counted /\ at > number[c].since /\ number[c].count + Some(events, "put") >= Some(events, "delete")
            THEN [count |-> number[c].count + Some(events, "put") - Some(events, "delete"), since |-> number[c].since]
            ELSE number[c]]

\* Events are told in order. Those that come before the listing is there are kept aside, which is as if they came after it.
Tell(c) ==
    /\ state[c] = "waiting" /\ told[c] > 0 /\ told[c] < Revision
    /\ Listed => listed[c]
    /\ LET at == told[c] + 1 IN
       IF Whole
       THEN /\ pieces' = pieces
            /\ told' = [told EXCEPT ![c] = at]
            /\ Take(c, history[at], at)
       ELSE \E e \in history[at] \ pieces[c] :
            LET now == pieces[c] \cup {e} IN
            /\ pieces' = [pieces EXCEPT ![c] = IF now = history[at] THEN {} ELSE now]
            /\ told' = [told EXCEPT ![c] = IF now = history[at] THEN at ELSE told[c]]
            /\ Take(c, {e}, at)
    /\ UNCHANGED <<history, content, wire, state, created, place, listed, revoked>>

\* What was told last is told once more.
TellAgain(c, at) ==
    /\ state[c] = "waiting" /\ told[c] > 0 /\ at <= told[c] /\ pieces[c] = {}
    /\ Listed => listed[c]
    /\ pieces' = pieces
    /\ Take(c, history[at], at)
    /\ UNCHANGED <<history, content, wire, state, created, place, told, listed, revoked>>

Mine(c) == [slot |-> place[c], created |-> created[c]]

IsFirst(c) ==
    IF Counted
    THEN listed[c] /\ number[c].count = 1 /\ Mine(c) \in view[c]
    ELSE Mine(c) \in view[c] /\ \A t \in view[c] : t.created >= created[c]

Grant(c) ==
    /\ state[c] = "waiting" /\ told[c] > 0
    /\ Listed => listed[c]
    /\ IsFirst(c)
    /\ state' = [state EXCEPT ![c] = "holding"]
    /\ UNCHANGED <<history, content, wire, created, place, told, pieces, listed, seen, view, number, revoked>>

\* The view says that my ticket is gone.
Gone(c) ==
    /\ state[c] = "waiting" /\ listed[c] /\ seen[c] >= created[c] /\ Mine(c) \notin view[c]
    /\ state' = [state EXCEPT ![c] = "idle"]
    /\ UNCHANGED <<history, content, wire, created, place, told, pieces, listed, seen, view, number, revoked>>

\* A holder of a session that was ended is told so, by the session itself.
Told(c) ==
    /\ state[c] = "holding" /\ c \in revoked
    /\ state' = [state EXCEPT ![c] = "idle"]
    /\ UNCHANGED <<history, content, wire, created, place, told, pieces, listed, seen, view, number, revoked>>

-----------------------------------------------------------------------------
Next ==
    \/ \E c \in Clients, s \in Slots : Join(c, s)
    \/ \E c \in Clients : Leave(c) \/ List(c) \/ Tell(c) \/ Grant(c) \/ Gone(c) \/ Told(c)
    \/ \E c \in Clients, r \in 1..Revision : Open(c, r) \/ TellAgain(c, r)
    \/ \E request \in wire : DeleteArrives(request)
    \/ \E session \in SUBSET Clients : session # {} /\ Revoke(session)

Spec == Init /\ [][Next]_vars

Symmetric == Permutations(Clients) \cup Permutations(Slots)

TypeOK ==
    /\ state \in [Clients -> {"idle", "waiting", "holding"}]
    /\ \A c \in Clients : told[c] <= Revision /\ seen[c] <= Revision

\* Nobody but an administrator makes two hold at once.
Exclusion ==
    \A c, d \in Clients :
        c # d /\ state[c] = "holding" /\ state[d] = "holding" => c \in revoked \/ d \in revoked

\* Whoever holds was not granted on a part of the revision that took its own ticket.
\* (That its session is ended a moment later is told by the session.)
NotOfAPart ==
    \A c \in Clients : state[c] = "holding" => pieces[c] = {} \/ Event("delete", place[c], 0) \notin history[told[c] + 1]
=============================================================================
