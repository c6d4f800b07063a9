//! Done and dead tasks, by the end of their retention.

use super::At;
use crate::id::{Instant, Millis, SAFE_MAX, Seq};
use std::ops::RangeFrom;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetentionKey {
    pub gone_at: Instant,
    pub seq: Seq,
}

impl RetentionKey {
    /// What is still seen at `horizon`.
    pub fn beyond(horizon: Instant) -> RangeFrom<Self> {
        Self { gone_at: horizon.after(Millis::saturating(1)), seq: Seq::default() }..
    }

    pub fn last(gone_at: Instant) -> Self {
        Self { gone_at, seq: Seq::saturating(SAFE_MAX) }
    }
}

/// Rows past their retention stay in the index until they are purged, whatever the horizon.
pub fn key(At(task, _): At<'_>) -> Option<RetentionKey> {
    let gone_at = task.gone_at();
    (gone_at < Instant::NEVER).then_some(RetentionKey { gone_at, seq: task.spec.seq })
}
