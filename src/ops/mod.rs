//! The operations: request in, rows staged, reply out. One file each.
//!
//! **Invariant:** everything is checked before the first row is staged, in this order: the
//! arguments, the caller's rights, the guards. An operation never reads a clock; `txn.now` is the
//! time.

mod abandon;
mod cancel;
mod claim;
mod complete;
mod enqueue;
mod fail;
mod heartbeat;
mod lease;
mod maintain;
mod page;
mod pause;
mod promote;
mod purge;
pub mod read;
mod reclaim;
mod redrive;
mod release;
mod require;
mod schedule;
mod sweep;
mod text;
pub mod transactional;
mod value;
mod write;

pub use abandon::abandon;
pub use cancel::cancel;
pub use claim::{ClaimRequest, Claimed, claim};
pub use complete::{Completed, Completion, complete, complete_many};
pub use enqueue::{Enqueue, Enqueued, EnqueuedPhase, enqueue, enqueue_many};
pub use fail::{Failed, Failure, fail};
pub use heartbeat::{Heartbeat, heartbeat};
pub use lease::{Acquire, Acquired, Renew, acquire, guarded_commit, release_lease, renew};
pub use maintain::{found, found_restoring, maintain, repair_clock};
pub use page::Page;
pub use pause::set_paused;
pub use promote::{promote, reschedule};
pub use purge::{Purge, Purged, purge};
pub use reclaim::{Reclaimed, reclaim};
pub use redrive::{Redrive, Redriven, redrive};
pub use release::release;
pub use require::{Guard, require};
pub use schedule::{Fired, ScheduleRequest, fire_cron, fire_due, schedule, unschedule};
pub use sweep::{Swept, sweep};
pub use value::{delete_value, put_value};
pub use write::Write;

use crate::id::TaskId;
use crate::id::Token;
use crate::name::NameRef;

/// Names a claim: which task, and the token that says whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct ClaimRef<'a> {
    pub queue: NameRef<'a>,
    pub id: TaskId,
    pub token: Token,
}
