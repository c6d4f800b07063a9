//! The rows that commits write: what an entry carries, and all that `merge` ever sees.
//!
//! **Invariant:** a change holds rows, not commands. Applying one reads no clock, draws no random
//! number and decides nothing, so every replica ends with the same rows whatever build it runs.
//!
//! What they are in the format is written in `codec/rows.rs`.

use crate::blob::Blob;
use crate::id::{Instant, QueueId, Seq, Slot, TaskId, Token, Version};
use crate::lease::LeaseRow;
use crate::name::Name;
use crate::place::Place;
use crate::schedule::{Schedule, ScheduleRow, ScheduleSpec};
use crate::table::Table;
use crate::task::{DeadReason, Task, TaskRow, TaskSpec};
use std::sync::Arc;

/// All rows of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// By queue id.
    pub queues: Vec<QueueRow>,
    /// In id order.
    pub tasks: Vec<Task>,
    pub leases: Table<LeaseRow>,
    pub values: Table<ValueRow>,
    pub schedules: Table<Schedule>,
}

/// A queue without its tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    pub name: Name,
    pub paused: bool,
    pub last_seq: Seq,
    /// By the end of their retention.
    pub kept_keys: Vec<(Name, KeptKey)>,
}

/// One row of a store, as snapshots have them. The order of the kinds is theirs in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreRow {
    /// They are numbered in their order.
    Queue {
        name: Name,
        paused: bool,
        last_seq: Seq,
    },
    KeptKey {
        queue: QueueId,
        key: Name,
        kept: KeptKey,
    },
    Task(Task),
    Lease {
        name: Name,
        row: LeaseRow,
    },
    Value {
        key: Name,
        row: ValueRow,
    },
    Schedule {
        name: Name,
        row: Schedule,
    },
    /// Nothing follows on it: how many rows there were.
    End {
        rows: u64,
    },
}

/// One row put or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first change of a log: the store it belongs to, and the rows of the snapshot it starts
    /// from.
    Founded {
        store: Name,
        rows: Option<Arc<Rows>>,
    },
    QueueCreated {
        queue: QueueId,
        name: Name,
    },
    QueuePaused {
        queue: QueueId,
        paused: bool,
    },
    TaskCreated {
        id: TaskId,
        queue: QueueId,
        spec: Arc<TaskSpec>,
        row: TaskRow,
    },
    TaskChanged {
        id: TaskId,
        row: TaskRow,
    },
    TaskProgress {
        id: TaskId,
        progress: Option<Blob>,
    },
    TaskError {
        id: TaskId,
        text: Option<Arc<str>>,
    },
    TaskResult {
        id: TaskId,
        result: Option<Blob>,
    },
    TaskRemoved {
        id: TaskId,
        removal: Removal,
    },
    KeyKept {
        queue: QueueId,
        key: Name,
        kept: KeptKey,
    },
    KeyFreed {
        queue: QueueId,
        key: Name,
    },
    LeasePut {
        name: Name,
        row: LeaseRow,
    },
    LeaseRemoved {
        name: Name,
    },
    ValuePut {
        key: Name,
        value: Blob,
    },
    ValueDeleted {
        key: Name,
    },
    /// The log's time was brought back to the time of this entry.
    ClockRepaired,
    SchedulePut {
        name: Name,
        spec: Arc<ScheduleSpec>,
        row: ScheduleRow,
    },
    /// It fired, or its next boundary was moved.
    ScheduleMoved {
        name: Name,
        row: ScheduleRow,
    },
    ScheduleRemoved {
        name: Name,
    },
    /// Founds a log, as the first change of it, whose rows are those of a snapshot at slot 1. Until
    /// the journal has that, the log holds nothing and takes nothing.
    Restoring {
        store: Name,
    },
}

/// Why a task row went away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    Completed,
    Cancelled {
        reason: Option<Arc<str>>,
    },
    /// Died and was not to be kept.
    Buried {
        reason: DeadReason,
    },
    /// Past its retention, or purged by hand.
    Purged,
}

/// A key that outlives its completed task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptKey {
    pub id: TaskId,
    pub seq: Seq,
    /// Free from here on.
    pub until: Instant,
}

impl KeptKey {
    /// Its place among the kept keys of its queue by the end of their retention.
    pub fn place(&self) -> Place {
        Place::at(self.until, self.seq)
    }
}

/// A value of the key-value table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRow {
    pub value: Blob,
    /// Of the command that wrote it.
    pub version: Version,
}

/// The last numbers given out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub task_id: TaskId,
    pub token: Token,
}

/// Names a log: random, drawn when it is founded.
pub type LogId = [u8; 16];

/// Names an entry among all entries, and is its checksum.
pub type Hash = [u8; 16];

/// Names a commit, so that one whose outcome is unknown can be found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitId {
    pub replica: u64,
    /// Counts the commits of the replica, from 1.
    pub counter: u64,
}

/// One commit: a header and the changes of a run of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub log_id: LogId,
    pub slot: Slot,
    /// The hash of the entry before; zeros in the first.
    pub previous: Hash,
    pub body: Body,
}

/// What an entry is about, behind where it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    pub commit: CommitId,
    pub time: Instant,
    pub counters: Counters,
    /// Where each command's changes end. Each command takes one version.
    pub command_ends: Vec<u32>,
    pub changes: Vec<Change>,
}

impl Body {
    /// Whether time may run backwards in this entry.
    pub fn repairs_clock(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::ClockRepaired))
    }
}
