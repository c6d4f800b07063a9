//! The ordered indexes of one queue.
//!
//! Each is a `BTreeMap` from a [`Place`] to the id of a row. Membership is a pure function of the
//! row and an instant, the *horizon*: [`TaskIndex::update`] compares the places before and after,
//! and moves what differs. When the horizon advances, [`TaskIndex::due`] names the rows whose
//! places change with it; that move writes nothing.
//!
//! **Invariant:** every index equals what its `place` function gives for the rows at the horizon.
//! No other code changes an index.
//!
//! **Cost:** an update touches the indexes whose place differs, O(log n) each.

mod doomed;
mod expiry;
mod inflight;
mod order;
pub mod phase;
mod ready;
mod retention;
mod scheduled;

pub use order::Order;

use crate::id::{Instant, TaskId};
use crate::keys::Keys;
use crate::place::Place;
use crate::task::{Phase, Task};
use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::ops::Bound;

/// The indexes over the tasks of one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskIndex {
    orders: [BTreeMap<Place, TaskId>; Order::ALL.len()],
    /// Who takes an idempotency key. Keys that outlive their completed task are rows of their own
    /// (`KeptKey`), not part of this index.
    keys: Keys<TaskId>,
    counts: [usize; Phase::ALL.len()],
    /// Of those in flight, the ones whose claim ran out.
    lapsed: usize,
}

/// A row as it stands in the indexes: with the horizon they are right for.
#[derive(Clone, Copy)]
struct At<'a>(&'a Task, Instant);

/// Where a row stands in each index.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places {
    orders: [Option<Place>; Order::ALL.len()],
    phase: Option<Phase>,
    is_lapsed: bool,
    takes_key: bool,
}

/// What the rows of a queue make of its indexes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    orders: [usize; Order::ALL.len()],
    misplaced: [bool; Order::ALL.len()],
    keys: usize,
    keys_misplaced: bool,
    counts: [usize; Phase::ALL.len()],
    lapsed: usize,
}

impl Places {
    /// A row that is nowhere.
    pub const NONE: Self =
        Self { orders: [None; Order::ALL.len()], phase: None, is_lapsed: false, takes_key: false };

    pub fn of(task: &Task, horizon: Instant) -> Self {
        let at = At(task, horizon);
        Self {
            orders: [
                scheduled::place(at),
                ready::place(at),
                inflight::place(at),
                expiry::place(at),
                doomed::place(at),
                retention::place(at),
                phase::place(at),
            ],
            phase: task.phase(horizon),
            is_lapsed: task.is_lapsed(horizon),
            takes_key: task.held_key().is_some(),
        }
    }
}

impl TaskIndex {
    /// Moves one row from where it stood to where it stands, and tells whether any index moved that
    /// time alone changes. What never changes is read of `task`.
    pub fn update(&mut self, task: &Task, before: &Places, after: &Places) -> bool {
        let mut moves_in_time = false;
        let moves = before.orders.iter().zip(&after.orders).zip(Order::ALL);
        for (index, ((before, after), order)) in self.orders.iter_mut().zip(moves) {
            if before == after {
                continue;
            }
            moves_in_time |= order.changes_in_time();
            if let Some(place) = before {
                index.remove(place);
            }
            if let Some(place) = after {
                index.insert(*place, task.id);
            }
        }
        if let Some(phase) = before.phase {
            self.counts[phase as usize] -= 1;
        }
        if let Some(phase) = after.phase {
            self.counts[phase as usize] += 1;
        }
        self.lapsed -= usize::from(before.is_lapsed);
        self.lapsed += usize::from(after.is_lapsed);
        match (&task.spec.key, before.takes_key, after.takes_key) {
            (Some(key), false, true) => {
                self.keys.insert(key.clone(), task.id);
            }
            // The trap: a newer task may hold the key by now. Only the holder's entry may go.
            (Some(key), true, false) if self.keys.get(key.as_str()) == Some(&task.id) => {
                self.keys.remove(key.as_str());
            }
            _ => {}
        }
        moves_in_time
    }

    /// One of the ordered indexes.
    fn order(&self, order: Order) -> &BTreeMap<Place, TaskId> {
        &self.orders[order as usize]
    }

