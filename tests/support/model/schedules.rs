//! Schedules: their boundaries, and what fires of them.

use super::{Model, NEVER, Reply, State, Task, sum};
use crate::support::operation::{GridWish, ScheduleWish};
use fencepost::schedule::CatchUp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub name: &'static str,
    pub grid: GridWish,
    pub wish: ScheduleWish,
    pub next: Option<u64>,
    pub last_fired_at: Option<u64>,
    pub fired: u64,
}

/// What has come, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    pub oldest: Vec<u64>,
    pub newest: u64,
    pub next: Option<u64>,
}

impl Schedule {
    /// What has come of it by `now`.
    pub fn came(&self, now: u64) -> Option<Came> {
        let next = self.next.filter(|next| *next <= now)?;
        let step = match self.grid {
            GridWish::At(_) => return Some(Came { oldest: vec![next], newest: next, next: None }),
            GridWish::Every(step) | GridWish::Cron { step, .. } => step,
        };
        let oldest = std::iter::successors(Some(next), |at| Some(at + step));
        let oldest = oldest.take_while(|at| *at <= now).take(64).collect();
        let newest = now - (now - next) % step;
        Some(Came { oldest, newest, next: Some(newest + step) })
    }
}

impl Model {
    pub fn schedule(&mut self, name: &'static str, grid: GridWish, wish: &ScheduleWish) -> Reply {
        if wish.task.is_bad() {
            return Reply::Error("INVALID_ARGUMENT");
        }
        let former = self.schedules.iter().position(|schedule| schedule.name == name);
        let former = former.map(|position| self.schedules.remove(position));
        let next = match &former {
            Some(former) if former.grid == grid.shown() => former.next,
            _ => Some(match grid {
                GridWish::Every(step) => sum(self.now, step),
                GridWish::At(at) => at,
                GridWish::Cron { first, .. } => first,
            }),
        };
        let (last_fired_at, fired) =
            former.map_or((None, 0), |former| (former.last_fired_at, former.fired));
        let wish = wish.clone();
        let grid = grid.shown();
        self.schedules.push(Schedule { name, grid, wish, next, last_fired_at, fired });
        self.changed = true;
        Reply::Next(next)
    }

    pub fn unschedule(&mut self, name: &'static str) -> Reply {
        let before = self.schedules.len();
        self.schedules.retain(|schedule| schedule.name != name);
        self.changed |= before != self.schedules.len();
        Reply::Flag(before != self.schedules.len())
    }

    /// All but those of `cron`, the earliest first.
    pub fn fire_due(&mut self) -> Reply {
        let now = self.now;
        let is_due = |schedule: &&Schedule| {
            !matches!(schedule.grid, GridWish::Cron { .. }) && schedule.came(now).is_some()
        };
        let mut due: Vec<Schedule> = self.schedules.iter().filter(is_due).cloned().collect();
        due.sort_by_key(|schedule| (schedule.next, schedule.name));
        let tasks = due.iter().map(|schedule| {
            let came = schedule.came(now).expect("it is due");
            self.fire(schedule.name, &came)
        });
        Reply::Count(tasks.sum())
    }

    pub fn fire_cron(&mut self, name: &'static str, came: &Came) -> Reply {
        let waits = self.schedules.iter().any(|schedule| {
            schedule.name == name
                && matches!(schedule.grid, GridWish::Cron { .. })
                && schedule.next == came.oldest.first().copied()
        });
        Reply::Count(if waits { self.fire(name, came) } else { 0 })
    }

    fn fire(&mut self, name: &str, came: &Came) -> usize {
        let now = self.now;
        let found = self.schedules.iter_mut().find(|schedule| schedule.name == name);
        let schedule = found.expect("a known schedule");
        let boundaries = match schedule.wish.catch_up {
            CatchUp::All => came.oldest.clone(),
            CatchUp::Last => vec![came.newest],
            CatchUp::None if came.oldest.len() == 1 && came.oldest[0] == came.newest => {
                came.oldest.clone()
            }
            CatchUp::None => Vec::new(),
        };
        schedule.next = came.next;
        schedule.fired += boundaries.len() as u64;
        if !boundaries.is_empty() {
            schedule.last_fired_at = Some(now);
        }
        let wish = schedule.wish.task.clone();
        self.changed = true;
        for boundary in &boundaries {
            self.last_id += 1;
            let task = Task {
                id: self.last_id,
                queue: wish.queue,
                seq: self.next_seq(wish.queue),
                key: None,
                holds_key: false,
                payload: wish.payload,
                priority: wish.priority,
                stamps: wish.stamps,
                boundary: Some(*boundary),
                created_at: now,
                updated_at: now,
                run_at: now,
                expires_at: wish.expires_in.map_or(NEVER, |wait| sum(now, wait)),
                attempt: 0,
                state: State::Waiting,
                last_owner: None,
                progress: None,
                error: None,
                result: None,
            };
            self.tasks.push(task);
        }
        boundaries.len()
    }

    /// The boundaries of `every` go back on their grid as far as they come after `now`.
    pub fn repair_schedules(&mut self, now: u64) {
        for schedule in &mut self.schedules {
            let (GridWish::Every(step), Some(next)) = (schedule.grid, &mut schedule.next) else {
                continue;
            };
            while *next > now + step {
                *next -= step;
            }
        }
    }
}
