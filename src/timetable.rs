//! All schedules of a store: by name, and by the boundary they wait for.
//!
//! **Invariant:** the two orders follow from the rows; every change goes through
//! [`Timetable::put`] or [`Timetable::remove`], which move them by (before, after).
//!
//! **Cost:** O(log n) per change.

use crate::boundaries::Boundaries;
use crate::id::Instant;
use crate::name::Name;
use crate::schedule::{Schedule, When};
use crate::table::Table;

/// Schedules and the order in which they come due.
#[derive(Clone, Debug, Default)]
pub struct Timetable {
    rows: Table<Schedule>,
    /// Those whose boundaries the engine works out.
    due: Boundaries,
    /// Those whose boundaries the host works out, apart: a host that cannot must not be woken for
    /// them again and again.
    crons: Boundaries,
}

impl Timetable {
    pub fn of(rows: Table<Schedule>) -> Self {
        let mut timetable = Self::default();
        rows.iter().for_each(|(name, schedule)| timetable.enter(name, schedule));
        Self { rows, ..timetable }
    }

    pub fn put(&mut self, name: Name, schedule: Schedule) {
        self.remove(&name);
        self.enter(&name, &schedule);
        self.rows.insert(name, schedule);
    }

    pub fn remove(&mut self, name: &Name) -> Option<Schedule> {
        let schedule = self.rows.remove(name.as_str())?;
        if let Some(next) = schedule.row.next {
            self.order_of(&schedule).remove(next, name);
        }
        Some(schedule)
    }

    fn enter(&mut self, name: &Name, schedule: &Schedule) {
        if let Some(next) = schedule.row.next {
            self.order_of(schedule).insert(next, name.clone());
        }
    }

    fn order_of(&mut self, schedule: &Schedule) -> &mut Boundaries {
        match schedule.spec.when {
            When::Cron { .. } => &mut self.crons,
            When::Every(_) | When::At(_) => &mut self.due,
        }
    }

    pub fn get(&self, name: &str) -> Option<&Schedule> {
        self.rows.get(name)
    }

    /// In name order.
    pub fn rows(&self) -> &Table<Schedule> {
        &self.rows
    }

    /// Whose next boundary has come, the earliest first; without `cron`.
    pub fn due(&self, now: Instant) -> impl Iterator<Item = (Instant, &Name)> {
        self.due.iter().take_while(move |(at, _)| *at <= now)
    }

    /// All of `cron` that wait for a boundary, the earliest first.
    pub fn crons(&self) -> impl Iterator<Item = (Instant, &Name)> {
        self.crons.iter()
    }

    /// When the next boundary comes; without `cron`.
    pub fn next_due(&self) -> Option<Instant> {
        self.due.first()
    }

    /// Whether the orders are those of the rows.
    pub fn is_sound(&self) -> bool {
        let mut rebuilt = Self::default();
        self.rows.iter().for_each(|(name, schedule)| rebuilt.enter(name, schedule));
        self.due == rebuilt.due && self.crons == rebuilt.crons
    }
}
