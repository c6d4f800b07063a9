//! What is seen at an instant.

use super::schedules::Schedule;
use super::{Lease, Model, State, Task, Value, sum};

/// Everything that reads tell, at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub queues: Vec<QueuePicture>,
    /// In name order.
    pub leases: Vec<Lease>,
    pub held: Vec<&'static str>,
    /// In key order.
    pub values: Vec<Value>,
    /// In name order.
    pub schedules: Vec<Schedule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuePicture {
    pub name: &'static str,
    /// With the reason why each is not running.
    pub tasks: Vec<(Task, String)>,
    pub counts: Vec<(&'static str, usize)>,
    /// Of those in flight.
    pub lapsed: usize,
    pub next_due: Option<u64>,
    /// Pause and earliest due time of what is ready; `None` for a queue that is not listed.
    pub listed: Option<(bool, Option<u64>)>,
}

pub const PHASES: [&str; 5] = ["scheduled", "ready", "inflight", "done", "dead"];

impl Model {
    pub fn picture(&self, names: &[&'static str], at: u64) -> Picture {
        let model = Self { now: at.max(self.log_time), ..self.clone() };
        let mut leases = model.leases.clone();
        leases.retain(|lease| !lease.is_gone(model.now));
        leases.sort_by_key(|lease| lease.name);
        let mut values = model.values.clone();
        values.sort_by_key(|value| value.key);
        let held = leases.iter().filter(|lease| lease.is_held(model.now));
        let held = held.map(|lease| lease.name).collect();
        let queues = names.iter().map(|name| model.queue_picture(name)).collect();
        let mut schedules = model.schedules.clone();
        schedules.sort_by_key(|schedule| schedule.name);
        Picture { queues, leases, held, values, schedules }
    }

    fn queue_picture(&self, name: &'static str) -> QueuePicture {
        let now = self.now;
        let seen = self.tasks.iter().filter(|task| task.queue == name && !task.is_gone(now));
        let seen: Vec<&Task> = seen.collect();
        let count = |phase| seen.iter().filter(|task| task.phase(now) == phase).count();
        let counts: Vec<_> = PHASES.iter().map(|phase| (*phase, count(*phase))).collect();
        let paused = self.paused.contains(&name);
        let ready = seen.iter().filter(|task| task.phase(now) == "ready");
        let oldest = ready.map(|task| task.run_at).min();
        QueuePicture {
            name,
            tasks: seen.iter().map(|task| ((*task).clone(), self.why(task))).collect(),
            counts,
            lapsed: seen.iter().filter(|task| task.is_lapsed(now)).count(),
            next_due: self.next_due(&seen, paused),
            listed: (paused || !seen.is_empty()).then_some((paused, oldest)),
        }
    }

    /// When a claim would next do something.
    fn next_due(&self, tasks: &[&Task], paused: bool) -> Option<u64> {
        let due = |task: &&Task| match task.state {
            _ if task.is_served(self.now) || task.doom(self.now).is_some() => Some(self.now),
            State::Waiting => Some(task.run_at),
            State::Inflight { deadline, .. } => Some(sum(deadline, 1)),
            _ => None,
        };
        if paused { None } else { tasks.iter().filter_map(due).min() }
    }

    fn why(&self, task: &Task) -> String {
        let now = self.now;
        let first = self
            .tasks
            .iter()
            .filter(|other| other.queue == task.queue && other.is_served(now))
            .min_by_key(|other| (-other.priority, other.run_at, other.seq));
        let because = match task.phase(now) {
            "scheduled" => "due-later",
            "ready" if self.paused.contains(&task.queue) => "paused",
            "ready" if first.is_none_or(|first| first.id == task.id) => "no-owner-claims",
            "ready" => "behind-others",
            "inflight" if task.is_lapsed(now) => "no-owner-claims",
            "inflight" => "claimed",
            other => other,
        };
        because.to_owned()
    }
}