    /// The rows of an index from a place on.
    pub fn rows(&self, order: Order, start: Bound<Place>) -> Range<'_, Place, TaskId> {
        self.order(order).range((start, Bound::Unbounded))
    }

    /// The first row of an index.
    pub fn first(&self, order: Order) -> Option<(Place, TaskId)> {
        self.order(order).first_key_value().map(|(place, id)| (*place, *id))
    }

    /// Which task takes an idempotency key.
    pub fn key_holder(&self, key: &str) -> Option<TaskId> {
        self.keys.get(key).copied()
    }

    /// How many rows users see in `phase`. **Cost:** O(1).
    pub fn count(&self, phase: Phase) -> usize {
        self.counts[phase as usize]
    }

    /// How many rows are in flight although their claim ran out. **Cost:** O(1).
    pub fn lapsed(&self) -> usize {
        self.lapsed
    }

    /// The first instant at which some row's places differ from those at `horizon`.
    pub fn next_due(&self, horizon: Instant) -> Option<Instant> {
        let first = |order| self.first(order).map(|(place, _)| place);
        let kept = self.rows(Order::Retention, Bound::Included(retention::beyond(horizon))).next();
        let firsts = [
            first(Order::Scheduled).map(|place| place.at),
            self.next_lapse(),
            first(Order::Expiry).map(|place| place.at),
            kept.map(|(place, _)| place.at),
        ];
        firsts.into_iter().flatten().filter(|at| *at < Instant::NEVER).min()
    }

    /// When the first running claim is lost.
    pub fn next_lapse(&self) -> Option<Instant> {
        self.first(Order::Inflight).map(|(place, _)| inflight::lapses_at(place))
    }

    /// The rows whose places change when the horizon advances from `from` to `to`, each once.
    pub fn due(&self, from: Instant, to: Instant) -> Vec<TaskId> {
        let (start, last) = (Place::default(), Place::last(to));
        let ranges = [
            (Order::Scheduled, start, last),
            (Order::Inflight, start, Place::first(to)),
            (Order::Expiry, start, last),
            (Order::Retention, retention::beyond(from), last),
        ];
        let mut due: Vec<TaskId> = Vec::new();
        for (order, start, last) in ranges {
            let rows = self.rows(order, Bound::Included(start));
            due.extend(rows.take_while(|(place, _)| **place <= last).map(|(_, id)| *id));
        }
        due.sort_unstable();
        due.dedup();
        due
    }

    /// Counts a row in, and looks whether it stands where it should. Rows come in id order.
    pub fn count_in(&self, tally: &mut Tally, task: &Task, places: &Places) {
        for (order, place) in Order::ALL.into_iter().zip(&places.orders) {
            let Some(place) = place else { continue };
            tally.orders[order as usize] += 1;
            tally.misplaced[order as usize] |= self.order(order).get(place) != Some(&task.id);
        }
        if let Some(phase) = places.phase {
            tally.counts[phase as usize] += 1;
        }
        tally.lapsed += usize::from(places.is_lapsed);
        if let (Some(key), true) = (&task.spec.key, places.takes_key) {
            match self.key_holder(key.as_str()) {
                Some(holder) if holder == task.id => tally.keys += 1,
                // A newer task holds it.
                holder => tally.keys_misplaced |= holder.is_none_or(|holder| holder < task.id),
            }
        }
    }

    /// Each index by name, and whether it holds the rows that were counted, and no others.
    pub fn compare(&self, tally: &Tally) -> impl Iterator<Item = (&'static str, bool)> {
        let same = |order: Order| {
            let at = order as usize;
            let all = self.order(order).len() == tally.orders[at];
            (order.as_str(), all && !tally.misplaced[at])
        };
        let keys = !tally.keys_misplaced && self.keys.iter().len() == tally.keys;
        let counts = (self.counts, self.lapsed) == (tally.counts, tally.lapsed);
        let rest = [("keys", keys), ("counts", counts)];
        Order::ALL.map(same).into_iter().chain(rest)
    }

    /// The rows of a state after an id, in id order.
    pub fn of_phase(&self, phase: Phase, after: TaskId) -> impl Iterator<Item = TaskId> {
        let start = Bound::Excluded(phase::behind(phase, after));
        let rows = self.rows(Order::Phases, start);
        rows.take_while(move |(place, _)| place.rank == phase as u64).map(|(_, id)| *id)
    }

    /// The same backwards, from the highest id before `before`.
    pub fn of_phase_backwards(&self, phase: Phase, before: TaskId) -> impl Iterator<Item = TaskId> {
        let first = Bound::Included(phase::behind(phase, TaskId::default()));
        let end = Bound::Excluded(phase::behind(phase, before));
        self.order(Order::Phases).range((first, end)).rev().map(|(_, id)| *id)
    }

    /// The earliest due time of what waits to be claimed. **Cost:** O(log n) per priority in use,
    /// and a step for each row that only stands there: `waits` tells.
    pub fn oldest_ready(&self, waits: impl Fn(TaskId) -> bool) -> Option<Instant> {
        let mut oldest = None;
        let mut next = self.first(Order::Ready);
        while let Some((first, id)) = next {
            let rest = if waits(id) {
                oldest = oldest.into_iter().chain([first.at]).min();
                first.last_of_rank()
            } else {
                first
            };
            next = self
                .rows(Order::Ready, Bound::Excluded(rest))
                .next()
                .map(|(place, id)| (*place, *id));
        }
        oldest
    }
}
