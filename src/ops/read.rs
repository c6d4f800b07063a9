//! Reads of the merged state, at an instant, for a caller.
//!
//! To read one thing needs the right to it, whether or not it is there; reads over many show what
//! may be seen, and nothing else. They see what is merged; what is staged and not yet in the
//! journal shows only inside its own transaction.

use super::page::Page;
use crate::change::ValueRow;
use crate::error::Error;
use crate::id::{Instant, SAFE_MAX, TaskId};
use crate::index::Order;
use crate::lease::LeaseRow;
use crate::limits::PAGE_ITEMS_MAX;
use crate::name::{Name, NameRef, RESERVED_PREFIX};
use crate::queue::Queue;
use crate::rights::{Caller, Realm, Right};
use crate::schedule::Schedule;
use crate::state::State;
use crate::task::{Phase, Task};
use std::ops::Bound;

/// The state as a caller sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub state: &'a State,
    pub now: Instant,
    pub caller: Option<&'a Caller>,
}

/// Why a task is not running, and when that may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub phase: Phase,
    pub because: Because,
    pub until: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    DueLater,
    Paused,
    BehindOthers,
    Claimed,
    NoOwnerClaims,
    Dead,
    Done,
}

/// Which way a list of tasks goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The oldest first.
    Up,
    /// The newest first.
    Down,
}

/// A queue at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSummary {
    pub name: Name,
    /// In the order of [`Phase::ALL`].
    pub counts: [usize; Phase::ALL.len()],
    /// Of those in flight, the ones whose claim ran out.
    pub lapsed: usize,
    pub paused: bool,
    /// Of the rows that are ready, the earliest due time.
    pub oldest_ready_at: Option<Instant>,
    pub next_due: Option<Instant>,
}

/// Queues and tasks.
impl<'a> View<'a> {
    fn may(&self, right: Right, realm: Realm, name: &str) -> bool {
        self.caller.is_none_or(|caller| caller.may(right, realm, name))
    }

    fn require(&self, right: Right, realm: Realm, name: &str) -> Result<(), Error> {
        self.caller.map_or(Ok(()), |caller| caller.require(right, realm, name))
    }

