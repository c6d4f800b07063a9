//! The rows and changes as the format has them.
//!
//! **Invariant:** what stands here is the format. Fields may move in a type, not in here; a new
//! variant takes the next number.

use super::reader::Reader;
use super::wire::{Wire, put_list, put_number, wire};
use crate::backoff::{Backoff, Jitter};
use crate::change::{
    Body, Change, CommitId, Counters, KeptKey, QueueRow, Removal, Rows, StoreRow, ValueRow,
};
use crate::id::{Instant, Millis, Priority, QueueId, Seq, Slot, TaskId, Token, Version};
use crate::lease::{LeaseRow, LeaseState};
use crate::name::Name;
use crate::replicas::Replicas;
use crate::schedule::{CatchUp, Interval, Job, Schedule, ScheduleRow, ScheduleSpec, When};
use crate::task::{Claim, DeadReason, Stamps, Task, TaskRow, TaskSpec, TaskState};

/// As [`StoreRow`], without a copy of the row.
#[derive(Clone, Copy, Debug)]
pub enum RowRef<'a> {
    Queue(&'a Name, bool, Seq),
    KeptKey(QueueId, &'a Name, &'a KeptKey),
    Task(&'a Task),
    Lease(&'a Name, &'a LeaseRow),
    Value(&'a Name, &'a ValueRow),
    Schedule(&'a Name, &'a Schedule),
    End(u64),
}

impl RowRef<'_> {
    #[inline(never)]
    pub fn put(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Queue(name, paused, last_seq) => {
                bytes.push(0);
                name.put(bytes);
                paused.put(bytes);
                last_seq.put(bytes);
            }
            Self::KeptKey(queue, key, kept) => {
                bytes.push(1);
                queue.put(bytes);
                put_named_row(bytes, key, kept);
            }
            Self::Task(task) => {
                bytes.push(2);
                task.put(bytes);
            }
            Self::Lease(name, row) => {
                bytes.push(3);
                put_named_row(bytes, name, row);
            }
            Self::Value(key, row) => {
                bytes.push(4);
                put_named_row(bytes, key, row);
            }
            Self::Schedule(name, row) => {
                bytes.push(5);
                put_named_row(bytes, name, row);
            }
            Self::End(rows) => {
                bytes.push(6);
                rows.put(bytes);
            }
        }
    }
}

fn put_named_row(bytes: &mut Vec<u8>, name: &Name, row: &impl Wire) {
    name.put(bytes);
    row.put(bytes);
}

// Written as a `RowRef`.
wire! {
    enum StoreRow {
        0 Queue { name, paused, last_seq },
        1 KeptKey { queue, key, kept },
        2 Task(task),
        3 Lease { name, row },
        4 Value { key, row },
        5 Schedule { name, row },
        6 End { rows },
    }
}

wire! { struct Body { commit, time, counters, command_ends, changes } }
wire! { struct CommitId { replica, counter } }
wire! { struct Counters { task_id, token } }

wire! {
    enum Change {
        0 Founded { store, rows },
        1 QueueCreated { queue, name },
        2 QueuePaused { queue, paused },
        3 TaskCreated { id, queue, spec, row },
        4 TaskChanged { id, row },
        5 TaskProgress { id, progress },
        6 TaskError { id, text },
        7 TaskResult { id, result },
        8 TaskRemoved { id, removal },
        9 KeyKept { queue, key, kept },
        10 KeyFreed { queue, key },
        11 LeasePut { name, row },
        12 LeaseRemoved { name },
        13 ValuePut { key, value },
        14 ValueDeleted { key },
        15 ClockRepaired {},
        16 SchedulePut { name, spec, row },
        17 ScheduleMoved { name, row },
        18 ScheduleRemoved { name },
        19 Restoring { store },
    }
}
wire! {
    enum Removal {
        0 Completed {},
        1 Cancelled { reason },
        2 Buried { reason },
        3 Purged {},
    }
}

