//! Whether an entry or a snapshot fits, before anything is merged.
//!
//! A checksum says that bytes are what somebody wrote, not that they make sense here. What passes
//! these checks can be merged without failing.

use crate::change::{Body, Change, Counters, Entry, QueueRow, Rows};
use crate::codec::Snapshot;
use crate::error::Error;
use crate::id::{QueueId, Seq, TaskId, Token};
use crate::name::Name;
use crate::place::Place;
use crate::state::State;
use crate::table::Table;
use std::collections::BTreeMap;

/// Whether the entry is the next one of the log that the state knows.
///
/// # Errors
/// `LOG_REPLACED`, `JOURNAL_CORRUPT`.
pub fn require_next(state: &State, entry: &Entry) -> Result<(), Error> {
    let head = &state.head;
    let founded = head.store.is_some();
    if founded && entry.log_id != head.log_id {
        let (expected, found) = (hex(&head.log_id), hex(&entry.log_id));
        return Err(Error::LogReplaced { expected, found });
    }
    if Some(entry.slot) != head.slot.next() {
        let problem = format!("slot {} follows on slot {}", entry.slot, head.slot);
        return Err(Error::corrupt(problem));
    }
    if entry.previous != head.hash {
        let problem = format!("slot {} does not continue the entry before it", entry.slot);
        return Err(Error::corrupt(problem));
    }
    if head.is_restoring {
        return Err(unfinished());
    }
    let founds = matches!(
        entry.body.changes.first(),
        Some(Change::Founded { .. } | Change::Restoring { .. })
    );
    if founded == founds {
        return Err(Error::corrupt(format!(
            "slot {} founds the log at the wrong place",
            entry.slot
        )));
    }
    require_fitting(state, entry)
        .map_err(|problem| Error::corrupt(format!("slot {}: {problem}", entry.slot)))
}

/// The log is founded on a snapshot, and the journal does not have it yet.
pub fn unfinished() -> Error {
    Error::corrupt("the restore of a backup did not end: open it with `restore` again")
}

/// Whether time, counters and commands go on from the state's.
fn require_head(state: &State, body: &Body) -> Result<(), &'static str> {
    let repaired = body.repairs_clock();
    if body.time < state.head.time && !repaired {
        return Err("time runs backwards");
    }
    if body.counters.task_id < state.counters.task_id || body.counters.token < state.counters.token
    {
        return Err("counters run backwards");
    }
    let ends_rise = body.command_ends.is_sorted_by(|one, other| one < other);
    if !ends_rise || body.command_ends.last().map_or(0, |end| *end as usize) != body.changes.len() {
        return Err("commands do not cover the changes");
    }
    Ok(())
}

/// Whether every row of the entry has what it refers to.
fn require_fitting<'a>(state: &'a State, entry: &'a Entry) -> Result<(), &'static str> {
    let body = &entry.body;
    require_head(state, body)?;
    let mut fit = Fit::on(state);
    let mut names = Table::default();
    for (position, change) in body.changes.iter().enumerate() {
        match change {
            Change::Founded { rows, .. } => {
                if position > 0 {
                    return Err("the log is founded in the middle");
                }
                if let Some(rows) = rows {
                    require_sound_rows(rows, body.counters)?;
                    if body.changes.len() > 1 {
                        return Err("a log founded on rows changes them in the same entry");
                    }
                }
            }
            Change::Restoring { .. } => {
                if position > 0 || body.changes.len() > 1 {
                    return Err("a log founded on a snapshot changes rows in the same entry");
                }
            }
            Change::QueueCreated { queue, name } => {
                let known = state.queue_id(name.as_str()).is_some()
                    || names.insert(name.clone(), ()).is_some();
                if known || queue.0 as usize != fit.queues {
                    return Err("a queue is created twice");
                }
                fit.queues += 1;
            }
            Change::QueuePaused { queue, .. }
            | Change::KeyKept { queue, .. }
            | Change::KeyFreed { queue, .. } => fit.require_queue(*queue)?,
            Change::TaskCreated { id, queue, spec, .. } => fit.create(*id, *queue, spec.seq)?,
            Change::TaskChanged { id, .. }
            | Change::TaskProgress { id, .. }
            | Change::TaskError { id, .. }
            | Change::TaskResult { id, .. } => fit.require_task(*id)?,
            Change::TaskRemoved { id, .. } => fit.remove(*id, position)?,
            Change::SchedulePut { name, .. } => fit.put_schedule(name),
            Change::ScheduleMoved { name, .. } => fit.require_schedule(name)?,
            Change::ScheduleRemoved { name } => fit.remove_schedule(name)?,
            Change::LeasePut { name, row } => fit.put_lease(name, row.token)?,
            Change::LeaseRemoved { .. }
            | Change::ValuePut { .. }
            | Change::ValueDeleted { .. }
            | Change::ClockRepaired => {}
        }
    }
    if fit.last_id > body.counters.task_id {
        return Err("a task is above the last id given out");
    }
    match fit.last_token <= body.counters.token {
        true => Ok(()),
        false => Err("a lease is above the last token given out"),
    }
}

/// The tasks and queues as the entry leaves them so far.
struct Fit<'a> {
    state: &'a State,
    /// Rising.
    created: Vec<(TaskId, Seq)>,
    /// By which change of the entry.
    removed: BTreeMap<TaskId, u32>,
    queues: usize,
    last_id: TaskId,
    /// The newest task created in each queue.
    newest: BTreeMap<Place, TaskId>,
    /// Whether a schedule is there after the entry so far.
    schedules: Table<bool>,
    /// The tokens of the leases that the entry puts.
    leases: Table<Token>,
    last_token: Token,
}

