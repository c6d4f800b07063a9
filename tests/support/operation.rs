//! Operations as values, with everything in them decided, and how the model carries them out.

use super::model::schedules::Came;
use super::model::{Model, Reply, Stamps};
use fencepost::schedule::CatchUp;

#[derive(Clone, Debug)]
pub enum Operation {
    Enqueue(TaskWish),
    EnqueueMany(Vec<TaskWish>),
    Claim {
        queue: &'static str,
        owner: &'static str,
        max: usize,
        lease: Option<u64>,
    },
    Complete {
        claim: ClaimWish,
        result: Option<&'static str>,
        follow_ups: Vec<TaskWish>,
        writes: Vec<WriteWish>,
    },
    CompleteMany(Vec<ClaimWish>),
    Fail {
        claim: ClaimWish,
        text: Option<&'static str>,
        delay: Option<u64>,
        is_final: bool,
        writes: Vec<WriteWish>,
    },
    Heartbeat {
        claim: ClaimWish,
        extend: Option<u64>,
        progress: Option<&'static str>,
    },
    Release(ClaimWish, Option<u64>),
    Abandon(ClaimWish),
    Cancel {
        queue: &'static str,
        id: u64,
    },
    Sweep(&'static str),
    Maintain,
    Reclaim {
        since: u64,
    },
    Redrive {
        queue: &'static str,
        ids: Option<Vec<u64>>,
        limit: usize,
    },
    Purge {
        queue: &'static str,
        phase: Option<&'static str>,
        ids: Option<Vec<u64>>,
    },
    Promote {
        queue: &'static str,
        ids: Vec<u64>,
    },
    Reschedule {
        queue: &'static str,
        id: u64,
        run_at: u64,
    },
    SetPaused {
        queue: &'static str,
        paused: bool,
    },
    Acquire {
        name: &'static str,
        owner: &'static str,
        ttl: u64,
        meta: Option<&'static str>,
    },
    Renew {
        name: &'static str,
        token: u64,
        ttl: Option<u64>,
        meta: Option<&'static str>,
    },
    GiveBack {
        name: &'static str,
        token: u64,
    },
    Guard {
        name: &'static str,
        token: u64,
        writes: Vec<WriteWish>,
    },
    Put(&'static str, &'static str),
    Delete(&'static str),
    Require(GuardWish),
    Schedule {
        name: &'static str,
        grid: GridWish,
        wish: Box<ScheduleWish>,
    },
    Unschedule(&'static str),
    FireDue,
    FireCron {
        name: &'static str,
        came: Came,
    },
}

/// When a schedule fires. Of `cron` the test knows the grid, the engine does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridWish {
    Every(u64),
    At(u64),
    Cron { step: u64, first: u64 },
}

/// The job; what a schedule cannot ask for is absent from the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleWish {
    pub task: TaskWish,
    pub catch_up: CatchUp,
}

impl GridWish {
    /// What a schedule shows of it: where it began is no part of that.
    pub fn shown(self) -> Self {
        match self {
            Self::Cron { step, .. } => Self::Cron { step, first: 0 },
            other => other,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskWish {
    pub queue: &'static str,
    pub payload: &'static str,
    pub key: Option<&'static str>,
    pub delay: Option<u64>,
    pub run_at: Option<u64>,
    pub expires_in: Option<u64>,
    pub priority: i64,
    pub stamps: Stamps,
    pub writes: Vec<WriteWish>,
}

#[derive(Clone, Copy, Debug)]
pub struct ClaimWish {
    pub queue: &'static str,
    pub id: u64,
    pub token: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteWish {
    Put(&'static str, &'static str),
    Delete(&'static str),
    Check(&'static str, Option<u64>),
}

#[derive(Clone, Copy, Debug)]
pub enum GuardWish {
    Claim(ClaimWish),
    Lease(&'static str, u64),
    Version(&'static str, Option<u64>),
}

impl TaskWish {
    /// Refused whatever the state is.
    pub fn is_bad(&self) -> bool {
        self.stamps.attempts_max == 0 || self.expires_in == Some(0)
    }
}

impl Operation {
    /// Carries it out on the model.
    pub fn on_model(&self, model: &mut Model) -> Reply {
        match self {
            Self::Enqueue(wish) => model.enqueue(wish),
            Self::EnqueueMany(wishes) => model.enqueue_many(wishes),
            Self::Claim { queue, owner, max, lease } => model.claim(queue, owner, *max, *lease),
            Self::Complete { claim, result, follow_ups, writes } => {
                model.complete(*claim, *result, follow_ups, writes)
            }
            Self::CompleteMany(claims) => model.complete_many(claims),
            Self::Fail { claim, text, delay, is_final, writes } => {
                model.fail(*claim, *text, *delay, *is_final, writes)
            }
            Self::Heartbeat { claim, extend, progress } => {
                model.heartbeat(*claim, *extend, *progress)
            }
            Self::Release(claim, delay) => model.release(*claim, *delay),
            Self::Abandon(claim) => model.abandon(*claim),
            Self::Cancel { queue, id } => model.cancel(queue, *id),
            Self::Sweep(queue) => model.sweep(queue),
            Self::Maintain => model.maintain(),
            Self::Reclaim { since } => model.reclaim(*since),
            Self::Redrive { queue, ids, limit } => model.redrive(queue, ids.as_deref(), *limit),
            Self::Purge { queue, phase, ids } => model.purge(queue, *phase, ids.as_deref()),
            Self::Promote { queue, ids } => model.promote(queue, ids),
            Self::Reschedule { queue, id, run_at } => model.reschedule(queue, *id, *run_at),
            Self::SetPaused { queue, paused } => model.set_paused(queue, *paused),
            Self::Acquire { name, owner, ttl, meta } => model.acquire(name, owner, *ttl, *meta),
            Self::Renew { name, token, ttl, meta } => model.renew(name, *token, *ttl, *meta),
            Self::GiveBack { name, token } => model.give_back(name, *token),
            Self::Guard { name, token, writes } => model.guarded_commit(name, *token, writes),
            Self::Put(key, value) => model.put(key, value),
            Self::Delete(key) => model.delete(key),
            Self::Require(guard) => model.require(*guard),
            Self::Schedule { name, grid, wish } => model.schedule(name, *grid, wish),
            Self::Unschedule(name) => model.unschedule(name),
            Self::FireDue => model.fire_due(),
            Self::FireCron { name, came } => model.fire_cron(name, came),
        }
    }
}
