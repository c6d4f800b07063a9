//! A naive model of the engine: lists and linear scans, written from the rules and not from the
//! engine.
//!
//! It has no indexes, no entries and no staging. A random wait is answered as a range; the drawn
//! one is told to it afterwards.

mod leases;
mod queues;
pub mod reads;
pub mod schedules;
mod settle;

use fencepost::backoff::Jitter;

/// The end of time: the largest safe integer.
pub const NEVER: u64 = (1 << 53) - 1;
const DAY: u64 = 86_400_000;

/// Sums stop at the end of time.
pub fn sum(instant: u64, duration: u64) -> u64 {
    instant.saturating_add(duration).min(NEVER)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: u64,
    pub queue: &'static str,
    pub seq: u64,
    pub key: Option<&'static str>,
    /// False once a follow-up took the key over.
    pub holds_key: bool,
    pub payload: &'static str,
    pub priority: i64,
    pub stamps: Stamps,
    pub boundary: Option<u64>,
    pub created_at: u64,
    pub updated_at: u64,
    pub run_at: u64,
    pub expires_at: u64,
    pub attempt: u64,
    pub state: State,
    pub last_owner: Option<&'static str>,
    pub progress: Option<&'static str>,
    pub error: Option<String>,
    pub result: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    pub lease: u64,
    pub attempts_max: u64,
    pub base: u64,
    pub max: u64,
    pub jitter: Jitter,
    pub keep_dead: u64,
    pub keep_result: u64,
    pub keep_key: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Waiting,
    Inflight { owner: &'static str, token: u64, lease: u64, deadline: u64, claimed_at: u64 },
    Done { at: u64 },
    Dead { at: u64, reason: &'static str, claimed_at: Option<u64> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub name: &'static str,
    pub token: u64,
    pub acquired_at: u64,
    pub ttl: u64,
    pub meta: Option<&'static str>,
    /// Owner and end; `Err` with the time of the release.
    pub held: Result<(&'static str, u64), u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub key: &'static str,
    pub value: &'static str,
    pub version: u64,
}

/// A key that outlives its task.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    queue: &'static str,
    key: &'static str,
    id: u64,
    seq: u64,
    until: u64,
}

/// What a command answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Enqueued(Vec<Enqueued>),
    /// Ids and tokens.
    Claimed(Vec<(u64, u64)>),
    /// The wait is somewhere in the range.
    Retried {
        earliest: u64,
        latest: u64,
    },
    Until(u64),
    Next(Option<u64>),
    Granted {
        token: u64,
        until: u64,
        meta: Option<&'static str>,
    },
    Count(usize),
    Swept {
        expired: usize,
        purged: usize,
    },
    Version(u64),
    Flag(bool),
    Ok,
    Dead,
    Refused(String),
    Error(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enqueued {
    pub id: u64,
    pub seq: u64,
    pub created: bool,
    pub phase: &'static str,
}

/// The whole store.
#[derive(Clone, Debug)]
pub struct Model {
    /// Of the running command.
    pub now: u64,
    /// Of the last command that changed something.
    pub log_time: u64,
    pub version: u64,
    pub last_token: u64,
    pub last_id: u64,
    pub tasks: Vec<Task>,
    pub leases: Vec<Lease>,
    pub values: Vec<Value>,
    pub schedules: Vec<schedules::Schedule>,
    pub paused: Vec<&'static str>,
    last_seqs: Vec<(&'static str, u64)>,
    kept: Vec<Kept>,
    /// Whether the running command has changed something.
    changed: bool,
    /// The values before the running command: what its checks see.
    before: Vec<Value>,
    /// What the running command has completed.
    completed: Vec<u64>,
}

/// Commands.
impl Model {
    /// A log founded at this instant.
    pub fn founded(now: u64) -> Self {
        Self {
            now,
            log_time: now,
            version: 1,
            last_token: (now + 1_000) * 1_000,
            last_id: 0,
            tasks: Vec::new(),
            leases: Vec::new(),
            values: Vec::new(),
            schedules: Vec::new(),
            paused: Vec::new(),
            last_seqs: Vec::new(),
            kept: Vec::new(),
            changed: false,
            before: Vec::new(),
            completed: Vec::new(),
        }
    }

    /// A command begins; time does not run backwards.
    pub fn begin(&mut self, now: u64) {
        self.now = now.max(self.log_time);
        self.changed = false;
        self.before = self.values.clone();
        self.completed.clear();
    }

    /// It ends: if it changed something, it took a version.
    pub fn end(&mut self) {
        if self.changed {
            self.version += 1;
            self.log_time = self.now;
        }
    }

    /// The running command changed something that nobody sees.
    pub fn adopt_change(&mut self) {
        self.changed = true;
    }

    /// Claims and leases end no later than their own length from `now`.
    pub fn repair_clock(&mut self, now: u64) -> bool {
        if self.log_time <= now {
            return false;
        }
        for task in &mut self.tasks {
            let updated_at = task.updated_at;
            if let State::Inflight { deadline, .. } = &mut task.state {
                let latest = sum(now, deadline.saturating_sub(updated_at));
                if *deadline > latest {
                    *deadline = latest;
                    task.updated_at = now;
                }
            }
        }
        for lease in &mut self.leases {
            if let Ok((_, until)) = &mut lease.held {
                *until = sum(now, lease.ttl).min(*until);
            }
        }
        self.repair_schedules(now);
        self.log_time = now;
        self.version += 1;
        true
    }

    fn take_token(&mut self) -> u64 {
        self.last_token = (self.last_token + 1).max(self.now * 1_000);
        self.last_token
    }
}

/// Questions about a task.
impl Task {
    pub fn phase(&self, now: u64) -> &'static str {
        match self.state {
            State::Waiting if self.run_at <= now => "ready",
            State::Waiting => "scheduled",
            State::Inflight { .. } => "inflight",
            State::Done { .. } => "done",
            State::Dead { .. } => "dead",
        }
    }

    /// Whether its retention is over.
    pub fn is_gone(&self, now: u64) -> bool {
        match self.state {
            State::Done { at } => sum(at, self.stamps.keep_result) <= now,
            State::Dead { at, .. } => sum(at, self.stamps.keep_dead) <= now,
            _ => false,
        }
    }

    pub fn is_active(&self) -> bool {
        matches!(self.state, State::Waiting | State::Inflight { .. })
    }

    fn is_lapsed(&self, now: u64) -> bool {
        matches!(self.state, State::Inflight { deadline, .. } if deadline < now)
    }

    /// Why the next claim or sweep kills it.
    pub fn doom(&self, now: u64) -> Option<&'static str> {
        if self.is_active() && self.expires_at <= now {
            Some("expired")
        } else if self.is_lapsed(now) && self.attempt >= self.stamps.attempts_max {
            Some("exhausted")
        } else {
            None
        }
    }

    /// Whether the next claim serves it.
    pub fn is_served(&self, now: u64) -> bool {
        let waits = self.state == State::Waiting && self.run_at <= now;
        self.doom(now).is_none() && (waits || self.is_lapsed(now))
    }
}
