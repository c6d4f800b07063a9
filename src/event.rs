//! Events: what happened, told by the rows that a commit replaces.
//!
//! ```text
//!  change ──(the state that it meets)──> Event ──record──> … ──shown to a caller──> forgotten
//!                                                 └ too many: all give way to one Gap
//! ```
//!
//! **Invariant:** an event follows from a change and the row before it. No request is looked at and
//! no rule of this build is asked, so every replica tells the same of an entry, whoever wrote it.
//! A transition that is written as several changes is one event.
//!
//! **Invariant:** what is not told is never hidden. A gap names the version after which nothing is
//! missing. One has to look anew then anyway, so nothing from before it is kept.
//!
//! **Cost:** none while nobody listens; otherwise a look-up per change, and the events themselves.

use crate::change::{Change, Entry, Removal};
use crate::id::{Instant, TaskId, Token, Version};
use crate::lease::{LeaseRow, LeaseState};
use crate::limits::EVENTS_RECORDED_MAX;
use crate::name::Name;
use crate::rights::{Caller, Realm, Right};
use crate::schedule::ScheduleSpec;
use crate::state::{Head, State};
use crate::task::{DeadReason, Task, TaskRow, TaskState};
use std::sync::Arc;

/// One thing that a command did. Those of one command stand together, in the order of its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Of the command.
    pub version: Version,
    /// The time of its entry.
    pub at: Instant,
    pub kind: EventKind,
    pub subject: Subject,
    /// Whose claim or lease began, goes on or ended with it.
    pub holder: Option<(Name, Token)>,
    /// Why a task died, or the words it was cancelled with.
    pub reason: Option<Arc<str>>,
}

/// The order is that of the numbers that cross to JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    Enqueued,
    Claimed,
    Heartbeat,
    Completed,
    Retried,
    Released,
    Dead,
    Cancelled,
    Redriven,
    Purged,
    Paused,
    Resumed,
    LeaseAcquired,
    LeaseRenewed,
    LeaseReleased,
    ValuePut,
    ValueDeleted,
    Scheduled,
    Unscheduled,
    Fired,
    /// A waiting task got another due time by hand.
    Rescheduled,
    /// What was up to this version is not known. From here on nothing is missing.
    Gap,
}

/// The reason of a release whose attempt counts.
pub const ABANDONED: &str = "abandoned";

/// What an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Task {
        queue: Name,
        id: TaskId,
        key: Option<Name>,
    },
    Queue(Name),
    Lease(Name),
    Value(Name),
    Schedule {
        name: Name,
        queue: Name,
        /// The newest task that this firing made.
        made: Option<TaskId>,
    },
    /// The log itself: everybody may know of it.
    Log,
}

impl Event {
    fn gap(version: Version, at: Instant) -> Self {
        let (kind, subject) = (EventKind::Gap, Subject::Log);
        Self { version, at, kind, subject, holder: None, reason: None }
    }

    /// Whether the caller may inspect what it is about.
    pub fn is_shown_to(&self, caller: &Caller) -> bool {
        match &self.subject {
            Subject::Task { queue, .. }
            | Subject::Queue(queue)
            | Subject::Schedule { queue, .. } => {
                caller.may(Right::Inspect, Realm::Queue, queue.as_str())
            }
            Subject::Lease(name) => caller.may(Right::Inspect, Realm::Lease, name.as_str()),
            Subject::Value(key) => caller.may(Right::Read, Realm::Kv, key.as_str()),
            Subject::Log => true,
        }
    }
}

/// Collects the events of what is merged, until they are handed on.
///
/// **Invariant:** at most [`EVENTS_RECORDED_MAX`] of them. One more, and all give way to a gap.
#[derive(Clone, Debug)]
pub struct Recorder {
    events: Vec<Event>,
    /// Nothing up to here is recorded: it was told before, or was lost and a gap says so.
    told: Version,
    /// Of the entry that is being merged.
    at: Instant,
    repairs_clock: bool,
}

impl Recorder {
    /// Records what comes after a version.
    pub fn after(told: Version) -> Self {
        Self { events: Vec::new(), told, at: Instant::default(), repairs_clock: false }
    }

    /// The changes of this entry come next.
    pub fn begin(&mut self, entry: &Entry) {
        self.at = entry.body.time;
        // It cuts the claims and leases that the wrong clock made too long: nobody's heartbeat.
        self.repairs_clock = entry.body.repairs_clock();
    }

