//! Expired tasks, and lapsed ones without attempts left: the next claim or sweep buries them.
//!
//! They stand apart from `ready`, so that a claim never walks over rows it may not serve.

use super::At;
use crate::id::Seq;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DoomedKey {
    pub seq: Seq,
}

pub fn key(At(task, now): At<'_>) -> Option<DoomedKey> {
    task.doom(now).map(|_| DoomedKey { seq: task.spec.seq })
}
