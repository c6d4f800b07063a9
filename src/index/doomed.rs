//! Expired tasks, and lapsed ones without attempts left: the next claim or sweep buries them.
//!
//! They stand apart from `ready`, so that a claim never walks over rows it may not serve.

use super::At;
use crate::id::Instant;
use crate::place::Place;

/// In the order of their enqueues.
pub fn place(At(task, now): At<'_>) -> Option<Place> {
    task.doom(now).map(|_| Place::at(Instant::default(), task.spec.seq))
}
