//! A state in the making, from the parts of a snapshot.
//!
//! **Invariant:** nothing of it counts before it is whole: parts follow on each other, each row has
//! what it refers to, and the last one says that it is the last.
//!
//! **Cost:** the rows, and the bytes of one part.

use crate::accept;
use crate::change::{Counters, Hash, LogId, StoreRow};
use crate::codec::{self, Part};
use crate::error::Error;
use crate::id::{QueueId, Seq, Slot};
use crate::name::Name;
use crate::place::Place;
use crate::state::{Head, State};

/// Takes the bytes of a snapshot, however they were cut.
#[derive(Debug)]
pub struct Restoring {
    /// What the rows may weigh.
    bytes_max: u64,
    /// Of a part that is not whole yet.
    bytes: Vec<u8>,
    filling: Filling,
}

impl Restoring {
    pub fn new(bytes_max: u64) -> Self {
        Self { bytes_max, bytes: Vec::new(), filling: Filling::default() }
    }

    /// # Errors
    /// `STORE_FULL`, `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`: the snapshot is of no use.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(size) = codec::part_bytes(&self.bytes[start..])? {
            let Some(part) = self.bytes[start..].get(..size) else { break };
            let filling = std::cell::RefCell::new(&mut self.filling);
            codec::decode_part(
                part,
                |part| filling.borrow_mut().begin(part),
                |row| filling.borrow_mut().put(row),
            )?;
            start += size;
        }
        self.bytes.drain(..start);
        let size = self.filling.state.as_ref().map_or(0, |state| state.usage.bytes());
        let limit = self.bytes_max;
        if size > limit { Err(Error::StoreFull { size, limit }) } else { Ok(()) }
    }

    /// The state, when all parts have come.
    ///
    /// # Errors
    /// `FORMAT_TOO_NEW`, `JOURNAL_CORRUPT`.
    pub fn finish(self) -> Result<State, Error> {
        if self.filling.state.is_none() {
            return whole(&self.bytes);
        }
        if !self.filling.is_over || !self.bytes.is_empty() {
            return Err(Error::corrupt("snapshot ends before its last part"));
        }
        self.filling.state.ok_or_else(|| Error::corrupt("snapshot is empty"))
    }
}

/// From a snapshot in one piece.
fn whole(bytes: &[u8]) -> Result<State, Error> {
    let (snapshot, _) = codec::decode_snapshot(bytes)?;
    accept::require_sound(&snapshot)?;
    let mut state = State::at(snapshot.head.time);
    state.put_rows(snapshot.rows);
    (state.head, state.counters) = (snapshot.head, snapshot.counters);
    state.replicas = snapshot.replicas;
    Ok(state)
}

/// The state so far, and what the next row must follow on.
#[derive(Debug, Default)]
struct Filling {
    state: Option<State>,
    log: (LogId, Slot),
    counters: Counters,
    number: u64,
    previous: Hash,
    /// Of the newest row.
    kind: u8,
    /// Of the newest row with one.
    name: Option<Name>,
    key: Option<(QueueId, Place)>,
    /// The newest sequence number of each queue.
    seqs: Vec<Seq>,
    rows: u64,
    is_over: bool,
}

impl Filling {
    fn begin(&mut self, part: Part) -> Result<(), Error> {
        let corrupt = |problem| Err(Error::corrupt(format!("snapshot: {problem}")));
        if part.number != self.number || self.is_over {
            return corrupt("a part is missing, or twice there");
        }
        match part.head {
            Some(first) if self.number == 0 => {
                if first.store.is_none() {
                    return corrupt("it belongs to no store");
                }
                if !first.replicas.is_sound() {
                    return corrupt("its replicas are not in order");
                }
                let mut state = State::at(first.time);
                state.head = Head {
                    log_id: part.log_id,
                    store: first.store,
                    slot: part.slot,
                    hash: part.previous,
                    version: first.version,
                    time: first.time,
                    is_restoring: false,
                };
                (state.counters, state.replicas) = (first.counters, first.replicas);
                self.counters = first.counters;
                self.log = (part.log_id, part.slot);
                self.state = Some(state);
            }
            None if self.number > 0 => {
                if part.previous != self.previous || (part.log_id, part.slot) != self.log {
                    return corrupt("a part does not continue the one before it");
                }
            }
            _ => return corrupt("its head is not in the first part"),
        }
        self.number += 1;
        self.previous = part.hash;
        Ok(())
    }

    fn put(&mut self, row: StoreRow) -> Result<(), Error> {
        self.require_next(&row)
            .map_err(|problem| Error::corrupt(format!("snapshot: {problem}")))?;
        if let Some(state) = &mut self.state {
            state.put_row(row);
        }
        Ok(())
    }

    /// Whether the row follows on those before it, and has what it refers to.
    fn require_next(&mut self, row: &StoreRow) -> Result<(), &'static str> {
        let kind = kind_of(row);
        if kind < self.kind || self.is_over {
            return Err("its rows are not in order");
        }
        if kind > self.kind {
            (self.kind, self.name) = (kind, None);
        }
        self.rows += 1;
        match row {
            StoreRow::Queue { name, .. } => {
                if self.state.as_ref().is_some_and(|state| state.queue_id(name.as_str()).is_some())
                {
                    return Err("two queues have one name");
                }
                self.seqs.push(Seq::default());
            }
            StoreRow::KeptKey { queue, kept, key } => {
                let place = (*queue, kept.place());
                if self.key.is_some_and(|before| before >= place) {
                    return Err("the kept keys of a queue are not in order");
                }
                let queue =
                    self.state.as_ref().and_then(|state| state.queues.get(queue.0 as usize));
                let queue = queue.ok_or("a kept key is in an unknown queue")?;
                if queue.kept_keys.get(key.as_str()).is_some() {
                    return Err("a key is kept twice");
                }
                self.key = Some(place);
            }
            StoreRow::Task(task) => {
                let state = self.state.as_ref().ok_or("its head is missing")?;
                if state.newest_task().is_some_and(|newest| newest.id >= task.id) {
                    return Err("tasks are not in id order");
                }
                if task.id > self.counters.task_id {
                    return Err("a task is above the last id given out");
                }
                let queue = task.queue.0 as usize;
                let known = state.queues.get(queue).ok_or("a task is in an unknown queue")?;
                // Ids and sequence numbers are given out together.
                let newest = std::mem::replace(&mut self.seqs[queue], task.spec.seq);
                if task.spec.seq > known.last_seq || task.spec.seq <= newest {
                    return Err("a sequence number was not given out, or twice");
                }
            }
            StoreRow::Lease { name, .. }
            | StoreRow::Value { key: name, .. }
            | StoreRow::Schedule { name, .. } => {
                if self.name.as_ref().is_some_and(|before| before >= name) {
                    return Err("names are not in order");
                }
                self.name = Some(name.clone());
            }
            StoreRow::End { rows } => {
                if *rows + 1 != self.rows {
                    return Err("rows are missing");
                }
                self.is_over = true;
            }
        }
        Ok(())
    }
}

fn kind_of(row: &StoreRow) -> u8 {
    match row {
        StoreRow::Queue { .. } => 0,
        StoreRow::KeptKey { .. } => 1,
        StoreRow::Task(_) => 2,
        StoreRow::Lease { .. } => 3,
        StoreRow::Value { .. } => 4,
        StoreRow::Schedule { .. } => 5,
        StoreRow::End { .. } => 6,
    }
}