    /// What a worker does, it does again and again: whether it may is asked before the first time.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn require_work(&self, queue: NameRef<'_>) -> Result<(), Error> {
        self.require(Right::Claim, Realm::Queue, queue.as_str())?;
        self.require(Right::Settle, Realm::Queue, queue.as_str())
    }

    fn queue(&self, name: NameRef<'_>) -> Result<Option<&'a Queue>, Error> {
        self.require(Right::Inspect, Realm::Queue, name.as_str())?;
        Ok(self.state.queue_id(name.as_str()).map(|id| self.state.queue(id)))
    }

    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn task(&self, queue: NameRef<'_>, id: TaskId) -> Result<Option<&'a Task>, Error> {
        self.require(Right::Inspect, Realm::Queue, queue.as_str())?;
        Ok(self.task_of(queue, id))
    }

    fn task_of(&self, queue: NameRef<'_>, id: TaskId) -> Option<&'a Task> {
        let queue = self.state.queue_id(queue.as_str())?;
        self.state.task(id).filter(|task| task.queue == queue && task.phase(self.now).is_some())
    }

    /// The task that takes the idempotency key, while its row is there.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn task_by_key(&self, name: NameRef<'_>, key: &str) -> Result<Option<&'a Task>, Error> {
        let holder = self.queue(name)?.and_then(|queue| queue.tasks.key_holder(key));
        Ok(holder.and_then(|id| self.task_of(name, id)))
    }

    /// Tasks in id order, or against it, behind the id of a cursor; none to who may not inspect.
    /// **Cost:** O(log n + limit).
    pub fn tasks(
        &self,
        queue: NameRef<'_>,
        phase: Option<Phase>,
        (way, cursor): (Way, Option<TaskId>),
        limit: usize,
    ) -> Page<&'a Task> {
        let Ok(Some(queue)) = self.queue(queue) else {
            return Page { items: Vec::new(), more: false };
        };
        let limit = limit.min(PAGE_ITEMS_MAX);
        let phases = phase.as_ref().map_or(&Phase::ALL[..], std::slice::from_ref);
        let mut ids: Vec<TaskId> = Vec::new();
        for phase in phases {
            match way {
                Way::Up => {
                    let after = cursor.unwrap_or_default();
                    ids.extend(queue.tasks.of_phase(*phase, after).take(limit + 1));
                }
                Way::Down => {
                    let before = cursor.unwrap_or(TaskId::saturating(SAFE_MAX));
                    ids.extend(queue.tasks.of_phase_backwards(*phase, before).take(limit + 1));
                }
            }
        }
        ids.sort_unstable();
        if way == Way::Down {
            ids.reverse();
        }
        let items = ids.into_iter().filter_map(|id| self.state.task(id));
        Page::of(items, limit, |task| task.bytes())
    }

    /// In the order of [`Phase::ALL`]. **Cost:** O(1).
    ///
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn counts(&self, queue: NameRef<'_>) -> Result<[usize; Phase::ALL.len()], Error> {
        let queue = self.queue(queue)?;
        Ok(Phase::ALL.map(|phase| queue.map_or(0, |queue| queue.tasks.count(phase))))
    }

    /// How many of those in flight have a claim that ran out. **Cost:** O(1).
    ///
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn lapsed(&self, queue: NameRef<'_>) -> Result<usize, Error> {
        Ok(self.queue(queue)?.map_or(0, |queue| queue.tasks.lapsed()))
    }

    /// When a claim may next be served.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn next_due(&self, queue: NameRef<'_>) -> Result<Option<Instant>, Error> {
        Ok(self.queue(queue)?.and_then(|queue| self.queue_due(queue)))
    }

    fn queue_due(&self, queue: &Queue) -> Option<Instant> {
        let tasks = &queue.tasks;
        if queue.paused {
            return None;
        }
        if tasks.first(Order::Ready).or_else(|| tasks.first(Order::Doomed)).is_some() {
            return Some(self.now);
        }
        let due = tasks.first(Order::Scheduled).map(|(place, _)| place.at);
        due.into_iter().chain(tasks.next_lapse()).min()
    }

    /// What has lapsed waits in the same place and is not ready; what has expired is, until it is
    /// buried, and waits in another.
    fn oldest_ready(&self, queue: &Queue) -> Option<Instant> {
        let is_ready = |id| {
            let task =
                self.state.task(id).filter(|task| task.phase(self.now) == Some(Phase::Ready));
            task.map(|task| task.row.run_at)
        };
        if queue.tasks.count(Phase::Ready) == 0 {
            return None;
        }
        let doomed = queue.tasks.rows(Order::Doomed, Bound::Unbounded);
        let doomed = doomed.filter_map(|(_, id)| is_ready(*id));
        queue.tasks.oldest_ready(|id| is_ready(id).is_some()).into_iter().chain(doomed).min()
    }

    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn explain(&self, name: NameRef<'_>, id: TaskId) -> Result<Option<Explanation>, Error> {
        let queue = self.queue(name)?;
        let task = self.task_of(name, id);
        Ok(queue.zip(task).and_then(|(queue, task)| self.explain_in(queue, task)))
    }

    fn explain_in(&self, queue: &Queue, task: &Task) -> Option<Explanation> {
        let (id, phase) = (task.id, task.phase(self.now)?);
        let finite = |at: Instant| (at < Instant::NEVER).then_some(at);
        let (because, until) = match phase {
            Phase::Scheduled => (Because::DueLater, finite(task.row.run_at)),
            Phase::Ready if queue.paused => (Because::Paused, None),
            Phase::Ready => {
                let first = queue.tasks.first(Order::Ready);
                let is_first = first.is_none_or(|(_, first)| first == id);
                let because = if is_first { Because::NoOwnerClaims } else { Because::BehindOthers };
                (because, None)
            }
            Phase::Inflight if task.is_lapsed(self.now) => (Because::NoOwnerClaims, None),
            Phase::Inflight => {
                (Because::Claimed, task.claim().and_then(|claim| finite(claim.deadline)))
            }
            Phase::Done => (Because::Done, finite(task.gone_at())),
            Phase::Dead => (Because::Dead, finite(task.gone_at())),
        };
        Some(Explanation { phase, because, until })
    }

    /// The queues that have tasks or a pause, in name order.
    pub fn queues(&self) -> Vec<QueueSummary> {
        let seen = self
            .state
            .queue_names
            .iter()
            .filter(|(name, _)| self.may(Right::Inspect, Realm::Queue, name.as_str()));
        let summary = |queue: &Queue| QueueSummary {
            name: queue.name.clone(),
            counts: Phase::ALL.map(|phase| queue.tasks.count(phase)),
            lapsed: queue.tasks.lapsed(),
            paused: queue.paused,
            oldest_ready_at: self.oldest_ready(queue),
            next_due: self.queue_due(queue),
        };
        seen.map(|(_, id)| summary(self.state.queue(*id)))
            .filter(|summary| summary.paused || summary.counts.iter().any(|count| *count > 0))
            .collect()
    }
}

