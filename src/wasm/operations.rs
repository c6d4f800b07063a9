//! The table of operations. `pkg/src/operations.ts` is the same list; a test compares them.

use super::call::{Fault, Run};
use super::{events, inspect, lease, log, queue, schedule, transaction, value};

macro_rules! operations {
    ($($number:literal $name:ident $run:path,)*) => {
        /// What can be asked for over the border.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Operation { $($name = $number,)* }

        /// The operation with a number.
        pub fn number(number: u32) -> Result<Run, Fault> {
            Ok(match number {
                $($number => $run,)*
                _ => return Err(unknown(number)),
            })
        }
    };
}

operations! {
    0 Start log::start,
    1 CheckName inspect::check_name,
    2 AddCaller inspect::add_caller,
    3 RemoveCaller inspect::remove_caller,

    4 QueueEnqueue queue::enqueue,
    5 QueueEnqueueMany queue::enqueue_many,
    6 QueueClaim queue::claim,
    7 QueueComplete queue::complete,
    8 QueueCompleteMany queue::complete_many,
    9 QueueFail queue::fail,
    10 QueueHeartbeat queue::heartbeat,
    11 QueueRelease queue::release,
    12 QueueAbandon queue::abandon,
    13 QueueCancel queue::cancel,
    14 QueueSweep queue::sweep,
    15 QueueRedrive queue::redrive,
    16 QueuePurge queue::purge,
    17 QueuePause queue::pause,
    18 QueueGet inspect::task,
    19 QueueList inspect::tasks,
    20 QueueCounts inspect::counts,
    21 QueueNextDue inspect::next_due_of,
    22 QueueExplain inspect::explain,
    23 RemovalOf inspect::removal_of,
    24 Queues inspect::queues,

    25 LeaseAcquire lease::acquire,
    26 LeaseRenew lease::renew,
    27 LeaseRelease lease::release,
    28 LeaseGuardedCommit lease::guarded_commit,
    29 LeaseStatus inspect::lease,
    30 LeaseList inspect::leases,

    31 KvPut value::put,
    32 KvDelete value::delete,
    33 KvGet inspect::value,
    34 KvList inspect::values,

    35 SchedulePut schedule::put,
    36 ScheduleRemove schedule::remove,
    37 ScheduleGet schedule::get,
    38 ScheduleList schedule::list,
    39 CronList schedule::crons,
    40 NextCron schedule::next_cron,
    41 FireDue schedule::fire_due,
    42 FireCron schedule::fire_cron,
    43 RepairClock schedule::repair_clock,

    44 TxBegin transaction::begin,
    45 TxCommit transaction::commit,
    46 TxAbort transaction::abort,
    47 TxRequireClaim transaction::require_claim,
    48 TxRequireLease transaction::require_lease,
    49 TxCheck transaction::check,
    50 TxGet transaction::task,
    51 TxKvGet transaction::value,
    52 TxKvList transaction::values,

    53 Found log::found,
    54 FoundRestoring log::found_restoring,
    55 TakeEntry log::take_entry,
    56 MergeSealed log::merge_sealed,
    57 Merge log::merge,
    58 Discard log::discard,
    59 SnapshotBegin log::snapshot_begin,
    60 RestoreBegin log::restore_begin,
    61 Maintain log::maintain,
    62 Head log::head,
    63 NextDue log::next_due,
    64 Holds log::holds,
    65 RowsHash log::rows_hash,
    66 Verify inspect::verify,

    67 RecordEvents events::record,
    68 StopRecording events::stop,
    69 Events events::recorded,
    70 ForgetEvents events::forget,

    71 QueueOf inspect::queue_of,
    72 Touched events::touched,
    73 QueueMayWork inspect::may_work,
    74 Reclaim log::reclaim,
    75 NewestToken log::newest_token,
    76 QueueByKey inspect::task_by_key,
    77 QueuePromote queue::promote,
    78 QueueReschedule queue::reschedule,

    80 SnapshotPart log::snapshot_part,
    81 SnapshotEnd log::snapshot_end,
    82 RestorePart log::restore_part,
    83 RestoreEnd log::restore_end,
    84 Adopt log::adopt,
    85 Usage inspect::usage,
}

fn unknown(number: u32) -> Fault {
    let expected = "the number of an operation";
    Fault::Number { argument: "operation", expected, number: f64::from(number) }
}
