//! From what the random operations of the model test are made: few names, so that they collide, and
//! durations around the same boundaries.

use super::model::schedules::Came;
use super::model::{Model, NEVER, Stamps, State};
use super::operation::{
    ClaimWish, GridWish, GuardWish, Operation, ScheduleWish, TaskWish, WriteWish,
};
use fencepost::backoff::Jitter;
use fencepost::schedule::CatchUp;
use proptest::prelude::*;
use proptest::sample::select;

pub const QUEUES: [&str; 3] = ["mail", "mailbox", "post"];
pub const OWNERS: [&str; 3] = ["u", "v", "w"];
pub const KEYS: [&str; 2] = ["k", "l"];
/// In name order.
pub const LEASES: [&str; 2] = ["leader", "monitor"];
/// In key order.
pub const VALUES: [&str; 3] = ["a", "ab", "b"];
/// In name order.
pub const SCHEDULES: [&str; 3] = ["daily", "report", "tick"];
pub const TEXTS: [&str; 4] = ["", "one", "two", "three"];

/// What to do next; ids, tokens and versions are chosen when the state is known.
#[derive(Clone, Debug)]
pub struct Step {
    /// How the clock moves before.
    pub wait: i64,
    pub action: Action,
    /// What becomes of the entry afterwards.
    pub after: After,
    /// Reads look so far ahead before they look at the present.
    pub glance: u64,
}

#[derive(Clone, Debug)]
pub enum Action {
    One(Draft),
    Transaction {
        drafts: Vec<Draft>,
        commits: bool,
    },
    /// Only on an empty entry.
    RepairClock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The next command joins the entry.
    Open,
    Commit,
    /// Thrown away, decided again, committed.
    DecideAgain,
    /// Committed; the other replica decides next.
    Pass,
    /// Committed; the replica is restored from its snapshot.
    Restart,
}

/// An operation whose choices are made by a few numbers when the state is known.
#[derive(Clone, Debug)]
pub struct Draft {
    pub operation: Operation,
    pub task: u8,
    pub token: u8,
    pub version: u8,
}

/// Puts the state's ids, tokens and versions into the operation.
impl Draft {
    pub fn resolve(&self, model: &Model) -> Operation {
        let mut operation = self.operation.clone();
        match &mut operation {
            Operation::Complete { claim, writes, .. } | Operation::Fail { claim, writes, .. } => {
                self.resolve_claim(claim, 0, model);
                self.resolve_writes(writes, model);
            }
            Operation::Heartbeat { claim, .. }
            | Operation::Release(claim, _)
            | Operation::Abandon(claim)
            | Operation::Require(GuardWish::Claim(claim)) => self.resolve_claim(claim, 0, model),
            Operation::CompleteMany(claims) => {
                for (position, claim) in claims.iter_mut().enumerate() {
                    self.resolve_claim(claim, position as u8, model);
                }
            }
            Operation::Cancel { queue, id } | Operation::Reschedule { queue, id, .. } => {
                let mut claim = ClaimWish { queue, id: *id, token: 0 };
                self.resolve_claim(&mut claim, 0, model);
                (*queue, *id) = (claim.queue, claim.id);
            }
            Operation::Redrive { ids: Some(ids), .. }
            | Operation::Purge { ids: Some(ids), .. }
            | Operation::Promote { ids, .. } => {
                ids.iter_mut().for_each(|id| *id = model.last_id.saturating_sub(*id));
            }
            Operation::Renew { name, token, .. }
            | Operation::GiveBack { name, token }
            | Operation::Require(GuardWish::Lease(name, token)) => *token = self.lease(name, model),
            Operation::Guard { name, token, writes } => {
                *token = self.lease(name, model);
                self.resolve_writes(writes, model);
            }
            Operation::Reclaim { since } => *since = model.last_token.saturating_sub(*since),
            Operation::Enqueue(wish) => self.resolve_writes(&mut wish.writes, model),
            Operation::EnqueueMany(wishes) => {
                wishes.iter_mut().for_each(|wish| self.resolve_writes(&mut wish.writes, model));
            }
            Operation::Require(GuardWish::Version(key, version)) => {
                *version = self.version(key, model);
            }
            Operation::Schedule { grid: GridWish::Cron { step, first }, .. } => {
                *first = model.now + 1 + u64::from(self.task) % *step;
            }
            Operation::FireCron { name, came } => *came = self.came(name, model),
            _ => {}
        }
        operation
    }

