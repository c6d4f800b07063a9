//! The staged tasks: where each lies, by its id.

use super::Row;
use crate::id::{QueueId, TaskId};
use crate::task::Task;
use std::collections::BTreeMap;

/// Up to so many are looked through; most entries hold one or two, and a tree costs an allocation.
const SCANNED_MAX: usize = 8;

#[derive(Clone, Debug)]
pub struct StagedTask {
    pub id: TaskId,
    pub queue: QueueId,
    pub row: Row<Task>,
    pub indexed: bool,
}

/// **Invariant:** `places` holds every task, or none while they are few.
#[derive(Debug, Default)]
pub struct StagedTasks {
    tasks: Vec<StagedTask>,
    places: BTreeMap<TaskId, u32>,
}

impl StagedTasks {
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    pub fn place_of(&self, id: TaskId) -> Option<u32> {
        if self.tasks.len() > SCANNED_MAX {
            return self.places.get(&id).copied();
        }
        self.tasks.iter().position(|staged| staged.id == id).map(|place| place as u32)
    }

    pub fn of(&self, id: TaskId) -> Option<&StagedTask> {
        self.place_of(id).map(|place| self.at(place))
    }

    pub fn at(&self, place: u32) -> &StagedTask {
        &self.tasks[place as usize]
    }

    pub fn at_mut(&mut self, place: u32) -> &mut StagedTask {
        &mut self.tasks[place as usize]
    }

    pub fn get_mut(&mut self, place: u32) -> Option<&mut StagedTask> {
        self.tasks.get_mut(place as usize)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut StagedTask> {
        self.tasks.iter_mut()
    }

    /// Behind the others; answers where.
    pub fn push(&mut self, staged: StagedTask) -> u32 {
        let place = self.tasks.len() as u32;
        let id = staged.id;
        self.tasks.push(staged);
        if self.tasks.len() == SCANNED_MAX + 1 {
            for (staged, place) in self.tasks.iter().zip(0..) {
                self.places.insert(staged.id, place);
            }
        } else if self.tasks.len() > SCANNED_MAX {
            self.places.insert(id, place);
        }
        place
    }

    /// Takes the last one back.
    pub fn pop(&mut self) {
        let staged = self.tasks.pop().expect("it was pushed");
        if self.tasks.len() > SCANNED_MAX {
            self.places.remove(&staged.id);
        } else {
            self.places.clear();
        }
    }

    pub fn clear(&mut self) {
        self.tasks.clear();
        self.places.clear();
    }
}