wire! { struct Rows { queues, tasks, leases, values, schedules } }
wire! { struct QueueRow { name, paused, last_seq, kept_keys } }
wire! { struct KeptKey { id, seq, until } }
wire! { struct ValueRow { value, version } }

wire! { struct Task { id, queue, spec, row, progress, last_error, result } }
wire! {
    struct TaskSpec { seq, priority, created_at, stamps, key, codec, boundary, payload }
}
wire! {
    struct Stamps {
        lease, attempts_max, backoff, dead_retention, result_retention, key_retention,
    }
}
wire! { struct Backoff { base, max, jitter } }
wire! {
    enum Jitter {
        0 Equal {},
        1 Full {},
        2 None {},
    }
}
wire! {
    struct TaskRow {
        run_at, expires_at, updated_at, attempt, holds_key, former_owner, state,
    }
}
wire! {
    enum TaskState {
        0 Waiting {},
        1 Inflight(claim),
        2 Done { at },
        3 Dead { at, reason, claimed_at },
    }
}
wire! { struct Claim { owner, token, lease, deadline, claimed_at } }
wire! {
    enum DeadReason {
        0 Exhausted {},
        1 Failed {},
        2 Expired {},
    }
}

wire! { struct LeaseRow { token, acquired_at, ttl, meta, state } }
wire! {
    enum LeaseState {
        0 Held { owner, until },
        1 Released { at },
    }
}

wire! { struct Schedule { spec, row } }
wire! { struct ScheduleSpec { when, job } }
wire! { struct ScheduleRow { next, last_fired_at, fired, owed } }
wire! {
    enum When {
        0 Every(interval),
        1 Cron { expression, time_zone },
        2 At(instant),
    }
}
/// How many ways there are to catch up.
const CATCH_UPS: u32 = 3;

/// Of a job with a codec the number of its catch-up is higher by those there are, and the codec's
/// name follows on everything else.
impl Wire for Job {
    fn put(&self, bytes: &mut Vec<u8>) {
        let Self { queue, payload, codec, priority, expires_in, catch_up, stamps } = self;
        queue.put(bytes);
        payload.put(bytes);
        priority.put(bytes);
        expires_in.put(bytes);
        let with_codec = if codec.is_some() { CATCH_UPS as u8 } else { 0 };
        bytes.push(*catch_up as u8 + with_codec);
        stamps.put(bytes);
        if let Some(codec) = codec {
            codec.put(bytes);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        let (queue, payload) = (Wire::take(reader), Wire::take(reader));
        let (priority, expires_in) = (Wire::take(reader), Wire::take(reader));
        let number = reader.variant(2 * CATCH_UPS);
        let catch_up = match number % CATCH_UPS {
            0 => CatchUp::All,
            1 => CatchUp::Last,
            _ => CatchUp::None,
        };
        let stamps = Wire::take(reader);
        let codec = (number >= CATCH_UPS).then(|| Wire::take(reader));
        Self { queue, payload, codec, priority, expires_in, catch_up, stamps }
    }
}

macro_rules! safe_numbers {
    ($($type:ident)*) => {
        $(impl Wire for $type {
            fn put(&self, bytes: &mut Vec<u8>) {
                put_number(bytes, self.get());
            }

            fn take(reader: &mut Reader<'_>) -> Self {
                Self::saturating(reader.safe_number())
            }
        })*
    };
}

safe_numbers! { TaskId Seq Token Version Slot Instant Millis }

impl Wire for QueueId {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        Self(u32::take(reader))
    }
}

impl Wire for Priority {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.get().put(bytes);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        Self::try_from(i64::take(reader)).unwrap_or_else(|_| {
            reader.fail();
            Self::default()
        })
    }
}

impl Wire for Interval {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.get().put(bytes);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        Self::try_from(u64::take(reader)).unwrap_or_else(|_| {
            reader.fail();
            Self::SHORTEST
        })
    }
}

impl Wire for Replicas {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_list(bytes, self.commits().iter());
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        Self::from(Vec::take(reader))
    }
}