impl<'a> Fit<'a> {
    fn on(state: &'a State) -> Self {
        Self {
            state,
            created: Vec::new(),
            removed: BTreeMap::new(),
            queues: state.queues.len(),
            last_id: state.counters.task_id,
            newest: BTreeMap::new(),
            schedules: Table::default(),
            leases: Table::default(),
            last_token: state.counters.token,
        }
    }

    fn require_queue(&self, queue: QueueId) -> Result<(), &'static str> {
        match (queue.0 as usize) < self.queues {
            true => Ok(()),
            false => Err("an unknown queue is named"),
        }
    }

    fn require_task(&self, id: TaskId) -> Result<(), &'static str> {
        let known = self.created(id).is_some() || self.state.task(id).is_some();
        match known && !self.removed.contains_key(&id) {
            true => Ok(()),
            false => Err("an unknown task is named"),
        }
    }

    /// Ids and sequence numbers rise: a number given out again would stand twice in an index.
    fn create(&mut self, id: TaskId, queue: QueueId, seq: Seq) -> Result<(), &'static str> {
        self.require_queue(queue)?;
        if id <= self.last_id || seq <= self.last_seq(queue) {
            return Err("a task is created twice");
        }
        self.newest.insert(Place::in_queue(queue, Seq::default()), id);
        self.last_id = id;
        self.created.push((id, seq));
        Ok(())
    }

    fn last_seq(&self, queue: QueueId) -> Seq {
        let newest = self.newest.get(&Place::in_queue(queue, Seq::default()));
        let created = newest.and_then(|id| self.created(*id));
        let merged = self.state.queues.get(queue.0 as usize).map(|queue| queue.last_seq);
        created.or(merged).unwrap_or_default()
    }

    fn created(&self, id: TaskId) -> Option<Seq> {
        let position = self.created.binary_search_by_key(&id, |(id, _)| *id);
        position.ok().map(|position| self.created[position].1)
    }

    /// A lease keeps its token or has a new one: no two ever had the same.
    fn put_lease(&mut self, name: &Name, token: Token) -> Result<(), &'static str> {
        let merged = || self.state.leases.get(name.as_str()).map(|row| row.token);
        if self.leases.get(name.as_str()).copied().or_else(merged) == Some(token) {
            return Ok(());
        }
        if token <= self.last_token {
            return Err("a token is given out twice");
        }
        self.last_token = token;
        self.leases.insert(name.clone(), token);
        Ok(())
    }

    fn put_schedule(&mut self, name: &Name) {
        self.schedules.insert(name.clone(), true);
    }

    fn require_schedule(&self, name: &Name) -> Result<(), &'static str> {
        let merged = || self.state.timetable.get(name.as_str()).is_some();
        match self.schedules.get(name.as_str()).copied().unwrap_or_else(merged) {
            true => Ok(()),
            false => Err("an unknown schedule is named"),
        }
    }

    fn remove_schedule(&mut self, name: &Name) -> Result<(), &'static str> {
        self.require_schedule(name)?;
        self.schedules.insert(name.clone(), false);
        Ok(())
    }

    fn remove(&mut self, id: TaskId, position: usize) -> Result<(), &'static str> {
        self.require_task(id)?;
        self.removed.insert(id, position as u32);
        Ok(())
    }
}

/// Whether a snapshot's rows fit each other.
///
/// # Errors
/// `JOURNAL_CORRUPT`.
pub fn require_sound(snapshot: &Snapshot) -> Result<(), Error> {
    let problem = |problem| Error::corrupt(format!("snapshot: {problem}"));
    if snapshot.head.store.is_none() {
        return Err(problem("it belongs to no store"));
    }
    if !snapshot.replicas.is_sound() {
        return Err(problem("its replicas are not in order"));
    }
    require_sound_rows(&snapshot.rows, snapshot.counters).map_err(problem)
}

fn require_sound_rows(rows: &Rows, counters: Counters) -> Result<(), &'static str> {
    let mut names = Table::default();
    if rows.queues.iter().any(|queue| names.insert(queue.name.clone(), ()).is_some()) {
        return Err("two queues have one name");
    }
    let is_kept_in_order = |queue: &QueueRow| {
        queue.kept_keys.is_sorted_by(|(_, one), (_, other)| one.place() < other.place())
    };
    if !rows.queues.iter().all(is_kept_in_order) {
        return Err("the kept keys of a queue are not in order");
    }
    if !rows.tasks.is_sorted_by(|one, other| one.id < other.id) {
        return Err("tasks are not in id order");
    }
    if rows.tasks.last().is_some_and(|task| task.id > counters.task_id) {
        return Err("a task is above the last id given out");
    }
    let mut tokens: Vec<_> = rows.leases.iter().map(|(_, row)| row.token).collect();
    tokens.sort_unstable();
    if tokens.last().is_some_and(|last| *last > counters.token)
        || !tokens.is_sorted_by(|one, other| one < other)
    {
        return Err("a token was not given out, or twice");
    }
    let mut seqs = BTreeMap::new();
    for task in &rows.tasks {
        let Some(queue) = rows.queues.get(task.queue.0 as usize) else {
            return Err("a task is in an unknown queue");
        };
        let place = Place::in_queue(task.queue, task.spec.seq);
        if task.spec.seq > queue.last_seq || seqs.insert(place, task.id).is_some() {
            return Err("a sequence number was not given out, or twice");
        }
    }
    Ok(())
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