/// Leases and values.
impl<'a> View<'a> {
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn lease(&self, name: NameRef<'_>) -> Result<Option<&'a LeaseRow>, Error> {
        self.require(Right::Inspect, Realm::Lease, name.as_str())?;
        Ok(self.state.leases.get(name.as_str()).filter(|row| row.gone_at() > self.now))
    }

    /// Held leases in name order, after a name.
    pub fn leases(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Page<(&'a Name, &'a LeaseRow)> {
        let rows = self.state.leases.range(from(prefix, after));
        let seen = rows
            .take_while(|(name, _)| name.as_str().starts_with(prefix))
            .filter(|(_, row)| row.holder(self.now).is_some())
            .filter(|(name, _)| self.shows(Right::Inspect, Realm::Lease, name));
        Page::of(seen, limit, |(_, row)| row.meta.as_ref().map_or(0, |meta| meta.len()))
    }

    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn value(&self, key: NameRef<'_>) -> Result<Option<&'a ValueRow>, Error> {
        self.require(Right::Read, Realm::Kv, key.as_str())?;
        Ok(self.state.values.get(key.as_str()))
    }

    /// Values in key order, after a key.
    pub fn values(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Page<(&'a Name, &'a ValueRow)> {
        let rows = self.state.values.range(from(prefix, after));
        let seen = rows
            .take_while(|(key, _)| key.as_str().starts_with(prefix))
            .filter(|(key, _)| self.shows(Right::Read, Realm::Kv, key));
        Page::of(seen, limit, |(_, row)| row.value.len())
    }

    /// The engine's own families stay out of lists.
    fn shows(&self, right: Right, realm: Realm, name: &Name) -> bool {
        !name.as_str().starts_with(RESERVED_PREFIX) && self.may(right, realm, name.as_str())
    }
}

/// Schedules.
impl<'a> View<'a> {
    /// Whose queue a schedule is on is known by the schedule alone: that there is none is told to
    /// who may inspect every queue, and nobody else.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`.
    pub fn schedule(&self, name: NameRef<'_>) -> Result<Option<&'a Schedule>, Error> {
        let found = self.state.timetable.get(name.as_str());
        let Some(caller) = self.caller else { return Ok(found) };
        let (right, realm) = (Right::Inspect, Realm::Queue);
        let is_seen = match found {
            Some(schedule) => caller.may(right, realm, schedule.spec.job.queue.as_str()),
            None => caller.may_everywhere(right, realm),
        };
        if is_seen { Ok(found) } else { Err(caller.denied(right, name.as_str())) }
    }

    /// In name order.
    pub fn schedules(&self) -> impl Iterator<Item = (&'a Name, &'a Schedule)> {
        let rows = self.state.timetable.rows().iter();
        rows.filter(|(_, schedule)| self.shows_schedule(schedule))
    }

    fn shows_schedule(&self, schedule: &Schedule) -> bool {
        self.may(Right::Inspect, Realm::Queue, schedule.spec.job.queue.as_str())
    }
}

/// Where a listing begins.
pub(crate) fn from<'a>(
    prefix: &'a str,
    after: Option<&'a str>,
) -> (Bound<&'a str>, Bound<&'a str>) {
    let start = match after {
        Some(after) if after >= prefix => Bound::Excluded(after),
        _ => Bound::Included(prefix),
    };
    (start, Bound::Unbounded)
}

impl Because {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DueLater => "due-later",
            Self::Paused => "paused",
            Self::BehindOthers => "behind-others",
            Self::Claimed => "claimed",
            Self::NoOwnerClaims => "no-owner-claims",
            Self::Dead => "dead",
            Self::Done => "done",
        }
    }
}