    /// Mostly a task in flight with its token; sometimes another task, token or queue.
    fn resolve_claim(&self, claim: &mut ClaimWish, shift: u8, model: &Model) {
        let choice = usize::from(self.task.wrapping_add(shift));
        let held = |task: &&super::model::Task| matches!(task.state, State::Inflight { .. });
        let held: Vec<_> = model.tasks.iter().filter(held).collect();
        let task = match choice % 8 {
            0 => model.tasks.get(choice / 8 % model.tasks.len().max(1)),
            _ => held.get(choice / 8 % held.len().max(1)).copied(),
        };
        let Some(task) = task else {
            claim.id = model.last_id.saturating_sub(choice as u64 % 4);
            claim.token = model.last_token;
            return;
        };
        claim.id = task.id;
        if choice % 16 != 15 {
            claim.queue = task.queue;
        }
        let State::Inflight { token, .. } = task.state else {
            claim.token = model.last_token;
            return;
        };
        claim.token = self.bent(token);
    }

    /// Mostly the number itself.
    fn bent(&self, token: u64) -> u64 {
        match self.token % 12 {
            0 => token - 1,
            1 => token + 1,
            2 => 0,
            _ => token,
        }
    }

    /// Mostly what has come; else boundaries that the schedule does not wait for.
    fn came(&self, name: &str, model: &Model) -> Came {
        let schedule = model.schedules.iter().find(|schedule| schedule.name == name);
        let came = schedule.and_then(|schedule| schedule.came(model.now));
        match came {
            Some(came) if !self.token.is_multiple_of(6) => came,
            _ => Came { oldest: vec![model.now - 1], newest: model.now, next: None },
        }
    }

    fn lease(&self, name: &str, model: &Model) -> u64 {
        let lease = model.leases.iter().find(|lease| lease.name == name);
        self.bent(lease.map_or(model.last_token, |lease| lease.token))
    }

    fn resolve_writes(&self, writes: &mut [WriteWish], model: &Model) {
        for write in writes {
            if let WriteWish::Check(key, version) = write {
                *version = self.version(key, model);
            }
        }
    }

    fn version(&self, key: &str, model: &Model) -> Option<u64> {
        let value = model.values.iter().find(|value| value.key == key);
        let version = value.map(|value| value.version);
        match self.version % 6 {
            0 => None,
            1 => Some(version.unwrap_or(model.version).saturating_sub(1)),
            _ => version,
        }
    }
}

pub fn step() -> impl Strategy<Value = Step> {
    let wait = select(vec![
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 4, 5, 5, 6, 9, 10, 10, 11, 20, 50, 1_000, 86_400_000, -5,
        -1_000,
    ]);
    let action = prop_oneof![
        24 => draft(operation()).prop_map(Action::One),
        2 => (prop::collection::vec(draft(transactional()), 0..5), prop::bool::weighted(0.7))
            .prop_map(|(drafts, commits)| Action::Transaction { drafts, commits }),
        1 => Just(Action::RepairClock),
    ];
    let after = prop_oneof![
        5 => Just(After::Open),
        5 => Just(After::Commit),
        1 => Just(After::DecideAgain),
        1 => Just(After::Pass),
        1 => Just(After::Restart),
    ];
    let glance = select(vec![0, 0, 0, 1, 5, 11, 100, 86_400_000]);
    (wait, action, after, glance).prop_map(|(wait, action, after, glance)| Step {
        wait,
        action,
        after,
        glance,
    })
}

fn draft(operation: impl Strategy<Value = Operation>) -> impl Strategy<Value = Draft> {
    (operation, any::<u8>(), any::<u8>(), any::<u8>())
        .prop_map(|(operation, task, token, version)| Draft { operation, task, token, version })
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        10 => task_wish().prop_map(Operation::Enqueue),
        1 => prop::collection::vec(task_wish(), 0..4).prop_map(Operation::EnqueueMany),
        10 => taking(),
        6 => settling(),
        6 => managing(),
        6 => on_leases(),
        3 => on_values(),
        5 => on_schedules(),
    ]
}

fn taking() -> impl Strategy<Value = Operation> {
    let lease = maybe(vec![0, 5, 10, NEVER]);
    (select(&QUEUES[..]), select(&OWNERS[..]), 0..4_usize, lease)
        .prop_map(|(queue, owner, max, lease)| Operation::Claim { queue, owner, max, lease })
}

