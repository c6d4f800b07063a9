//! Reads of the merged state, at an instant, for a caller.
//!
//! Absent and forbidden look alike to who may not inspect: no row, an empty page. They see what is
//! merged; what is staged and not yet in the journal shows only inside its own transaction.

use super::page::Page;
use crate::change::ValueRow;
use crate::id::{Instant, TaskId};
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

/// A queue at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSummary {
    pub name: Name,
    /// In the order of [`Phase::ALL`].
    pub counts: [usize; Phase::ALL.len()],
    pub paused: bool,
    pub oldest_ready_at: Option<Instant>,
    pub next_due: Option<Instant>,
}

/// Queues and tasks.
impl<'a> View<'a> {
    fn may(&self, right: Right, realm: Realm, name: &str) -> bool {
        self.caller.is_none_or(|caller| caller.may(right, realm, name))
    }

    fn queue(&self, name: NameRef<'_>) -> Option<&'a Queue> {
        let seen = self.may(Right::Inspect, Realm::Queue, name.as_str());
        let id = self.state.queue_id(name.as_str()).filter(|_| seen)?;
        Some(self.state.queue(id))
    }

    pub fn task(&self, queue: NameRef<'_>, id: TaskId) -> Option<&'a Task> {
        self.queue(queue)?;
        let queue = self.state.queue_id(queue.as_str())?;
        let task = self.state.task(id).filter(|task| task.queue == queue)?;
        task.phase(self.now).map(|_| task)
    }

    /// Tasks in id order after `after`. **Cost:** O(log n + limit).
    pub fn tasks(
        &self,
        queue: NameRef<'_>,
        phase: Option<Phase>,
        after: TaskId,
        limit: usize,
    ) -> Page<&'a Task> {
        let Some(queue) = self.queue(queue) else {
            return Page { items: Vec::new(), more: false };
        };
        let limit = limit.min(PAGE_ITEMS_MAX);
        let phases = phase.as_ref().map_or(&Phase::ALL[..], std::slice::from_ref);
        let mut ids: Vec<TaskId> = Vec::new();
        for phase in phases {
            ids.extend(queue.tasks.of_phase(*phase, after).take(limit + 1));
        }
        ids.sort_unstable();
        let items = ids.into_iter().filter_map(|id| self.state.task(id));
        Page::of(items, limit, |task| task.bytes())
    }

    /// In the order of [`Phase::ALL`]. **Cost:** O(1).
    pub fn counts(&self, queue: NameRef<'_>) -> [usize; Phase::ALL.len()] {
        let queue = self.queue(queue);
        Phase::ALL.map(|phase| queue.map_or(0, |queue| queue.tasks.count(phase)))
    }

    /// When a claim may next be served.
    pub fn next_due(&self, queue: NameRef<'_>) -> Option<Instant> {
        self.queue_due(self.queue(queue)?)
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

    pub fn explain(&self, name: NameRef<'_>, id: TaskId) -> Option<Explanation> {
        let (queue, task) = (self.queue(name)?, self.task(name, id)?);
        let phase = task.phase(self.now)?;
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
            paused: queue.paused,
            oldest_ready_at: queue.tasks.oldest_ready(),
            next_due: self.queue_due(queue),
        };
        seen.map(|(_, id)| summary(self.state.queue(*id)))
            .filter(|summary| summary.paused || summary.counts.iter().any(|count| *count > 0))
            .collect()
    }
}

/// Leases and values.
impl<'a> View<'a> {
    pub fn lease(&self, name: NameRef<'_>) -> Option<&'a LeaseRow> {
        let seen = self.may(Right::Inspect, Realm::Lease, name.as_str());
        self.state.leases.get(name.as_str()).filter(|row| seen && row.gone_at() > self.now)
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

    pub fn value(&self, key: NameRef<'_>) -> Option<&'a ValueRow> {
        let seen = self.may(Right::Read, Realm::Kv, key.as_str());
        self.state.values.get(key.as_str()).filter(|_| seen)
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
    pub fn schedule(&self, name: NameRef<'_>) -> Option<&'a Schedule> {
        self.state.timetable.get(name.as_str()).filter(|schedule| self.shows_schedule(schedule))
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