    /// Notes a change of the command with this version, before it is applied to `state`.
    pub fn note(&mut self, state: &State, version: Version, change: &Change) {
        if version <= self.told {
            return;
        }
        let Some(told) = tell(state, change) else { return };
        let Told { kind, subject, holder, reason } = told;
        let is_cut = matches!(kind, EventKind::Heartbeat | EventKind::LeaseRenewed);
        if self.repairs_clock && is_cut {
            return;
        }
        if kind == EventKind::Gap || self.events.len() == EVENTS_RECORDED_MAX {
            return self.lose(version, self.at);
        }
        let at = self.at;
        self.events.push(Event { version, at, kind, subject, holder, reason });
    }

    /// The entry is merged: its last command is told whole.
    pub fn arrive(&mut self, head: &Head) {
        self.told = self.told.max(head.version);
    }

    /// The state was replaced by a snapshot: what lies before it is in no journal any more.
    pub fn skip_to(&mut self, head: &Head) {
        if head.version > self.told {
            self.lose(head.version, head.time);
        }
    }

    fn lose(&mut self, version: Version, at: Instant) {
        self.events.clear();
        self.events.push(Event::gap(version, at));
        self.told = version;
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// They have been handed on.
    pub fn forget(&mut self) {
        self.events.clear();
    }
}

/// An event without its version and time.
struct Told {
    kind: EventKind,
    subject: Subject,
    holder: Option<(Name, Token)>,
    reason: Option<Arc<str>>,
}

impl Told {
    fn of(kind: EventKind, subject: Subject) -> Self {
        Self { kind, subject, holder: None, reason: None }
    }
}

/// What a change says of the state that it meets; `None` when it is a part of another's story.
fn tell(state: &State, change: &Change) -> Option<Told> {
    match change {
        Change::Founded { rows: Some(_), .. } => Some(Told::of(EventKind::Gap, Subject::Log)),
        Change::TaskCreated { id, queue, spec, .. } => {
            let queue = state.queue(*queue).name.clone();
            let subject = Subject::Task { queue, id: *id, key: spec.key.clone() };
            Some(Told::of(EventKind::Enqueued, subject))
        }
        Change::TaskChanged { id, row } => tell_moved(state, known(state, *id), row),
        Change::TaskRemoved { id, removal } => tell_removed(state, known(state, *id), removal),
        Change::QueuePaused { queue, paused } => {
            let queue = state.queue(*queue);
            let kind = if *paused { EventKind::Paused } else { EventKind::Resumed };
            let changes = queue.paused != *paused;
            changes.then(|| Told::of(kind, Subject::Queue(queue.name.clone())))
        }
        Change::LeasePut { name, row } => tell_lease(state.leases.get(name.as_str()), name, row),
        Change::ValuePut { key, .. } => {
            Some(Told::of(EventKind::ValuePut, Subject::Value(key.clone())))
        }
        Change::ValueDeleted { key } => {
            Some(Told::of(EventKind::ValueDeleted, Subject::Value(key.clone())))
        }
        Change::SchedulePut { name, spec, .. } => {
            Some(tell_schedule(name, spec, EventKind::Scheduled, None))
        }
        Change::ScheduleMoved { name, row } => {
            let before = state.timetable.get(name.as_str()).expect("only known schedules move");
            // One that moved without a task skipped what was missed, or its clock was repaired.
            let kind = (row.fired > before.row.fired).then_some(EventKind::Fired)?;
            // The tasks of a firing are made right before it moves on.
            let made = state.newest_task().filter(|task| task.spec.boundary.is_some());
            Some(tell_schedule(name, &before.spec, kind, made.map(|task| task.id)))
        }
        Change::ScheduleRemoved { name } => {
            let before = state.timetable.get(name.as_str()).expect("only known schedules go");
            Some(tell_schedule(name, &before.spec, EventKind::Unscheduled, None))
        }
        // Notes come with the transition that they belong to.
        Change::TaskProgress { .. } | Change::TaskError { .. } | Change::TaskResult { .. } => None,
        // A queue is there when its first task or pause is; a key's life follows its task's.
        Change::QueueCreated { .. } | Change::KeyKept { .. } | Change::KeyFreed { .. } => None,
        // A record goes away that nobody has held for a day.
        Change::LeaseRemoved { .. } => None,
        Change::Founded { rows: None, .. } | Change::Restoring { .. } | Change::ClockRepaired => {
            None
        }
    }
}

fn known(state: &State, id: TaskId) -> &Task {
    state.task(id).expect("only known tasks change")
}

fn tell_moved(state: &State, before: &Task, after: &TaskRow) -> Option<Told> {
    use TaskState::{Dead, Done, Inflight, Waiting};
    let kind = match (&before.row.state, &after.state) {
        (Inflight(_), Inflight(_)) if is_abandoned(before, after) => EventKind::Released,
        (Inflight(was), Inflight(is)) if was.token == is.token => EventKind::Heartbeat,
        (Waiting | Inflight(_) | Done { .. } | Dead { .. }, Inflight(_)) => EventKind::Claimed,
        // Only a release takes the attempt back.
        (Inflight(_), Waiting) if after.attempt < before.row.attempt => EventKind::Released,
        (Inflight(_), Waiting) => EventKind::Retried,
        (Done { .. } | Dead { .. }, Waiting) => EventKind::Redriven,
        (Waiting | Inflight(_) | Dead { .. }, Done { .. }) => EventKind::Completed,
        (Waiting | Inflight(_) | Done { .. }, Dead { .. }) => EventKind::Dead,
        (Waiting, Waiting) if after.run_at != before.row.run_at => EventKind::Rescheduled,
        (Waiting, Waiting) | (Done { .. }, Done { .. }) | (Dead { .. }, Dead { .. }) => {
            return None;
        }
    };
    let reason = match after.state {
        Dead { reason, .. } => Some(in_words(reason)),
        Inflight(_) if kind == EventKind::Released => Some(ABANDONED.into()),
        Waiting | Inflight(_) | Done { .. } => None,
    };
    let mut told = tell_task(state, before, kind);
    if let Inflight(claim) = &after.state {
        told.holder = Some((claim.owner.clone(), claim.token));
    }
    told.reason = reason;
    Some(told)
}

/// The same claim, over before this very command: its row waits for the next claim, as any lapsed
/// one does.
fn is_abandoned(before: &Task, after: &TaskRow) -> bool {
    let (TaskState::Inflight(was), TaskState::Inflight(is)) = (&before.row.state, &after.state)
    else {
        return false;
    };
    was.token == is.token && is.deadline < after.updated_at
}

fn tell_removed(state: &State, before: &Task, removal: &Removal) -> Option<Told> {
    let (kind, reason) = match removal {
        Removal::Completed => (EventKind::Completed, None),
        Removal::Cancelled { reason } => (EventKind::Cancelled, reason.clone()),
        Removal::Buried { reason } => (EventKind::Dead, Some(in_words(*reason))),
        Removal::Purged => (EventKind::Purged, None),
    };
    Some(Told { reason, ..tell_task(state, before, kind) })
}

/// With the claim that the task was in before.
fn tell_task(state: &State, task: &Task, kind: EventKind) -> Told {
    let (queue, key) = (state.queue(task.queue).name.clone(), task.spec.key.clone());
    let holder = task.claim().map(|claim| (claim.owner.clone(), claim.token));
    Told { holder, ..Told::of(kind, Subject::Task { queue, id: task.id, key }) }
}

fn tell_schedule(name: &Name, spec: &ScheduleSpec, kind: EventKind, made: Option<TaskId>) -> Told {
    let (name, queue) = (name.clone(), spec.job.queue.clone());
    Told::of(kind, Subject::Schedule { name, queue, made })
}

fn in_words(reason: DeadReason) -> Arc<str> {
    reason.as_str().into()
}

fn tell_lease(before: Option<&LeaseRow>, name: &Name, after: &LeaseRow) -> Option<Told> {
    use LeaseState::{Held, Released};
    let former = before.filter(|row| row.token == after.token);
    let (kind, owner) = match (former.map(|row| &row.state), &after.state) {
        (Some(Held { .. }), Held { owner, .. }) => (EventKind::LeaseRenewed, Some(owner)),
        (Some(Released { .. }) | None, Held { owner, .. }) => {
            (EventKind::LeaseAcquired, Some(owner))
        }
        (Some(Held { owner, .. }), Released { .. }) => (EventKind::LeaseReleased, Some(owner)),
        (None, Released { .. }) => (EventKind::LeaseReleased, None),
        (Some(Released { .. }), Released { .. }) => return None,
    };
    let holder = owner.map(|owner| (owner.clone(), after.token));
    Some(Told { holder, ..Told::of(kind, Subject::Lease(name.clone())) })
}
