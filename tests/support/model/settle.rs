//! Holding a claim.

use super::{Model, Reply, State, Task, sum};
use crate::support::operation::{ClaimWish, TaskWish, WriteWish};
use fencepost::backoff::Jitter;

impl Model {
    /// The first reason that applies, in the order of the rules.
    pub fn require_claim(&self, claim: ClaimWish) -> Result<Task, &'static str> {
        let now = self.now;
        let is_it =
            |task: &&Task| task.id == claim.id && task.queue == claim.queue && !task.is_gone(now);
        let task = self.tasks.iter().find(is_it).ok_or("gone")?;
        match task.state {
            State::Inflight { token, .. } if token != claim.token => Err("fenced"),
            State::Inflight { deadline, .. } if deadline < now || task.expires_at <= now => {
                Err("expired")
            }
            State::Inflight { .. } => Ok(task.clone()),
            _ => Err("settled"),
        }
    }

    fn task_mut(&mut self, id: u64) -> &mut Task {
        self.changed = true;
        let now = self.now;
        let task = self.tasks.iter_mut().find(|task| task.id == id).unwrap();
        task.updated_at = now;
        task
    }

    pub fn complete(
        &mut self,
        claim: ClaimWish,
        result: Option<&'static str>,
        follow_ups: &[TaskWish],
        writes: &[WriteWish],
    ) -> Reply {
        if follow_ups.iter().any(TaskWish::is_bad) {
            return Reply::Error("INVALID_ARGUMENT");
        }
        let task = match self.require_claim(claim) {
            Ok(task) => task,
            Err(reason) => return Reply::Refused(reason.to_owned()),
        };
        if let Some(check) = self.failing_check(writes) {
            return Reply::Refused(check);
        }
        self.finish(&task, result);
        // While the follow-ups are made the key is free for one of them.
        let is_kept = task.stamps.keep_result > 0;
        if is_kept {
            self.task_mut(task.id).holds_key = false;
        }
        let made = follow_ups.iter().map(|wish| self.try_enqueue(wish).unwrap()).collect();
        self.hold_key(&task);
        self.write(writes);
        Reply::Enqueued(made)
    }

    pub fn complete_many(&mut self, claims: &[ClaimWish]) -> Reply {
        let mut landed = 0;
        for claim in claims {
            if let Ok(task) = self.require_claim(*claim) {
                self.finish(&task, None);
                self.hold_key(&task);
                landed += 1;
            }
        }
        Reply::Count(landed)
    }

    fn finish(&mut self, task: &Task, result: Option<&'static str>) {
        self.completed.push(task.id);
        let now = self.now;
        let row = self.task_mut(task.id);
        row.state = State::Done { at: now };
        row.result = result;
        if task.stamps.keep_result == 0 {
            self.tasks.retain(|other| other.id != task.id);
        }
    }

    /// The completed task keeps its key unless somebody took it meanwhile.
    fn hold_key(&mut self, task: &Task) {
        let Some(key) = task.key.filter(|_| task.holds_key) else { return };
        if self.holder_besides(task, key) {
            return;
        }
        match task.stamps.keep_result > 0 {
            true => self.task_mut(task.id).holds_key = true,
            false => self.keep_key(task, self.now),
        }
    }

    fn holder_besides(&self, task: &Task, key: &'static str) -> bool {
        let takes = |other: &Task| {
            other.id != task.id
                && other.queue == task.queue
                && other.key == Some(key)
                && other.holds_key
        };
        self.tasks.iter().any(takes)
    }

    pub fn fail(
        &mut self,
        claim: ClaimWish,
        text: Option<&'static str>,
        delay: Option<u64>,
        is_final: bool,
        writes: &[WriteWish],
    ) -> Reply {
        let task = match self.require_claim(claim) {
            Ok(task) => task,
            Err(reason) => return Reply::Refused(reason.to_owned()),
        };
        if let Some(check) = self.failing_check(writes) {
            return Reply::Refused(check);
        }
        let reply = if is_final {
            self.kill(task.id, "failed", text.unwrap_or("failed"));
            Reply::Dead
        } else if task.attempt >= task.stamps.attempts_max {
            self.kill(task.id, "exhausted", text.unwrap_or("max attempts exceeded"));
            Reply::Dead
        } else {
            let now = self.now;
            let row = self.task_mut(task.id);
            row.state = State::Waiting;
            row.error = text.map(str::to_owned).or(row.error.take());
            let (low, high) = delay.map_or_else(|| backoff(&task), |delay| (delay, delay));
            row.run_at = sum(now, low);
            Reply::Retried { earliest: sum(now, low), latest: sum(now, high) }
        };
        self.write(writes);
        reply
    }

    /// The drawn wait is in the row that the engine made.
    pub fn adopt_run_at(&mut self, id: u64, run_at: u64) {
        if let Some(task) = self.tasks.iter_mut().find(|task| task.id == id) {
            task.run_at = run_at;
        }
    }

    pub fn heartbeat(
        &mut self,
        claim: ClaimWish,
        extend: Option<u64>,
        progress: Option<&'static str>,
    ) -> Reply {
        if extend == Some(0) {
            return Reply::Error("INVALID_ARGUMENT");
        }
        if let Err(reason) = self.require_claim(claim) {
            return Reply::Refused(reason.to_owned());
        }
        let now = self.now;
        let task = self.task_mut(claim.id);
        task.progress = progress.or(task.progress);
        let State::Inflight { lease, deadline, .. } = &mut task.state else { unreachable!() };
        *deadline = sum(now, extend.unwrap_or(*lease));
        Reply::Until(*deadline)
    }

    pub fn abandon(&mut self, claim: ClaimWish) -> Reply {
        if let Err(reason) = self.require_claim(claim) {
            return Reply::Refused(reason.to_owned());
        }
        let before = self.now.saturating_sub(1);
        let State::Inflight { deadline, .. } = &mut self.task_mut(claim.id).state else {
            unreachable!()
        };
        *deadline = before;
        Reply::Ok
    }

    /// What was granted after a token ends: claims as after a lapse, leases as given back.
    pub fn reclaim(&mut self, since: u64) -> Reply {
        let (now, mut ended) = (self.now, 0);
        for task in &mut self.tasks {
            let State::Inflight { token, deadline, .. } = &mut task.state else { continue };
            if *token > since && *deadline >= now {
                *deadline = now.saturating_sub(1);
                task.updated_at = now;
                ended += 1;
            }
        }
        for lease in &mut self.leases {
            if lease.token > since && lease.is_held(now) {
                lease.held = Err(now);
                ended += 1;
            }
        }
        self.changed |= ended > 0;
        Reply::Count(ended)
    }

    pub fn release(&mut self, claim: ClaimWish, delay: Option<u64>) -> Reply {
        if let Err(reason) = self.require_claim(claim) {
            return Reply::Refused(reason.to_owned());
        }
        let now = self.now;
        let task = self.task_mut(claim.id);
        task.attempt -= 1;
        task.state = State::Waiting;
        task.run_at = delay.map_or(task.run_at, |delay| sum(now, delay));
        Reply::Ok
    }
}

/// The range of the wait after the task's newest attempt.
fn backoff(task: &Task) -> (u64, u64) {
    let stamps = task.stamps;
    let mut cap = stamps.base;
    for _ in 1..task.attempt.min(64) {
        cap = cap.saturating_mul(2);
    }
    let cap = cap.min(stamps.max);
    match stamps.jitter {
        Jitter::Equal => (cap - cap / 2, cap),
        Jitter::Full => (0, cap),
        Jitter::None => (cap, cap),
    }
}
