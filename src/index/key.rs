//! Which task of the queue takes an idempotency key.
//!
//! Keys that outlive their completed task are rows of their own (`KeptKey`), not part of this
//! index.

use super::At;
use crate::name::Name;

pub fn key(At(task, _): At<'_>) -> Option<&Name> {
    task.held_key()
}