/// What may stand in a transaction. The package lets nobody claim there, the engine does.
fn transactional() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => task_wish().prop_map(Operation::Enqueue),
        2 => taking(),
        4 => settling(),
        1 => select(&QUEUES[..]).prop_map(|queue| Operation::Cancel { queue, id: 0 }),
        2 => on_leases(),
        4 => on_values(),
    ]
}

fn settling() -> impl Strategy<Value = Operation> {
    let claim = || select(&QUEUES[..]).prop_map(|queue| ClaimWish { queue, id: 0, token: 0 });
    let follow_ups = prop::collection::vec(follow_up(), 0..3);
    let complete = |(claim, result, follow_ups, writes)| Operation::Complete {
        claim,
        result,
        follow_ups,
        writes,
    };
    prop_oneof![
        4 => (claim(), text(), follow_ups, writes()).prop_map(complete),
        1 => prop::collection::vec(claim(), 0..4).prop_map(Operation::CompleteMany),
        4 => (claim(), text(), maybe(vec![0, 1, 5, 10]), prop::bool::weighted(0.2), writes())
            .prop_map(|(claim, text, delay, is_final, writes)| {
                Operation::Fail { claim, text, delay, is_final, writes }
            }),
        3 => (claim(), maybe(vec![0, 1, 5, 10]), text())
            .prop_map(|(claim, extend, progress)| Operation::Heartbeat { claim, extend, progress }),
        2 => (claim(), maybe(vec![0, 1, 5, 10]))
            .prop_map(|(claim, delay)| Operation::Release(claim, delay)),
        2 => claim().prop_map(Operation::Abandon),
        1 => claim().prop_map(|claim| Operation::Require(GuardWish::Claim(claim))),
    ]
}

fn managing() -> impl Strategy<Value = Operation> {
    let queue = || select(&QUEUES[..]);
    let ids = || prop::option::of(prop::collection::vec(0..6_u64, 0..4));
    let phase = select(vec![None, Some("dead"), Some("done"), Some("ready")]);
    prop_oneof![
        2 => queue().prop_map(|queue| Operation::Cancel { queue, id: 0 }),
        2 => queue().prop_map(Operation::Sweep),
        1 => Just(Operation::Maintain),
        1 => (0..4_u64).prop_map(|since| Operation::Reclaim { since }),
        2 => (queue(), ids(), select(vec![0, 1, 9])).prop_map(|(queue, ids, limit)| {
            Operation::Redrive { queue, ids, limit }
        }),
        1 => (queue(), phase, ids())
            .prop_map(|(queue, phase, ids)| Operation::Purge { queue, phase, ids }),
        1 => (queue(), prop::collection::vec(0..6_u64, 0..4))
            .prop_map(|(queue, ids)| Operation::Promote { queue, ids }),
        1 => (queue(), 0..40_u64).prop_map(|(queue, after)| {
            let run_at = super::START.get() - 10 + after;
            Operation::Reschedule { queue, id: 0, run_at }
        }),
        1 => (queue(), prop::bool::weighted(0.4))
            .prop_map(|(queue, paused)| Operation::SetPaused { queue, paused }),
    ]
}

fn on_leases() -> impl Strategy<Value = Operation> {
    let name = || select(&LEASES[..]);
    let ttl = || select(vec![0_u64, 5, 10, 1_000, NEVER]);
    prop_oneof![
        3 => (name(), select(&OWNERS[..]), ttl(), text())
            .prop_map(|(name, owner, ttl, meta)| Operation::Acquire { name, owner, ttl, meta }),
        2 => (name(), prop::option::of(ttl()), text())
            .prop_map(|(name, ttl, meta)| Operation::Renew { name, token: 0, ttl, meta }),
        1 => name().prop_map(|name| Operation::GiveBack { name, token: 0 }),
        2 => (name(), writes())
            .prop_map(|(name, writes)| Operation::Guard { name, token: 0, writes }),
        1 => name().prop_map(|name| Operation::Require(GuardWish::Lease(name, 0))),
    ]
}

