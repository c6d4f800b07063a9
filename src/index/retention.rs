//! Done and dead tasks, by the end of their retention.

use super::At;
use crate::id::{Instant, Millis};
use crate::place::Place;

/// Before what is still seen at `horizon`.
pub fn beyond(horizon: Instant) -> Place {
    Place::first(horizon.after(Millis::saturating(1)))
}

/// Rows past their retention stay in the index until they are purged, whatever the horizon.
pub fn place(At(task, _): At<'_>) -> Option<Place> {
    let gone_at = task.gone_at();
    (gone_at < Instant::NEVER).then(|| Place::at(gone_at, task.spec.seq))
}
