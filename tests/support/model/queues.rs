//! Making, taking, burying and removing tasks.

use super::{Enqueued, Kept, Model, NEVER, Reply, State, Task, sum};
use crate::support::operation::TaskWish;

/// Enqueue and claim.
impl Model {
    pub fn enqueue(&mut self, wish: &TaskWish) -> Reply {
        match self.try_enqueue(wish) {
            Ok(made) => Reply::Enqueued(vec![made]),
            Err(code) => Reply::Error(code),
        }
    }

    pub fn enqueue_many(&mut self, wishes: &[TaskWish]) -> Reply {
        if wishes.iter().any(TaskWish::is_bad) {
            return Reply::Error("INVALID_ARGUMENT");
        }
        let before = self.clone();
        match wishes.iter().map(|wish| self.try_enqueue(wish)).collect() {
            Ok(made) => Reply::Enqueued(made),
            Err(code) => {
                *self = before;
                Reply::Error(code)
            }
        }
    }

    pub fn try_enqueue(&mut self, wish: &TaskWish) -> Result<Enqueued, &'static str> {
        if wish.is_bad() {
            return Err("INVALID_ARGUMENT");
        }
        let found = wish.key.and_then(|key| self.key_holder(wish.queue, key));
        // What this very command completed gives its key up.
        if let Some(found) = found.filter(|found| !self.completed.contains(&found.id)) {
            return Ok(found);
        }
        if self.failing_check(&wish.writes).is_some() {
            return Err("CHECK_FAILED");
        }
        // Whatever held the key is over.
        let (now, queue, key) = (self.now, wish.queue, wish.key);
        if key.is_some() {
            self.kept.retain(|kept| (kept.queue, Some(kept.key)) != (queue, key));
            for task in &mut self.tasks {
                let is_holder = task.queue == queue && task.key == key && task.holds_key;
                if is_holder && self.completed.contains(&task.id) {
                    task.holds_key = false;
                    task.updated_at = now;
                }
            }
            self.tasks.retain(|task| {
                !(task.queue == queue && task.holds_key && task.key == key && task.is_gone(now))
            });
        }
        self.changed = true;
        self.last_id += 1;
        let run_at = match (wish.delay, wish.run_at) {
            (Some(delay), _) => sum(now, delay),
            (None, run_at) => run_at.unwrap_or(now),
        };
        let task = Task {
            id: self.last_id,
            queue,
            seq: self.next_seq(queue),
            key,
            holds_key: key.is_some(),
            payload: wish.payload,
            priority: wish.priority,
            stamps: wish.stamps,
            boundary: None,
            created_at: now,
            updated_at: now,
            run_at,
            expires_at: wish.expires_in.map_or(NEVER, |wait| sum(now, wait)),
            attempt: 0,
            state: State::Waiting,
            last_owner: None,
            progress: None,
            error: None,
            result: None,
        };
        let (id, seq, phase) = (task.id, task.seq, task.phase(now));
        self.tasks.push(task);
        self.write(&wish.writes);
        Ok(Enqueued { id, seq, created: true, phase })
    }

    pub fn next_seq(&mut self, queue: &'static str) -> u64 {
        match self.last_seqs.iter_mut().find(|(name, _)| *name == queue) {
            Some((_, seq)) => {
                *seq += 1;
                *seq
            }
            None => {
                self.last_seqs.push((queue, 1));
                1
            }
        }
    }

    /// The task that takes the key now, as an enqueue tells it.
    fn key_holder(&self, queue: &'static str, key: &'static str) -> Option<Enqueued> {
        let now = self.now;
        let found = |id, seq, phase| Some(Enqueued { id, seq, created: false, phase });
        for task in &self.tasks {
            if task.queue != queue || task.key != Some(key) || !task.holds_key {
                continue;
            }
            if !task.is_gone(now) {
                return found(task.id, task.seq, task.phase(now));
            }
            if matches!(task.state, State::Done { at } if sum(at, task.stamps.keep_key) > now) {
                return found(task.id, task.seq, "done");
            }
        }
        let takes = |kept: &&Kept| kept.queue == queue && kept.key == key && kept.until > now;
        self.kept.iter().find(takes).and_then(|kept| found(kept.id, kept.seq, "done"))
    }

    /// Whether anything at all takes the key.
    pub fn key_is_taken(&self, queue: &'static str, key: &'static str) -> bool {
        self.key_holder(queue, key).is_some()
    }

    pub fn claim(
        &mut self,
        queue: &'static str,
        owner: &'static str,
        max: usize,
        lease: Option<u64>,
    ) -> Reply {
        if max == 0 || self.paused.contains(&queue) {
            return Reply::Claimed(Vec::new());
        }
        self.bury(queue);
        let now = self.now;
        let mut served: Vec<(i64, u64, u64, u64)> = self
            .tasks
            .iter()
            .filter(|task| task.queue == queue && task.is_served(now))
            .map(|task| (-task.priority, task.run_at, task.seq, task.id))
            .collect();
        served.sort_unstable();
        served.truncate(max);
        let mut claimed = Vec::new();
        for (_, _, _, id) in served {
            let token = self.take_token();
            let task = self.tasks.iter_mut().find(|task| task.id == id).unwrap();
            let lease = lease.unwrap_or(task.stamps.lease);
            let deadline = sum(now, lease);
            task.state = State::Inflight { owner, token, lease, deadline, claimed_at: now };
            task.attempt += 1;
            task.last_owner = Some(owner);
            task.updated_at = now;
            claimed.push((id, token));
            self.changed = true;
        }
        Reply::Claimed(claimed)
    }
}

