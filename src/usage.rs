//! How large a store is: what its rows take of an engine's memory, told from the rows alone, so
//! that all replicas agree.
//!
//! The weights are upper bounds of what the engine for WebAssembly takes for a row with everything
//! around it: pages, indexes whose nodes are half empty, what the allocator adds. A task weighs the
//! same whatever becomes of it: room for an owner and a short error is in its weight from the
//! start. So claiming, failing, releasing and completing never make a store grow.
//!
//! **Cost:** O(1) per change.

use crate::blob::Blob;
use crate::change::ValueRow;
use crate::lease::{LeaseRow, LeaseState};
use crate::name::Name;
use crate::schedule::Schedule;
use crate::task::Task;

/// A task with its places in the indexes, an owner and a short error.
const TASK: u64 = 560;
/// A key that a task holds, or that outlives it: less than what a task gives back when it goes.
const KEY: u64 = 200;
const VALUE: u64 = 120;
const LEASE: u64 = 400;
const SCHEDULE: u64 = 700;
const QUEUE: u64 = 2_000;
/// Around bytes that lie by themselves.
const BLOB: u64 = 24;
/// What a task's weight has room for: the error of a task in a full store is cut to it.
pub const ERROR_BYTES_FREE: usize = 64;

/// Rows of a kind, and what they weigh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub rows: u64,
    pub bytes: u64,
}

/// What there is of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Without what follows.
    pub tasks: Amount,
    pub payloads: Amount,
    /// Results, progress and long errors.
    pub results: Amount,
    /// Held and kept.
    pub keys: Amount,
    pub values: Amount,
    pub leases: Amount,
    pub schedules: Amount,
    pub queues: Amount,
}

impl Amount {
    #[inline(never)]
    fn change(&mut self, weight: u64, is_added: bool) {
        if is_added {
            self.rows += 1;
            self.bytes += weight;
        } else {
            self.rows -= 1;
            self.bytes -= weight;
        }
    }
}

impl Usage {
    pub fn kinds(&self) -> [Amount; 8] {
        let Self { tasks, payloads, results, keys, values, leases, schedules, queues } = *self;
        [tasks, payloads, results, keys, values, leases, schedules, queues]
    }

    /// What all rows weigh.
    #[inline(never)]
    pub fn bytes(&self) -> u64 {
        self.kinds().iter().map(|amount| amount.bytes).sum()
    }

    #[inline(never)]
    pub fn task(&mut self, task: &Task, is_added: bool) {
        let codec = task.spec.codec.as_ref().map_or(0, name_weight);
        self.tasks.change(TASK + codec, is_added);
        self.payloads.change(BLOB + task.spec.payload.len() as u64, is_added);
        if let Some(key) = &task.spec.key {
            self.keys.change(KEY + name_weight(key), is_added);
        }
        self.notes(task, is_added);
    }

    /// What changes about a task.
    #[inline(never)]
    pub fn notes(&mut self, task: &Task, is_added: bool) {
        for note in [&task.progress, &task.result].into_iter().flatten() {
            self.results.change(BLOB + note.len() as u64, is_added);
        }
        let error = task.last_error.as_ref().map_or(0, |text| error_weight(text));
        if error > 0 {
            self.results.change(error, is_added);
        }
    }

    pub fn kept_key(&mut self, key: &Name, is_added: bool) {
        self.keys.change(KEY + name_weight(key), is_added);
    }

    pub fn value(&mut self, key: &Name, row: &ValueRow, is_added: bool) {
        self.values.change(value_weight(key, &row.value), is_added);
    }

    pub fn lease(&mut self, name: &Name, row: &LeaseRow, is_added: bool) {
        self.leases.change(lease_weight(name, row), is_added);
    }

    pub fn schedule(&mut self, name: &Name, row: &Schedule, is_added: bool) {
        self.schedules.change(schedule_weight(name, row), is_added);
    }

    pub fn queue(&mut self, name: &Name) {
        self.queues.change(queue_weight(name), true);
    }
}

fn name_weight(name: &Name) -> u64 {
    BLOB + name.as_str().len() as u64
}

fn error_weight(text: &str) -> u64 {
    text.len().saturating_sub(ERROR_BYTES_FREE) as u64
}

#[inline(never)]
pub fn task_weight(task: &Task) -> u64 {
    let mut usage = Usage::default();
    usage.task(task, true);
    usage.bytes()
}

#[inline(never)]
pub fn notes_weight(task: &Task) -> u64 {
    let mut usage = Usage::default();
    usage.notes(task, true);
    usage.bytes()
}

#[inline(never)]
pub fn key_weight(key: &Name) -> u64 {
    KEY + name_weight(key)
}

#[inline(never)]
pub fn value_weight(key: &Name, value: &Blob) -> u64 {
    VALUE + name_weight(key) + value.len() as u64
}

#[inline(never)]
pub fn lease_weight(name: &Name, row: &LeaseRow) -> u64 {
    let owner = match &row.state {
        LeaseState::Held { owner, .. } => owner.as_str().len() as u64,
        LeaseState::Released { .. } => 0,
    };
    let meta = row.meta.as_ref().map_or(0, |meta| BLOB + meta.len() as u64);
    LEASE + name_weight(name) + owner + meta
}

#[inline(never)]
pub fn schedule_weight(name: &Name, row: &Schedule) -> u64 {
    let job = &row.spec.job;
    SCHEDULE + 2 * name_weight(name) + name_weight(&job.queue) + job.payload.len() as u64
}

pub fn queue_weight(name: &Name) -> u64 {
    QUEUE + 2 * name_weight(name)
}
