//! Waiting and running tasks that are not worth running later, by that instant.

use super::At;
use crate::id::{Instant, SAFE_MAX, Seq};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExpiryKey {
    pub expires_at: Instant,
    pub seq: Seq,
}

impl ExpiryKey {
    pub fn last(expires_at: Instant) -> Self {
        Self { expires_at, seq: Seq::saturating(SAFE_MAX) }
    }
}

pub fn key(At(task, now): At<'_>) -> Option<ExpiryKey> {
    let expires_at = task.row.expires_at;
    let expires = task.is_active() && now < expires_at && expires_at < Instant::NEVER;
    expires.then_some(ExpiryKey { expires_at, seq: task.spec.seq })
}
