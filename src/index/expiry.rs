//! Waiting and running tasks that are not worth running later, by that instant.

use super::At;
use crate::id::Instant;
use crate::place::Place;

pub fn place(At(task, now): At<'_>) -> Option<Place> {
    let expires_at = task.row.expires_at;
    let expires = task.is_active() && now < expires_at && expires_at < Instant::NEVER;
    expires.then(|| Place::at(expires_at, task.spec.seq))
}