/// Managing a queue.
impl Model {
    /// Kills what expired or lapsed for good; how many died, and how many of them were removed at
    /// once.
    fn bury(&mut self, queue: &'static str) -> (usize, usize) {
        let now = self.now;
        let doomed: Vec<(u64, &'static str)> = self
            .tasks
            .iter()
            .filter(|task| task.queue == queue)
            .filter_map(|task| Some((task.id, task.doom(now)?)))
            .collect();
        let mut removed = 0;
        for (id, reason) in &doomed {
            let text = if *reason == "expired" { "expired" } else { "max attempts exceeded" };
            removed += usize::from(self.kill(*id, reason, text));
        }
        (doomed.len(), removed)
    }

    /// True when the task was removed at once.
    pub fn kill(&mut self, id: u64, reason: &'static str, text: &str) -> bool {
        self.changed = true;
        let now = self.now;
        let task = self.tasks.iter_mut().find(|task| task.id == id).unwrap();
        let claimed_at = match task.state {
            State::Inflight { claimed_at, .. } => Some(claimed_at),
            _ => None,
        };
        task.state = State::Dead { at: now, reason, claimed_at };
        task.updated_at = now;
        task.error = Some(text.to_owned());
        let removed = task.stamps.keep_dead == 0;
        self.tasks.retain(|task| !(removed && task.id == id));
        removed
    }

    pub fn sweep(&mut self, queue: &'static str) -> Reply {
        let (expired, purged) = self.sweep_queue(queue);
        Reply::Swept { expired, purged }
    }

    fn sweep_queue(&mut self, queue: &'static str) -> (usize, usize) {
        let now = self.now;
        let (expired, mut purged) = self.bury(queue);
        let gone = |task: &&Task| task.queue == queue && task.is_gone(now);
        let gone: Vec<Task> = self.tasks.iter().filter(gone).cloned().collect();
        for task in gone {
            purged += 1;
            self.changed = true;
            self.tasks.retain(|other| other.id != task.id);
            if let State::Done { at } = task.state {
                self.keep_key(&task, at);
            }
        }
        let kept = self.kept.len();
        self.kept.retain(|kept| kept.queue != queue || kept.until > now);
        self.changed |= kept != self.kept.len();
        (expired, purged)
    }

    /// The key of a task that completed at `at` and is removed.
    pub fn keep_key(&mut self, task: &Task, at: u64) {
        let (queue, id, seq) = (task.queue, task.id, task.seq);
        let until = sum(at, task.stamps.keep_key);
        if let Some(key) = task.key.filter(|_| task.holds_key && until > self.now) {
            self.kept.push(Kept { queue, key, id, seq, until });
        }
    }

    pub fn maintain(&mut self) -> Reply {
        let queues: Vec<&'static str> = self.last_seqs.iter().map(|(queue, _)| *queue).collect();
        let (mut expired, mut purged) = (0, 0);
        for queue in queues {
            let swept = self.sweep_queue(queue);
            (expired, purged) = (expired + swept.0, purged + swept.1);
        }
        let (leases, now) = (self.leases.len(), self.now);
        self.leases.retain(|lease| !lease.is_gone(now));
        self.changed |= leases != self.leases.len();
        Reply::Swept { expired, purged }
    }

    /// The visible tasks of a queue in one of the states, with one of the ids, in id order.
    fn choose(&self, queue: &str, phases: &[&str], ids: Option<&[u64]>) -> Vec<u64> {
        let fits = |task: &&Task| {
            task.queue == queue
                && !task.is_gone(self.now)
                && phases.contains(&task.phase(self.now))
                && ids.is_none_or(|ids| ids.contains(&task.id))
        };
        self.tasks.iter().filter(fits).map(|task| task.id).collect()
    }

    pub fn redrive(&mut self, queue: &str, ids: Option<&[u64]>, limit: usize) -> Reply {
        let mut chosen = self.choose(queue, &["dead"], ids);
        chosen.truncate(limit);
        let now = self.now;
        for task in self.tasks.iter_mut().filter(|task| chosen.contains(&task.id)) {
            task.state = State::Waiting;
            task.attempt = 0;
            task.expires_at = NEVER;
            task.updated_at = now;
            self.changed = true;
        }
        Reply::Count(chosen.len())
    }

    pub fn purge(&mut self, queue: &str, phase: Option<&str>, ids: Option<&[u64]>) -> Reply {
        let phases = match phase {
            None => vec!["dead", "done"],
            Some(phase @ ("dead" | "done")) => vec![phase],
            Some(_) => return Reply::Error("INVALID_ARGUMENT"),
        };
        let chosen = self.choose(queue, &phases, ids);
        self.tasks.retain(|task| !chosen.contains(&task.id));
        self.changed |= !chosen.is_empty();
        Reply::Count(chosen.len())
    }

    pub fn cancel(&mut self, queue: &str, id: u64) -> Reply {
        let tasks = self.tasks.len();
        let now = self.now;
        self.tasks.retain(|task| task.id != id || task.queue != queue || task.is_gone(now));
        self.changed |= tasks != self.tasks.len();
        Reply::Flag(tasks != self.tasks.len())
    }

    pub fn promote(&mut self, queue: &str, ids: &[u64]) -> Reply {
        let chosen = self.choose(queue, &["scheduled"], Some(ids));
        chosen.iter().for_each(|id| self.put_off(*id, self.now));
        Reply::Count(chosen.len())
    }

    pub fn reschedule(&mut self, queue: &str, id: u64, run_at: u64) -> Reply {
        let chosen = self.choose(queue, &["scheduled", "ready"], Some(&[id]));
        chosen.iter().for_each(|id| self.put_off(*id, run_at));
        Reply::Flag(!chosen.is_empty())
    }

    fn put_off(&mut self, id: u64, run_at: u64) {
        let task = self.tasks.iter_mut().find(|task| task.id == id).unwrap();
        if task.run_at != run_at {
            task.run_at = run_at;
            task.updated_at = self.now;
            self.changed = true;
        }
    }

    pub fn set_paused(&mut self, queue: &'static str, paused: bool) -> Reply {
        if self.paused.contains(&queue) != paused {
            self.changed = true;
            match paused {
                true => self.paused.push(queue),
                false => self.paused.retain(|name| *name != queue),
            }
        }
        Reply::Ok
    }
}
