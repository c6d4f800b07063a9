//! What was merged since somebody asked: for hosts that wake only those whom a commit concerns.
//!
//! **Invariant:** nothing is left out. What is too much to tell is told as everything.
//!
//! **Cost:** nothing until somebody asks for the first time; bounded afterwards.

use crate::change::Change;
use crate::id::{QueueId, TaskId};
use crate::limits::TOUCHED_MAX;
use crate::name::Name;
use crate::state::State;

/// Queues whose tasks or pause changed, tasks that changed, and leases.
#[derive(Debug, Default)]
pub struct Touched {
    is_wanted: bool,
    pub everything: bool,
    pub queues: Vec<QueueId>,
    pub leases: Vec<Name>,
    pub tasks: Vec<TaskId>,
}

impl Touched {
    pub fn note(&mut self, state: &State, change: &Change) {
        if !self.is_wanted || self.everything {
            return;
        }
        match change {
            Change::Founded { .. } | Change::Restoring { .. } | Change::ClockRepaired => {
                self.note_everything()
            }
            Change::QueuePaused { queue, .. } | Change::TaskCreated { queue, .. } => {
                self.note_queue(*queue);
            }
            Change::TaskChanged { id, .. }
            | Change::TaskResult { id, .. }
            | Change::TaskRemoved { id, .. } => {
                self.tasks.push(*id);
                if let Some(task) = state.task(*id) {
                    self.note_queue(task.queue);
                }
            }
            Change::LeasePut { name, .. } | Change::LeaseRemoved { name } => {
                self.leases.push(name.clone());
            }
            Change::QueueCreated { .. }
            | Change::TaskProgress { .. }
            | Change::TaskError { .. }
            | Change::KeyKept { .. }
            | Change::KeyFreed { .. }
            | Change::ValuePut { .. }
            | Change::ValueDeleted { .. }
            | Change::SchedulePut { .. }
            | Change::ScheduleMoved { .. }
            | Change::ScheduleRemoved { .. } => {}
        }
        if self.queues.len() + self.leases.len() + self.tasks.len() > TOUCHED_MAX {
            self.note_everything();
        }
    }

    fn note_queue(&mut self, queue: QueueId) {
        if self.queues.last() != Some(&queue) {
            self.queues.push(queue);
        }
    }

    pub fn note_everything(&mut self) {
        *self = Self { is_wanted: self.is_wanted, everything: true, ..Self::default() };
    }

    /// What was touched since the call before; since the first, everything.
    pub fn take(&mut self) -> Self {
        let wanted = Self { is_wanted: true, ..Self::default() };
        let mut taken = std::mem::replace(self, wanted);
        taken.everything |= !taken.is_wanted;
        taken
    }
}