fn on_values() -> impl Strategy<Value = Operation> {
    let key = || select(&VALUES[..]);
    prop_oneof![
        2 => (key(), select(&TEXTS[..])).prop_map(|(key, value)| Operation::Put(key, value)),
        1 => key().prop_map(Operation::Delete),
        1 => key().prop_map(|key| Operation::Require(GuardWish::Version(key, None))),
    ]
}

fn on_schedules() -> impl Strategy<Value = Operation> {
    let name = || select(&SCHEDULES[..]);
    let step = || select(vec![4_u64, 10, 500, 30_000_000]);
    let grid = prop_oneof![
        3 => step().prop_map(GridWish::Every),
        1 => select(vec![-5, 0, 3, 10, 5_000]).prop_map(|from_start| {
            GridWish::At(super::START.get().saturating_add_signed(from_start))
        }),
        2 => step().prop_map(|step| GridWish::Cron { step, first: 0 }),
    ];
    let catch_up = select(vec![CatchUp::All, CatchUp::Last, CatchUp::None]);
    let wish = (follow_up(), catch_up).prop_map(|(wish, catch_up)| {
        // What a schedule cannot ask for.
        let task = TaskWish { key: None, delay: None, run_at: None, ..wish };
        Box::new(ScheduleWish { task, catch_up })
    });
    let came = Came { oldest: Vec::new(), newest: 0, next: None };
    prop_oneof![
        3 => (name(), grid, wish)
            .prop_map(|(name, grid, wish)| Operation::Schedule { name, grid, wish }),
        1 => name().prop_map(Operation::Unschedule),
        4 => Just(Operation::FireDue),
        4 => name().prop_map(move |name| Operation::FireCron { name, came: came.clone() }),
    ]
}

fn writes() -> impl Strategy<Value = Vec<WriteWish>> {
    let key = || select(&VALUES[..]);
    let write = prop_oneof![
        3 => (key(), select(&TEXTS[..])).prop_map(|(key, value)| WriteWish::Put(key, value)),
        1 => key().prop_map(WriteWish::Delete),
        1 => key().prop_map(|key| WriteWish::Check(key, None)),
    ];
    prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(write, 1..4)]
}

fn text() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(select(&TEXTS[..]))
}

fn maybe(durations: Vec<u64>) -> impl Strategy<Value = Option<u64>> {
    prop::option::of(select(durations))
}

/// Follow-ups carry no writes of their own.
fn follow_up() -> impl Strategy<Value = TaskWish> {
    task_wish().prop_map(|wish| TaskWish { writes: Vec::new(), ..wish })
}

fn task_wish() -> impl Strategy<Value = TaskWish> {
    let due = (maybe(vec![0, 1, 5, 10, NEVER]), prop::option::weighted(0.2, 0..40_u64));
    let expires_in = prop::option::weighted(0.3, select(vec![0_u64, 1, 5, 10, 10, 50]));
    let key = prop::option::weighted(0.4, select(&KEYS[..]));
    let priority = select(vec![0_i64, 0, 0, 1, 5, -1]);
    (select(&QUEUES[..]), select(&TEXTS[..]), key, due, expires_in, priority, stamps(), writes())
        .prop_map(|(queue, payload, key, (delay, after), expires_in, priority, stamps, writes)| {
            let start = super::START.get();
            let run_at = after.map(|after| start - 10 + after);
            TaskWish { queue, payload, key, delay, run_at, expires_in, priority, stamps, writes }
        })
}

fn stamps() -> impl Strategy<Value = Stamps> {
    let attempts_max = prop_oneof![1 => Just(0_u64), 30 => 1..4_u64];
    let backoff = (select(vec![0_u64, 4, 10]), select(vec![0_u64, 8, 1_000]));
    let jitter = select(vec![Jitter::Equal, Jitter::Full, Jitter::None]);
    let lease = select(vec![0_u64, 5, 10, 10, 300_000, NEVER]);
    let keep_dead = select(vec![NEVER, NEVER, 0, 5, 50]);
    let keep_result = select(vec![0_u64, 0, 5, 50, NEVER]);
    let keep_key = select(vec![0_u64, 5, 20, 86_400_000, NEVER]);
    (attempts_max, backoff, jitter, lease, keep_dead, keep_result, keep_key).prop_map(
        |(attempts_max, (base, max), jitter, lease, keep_dead, keep_result, keep_key)| Stamps {
            lease,
            attempts_max,
            base,
            max,
            jitter,
            keep_dead,
            keep_result,
            keep_key,
        },
    )
}
