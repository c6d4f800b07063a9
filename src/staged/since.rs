//! What the running command has written, and what it found.

use super::{Savepoint, Staged, StagedValue, Undo};
use crate::id::{QueueId, TaskId};
use crate::task::Task;

impl Staged {
    /// The version a key had before the running command: what its checks compare with.
    pub fn value_before(&self, key: &str, since: Savepoint) -> Option<Option<&StagedValue>> {
        self.undo[since.undo..].iter().find_map(|step| match step {
            Undo::Value(written, before) if written.as_str() == key => Some(before.as_ref()),
            _ => None,
        })
    }

    /// Whether the running command has kept the key of a task that it completed.
    pub fn has_kept(&self, queue: QueueId, key: &str, since: Savepoint) -> bool {
        let is_it = |step: &Undo| match step {
            Undo::KeptKey(of, kept, _) => *of == queue && kept.as_str() == key,
            _ => false,
        };
        self.kept_key(queue, key).is_some() && self.undo[since.undo..].iter().any(is_it)
    }

    /// The staged row of a task before the running command, which has written it: `None` when it
    /// has not; inside, `None` says: ask the state.
    pub fn task_before(&self, id: TaskId, since: Savepoint) -> Option<Option<Option<&Task>>> {
        let place = self.tasks.place_of(id)?;
        self.undo[since.undo..].iter().find_map(|step| match step {
            Undo::Task(written, before) if *written == place => {
                Some(before.as_ref().map(|staged| staged.row.as_ref()))
            }
            _ => None,
        })
    }
}
