//! Running claims, by deadline.

use super::At;
use crate::id::{Instant, Millis};
use crate::place::Place;
use crate::task::TaskState;

/// The owner holds it at the very deadline; the millisecond after, it is lost.
pub fn lapses_at(place: Place) -> Instant {
    place.at.after(Millis::saturating(1))
}

pub fn place(At(task, now): At<'_>) -> Option<Place> {
    match &task.row.state {
        TaskState::Inflight(claim) if claim.deadline >= now => {
            Some(Place::at(claim.deadline, task.spec.seq))
        }
        _ => None,
    }
}
