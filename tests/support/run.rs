//! Random steps on two replicas and on the naive model, side by side.
//!
//! One replica decides, the other merges bytes. Entries hold one command or several, some are
//! thrown away and decided again, and replicas restart from snapshots.

use super::domain::{Action, After, Draft, QUEUES, Step};
use super::engine_picture::picture;
use super::model::{Model, Reply};
use super::operation::Operation;
use super::script::{assert_same, take_events};
use super::{START, assert_verified, commit, engine};
use fencepost::engine::{Engine, SnapshotId};
use fencepost::event::Event;
use fencepost::id::Instant;
use proptest::test_runner::Config;

pub struct Run {
    /// The first decides.
    replicas: [Engine; 2],
    copies: [Copy; 2],
    model: Model,
    clock: u64,
    /// The model and the steps of the open entry, for deciding again.
    committed: Model,
    open: Vec<(u64, Action)>,
}

impl Run {
    pub fn new() -> Self {
        let mut replicas = [engine(1), engine(2)];
        replicas[0].found_if_empty(START).unwrap();
        let bytes = commit(&mut replicas[0]);
        replicas[1].merge(&bytes).unwrap();
        let model = Model::founded(START.get());
        let copies = Default::default();
        Self {
            replicas,
            copies,
            committed: model.clone(),
            model,
            clock: START.get(),
            open: Vec::new(),
        }
    }

    pub fn step(&mut self, step: &Step) {
        self.clock = self.clock.saturating_add_signed(step.wait);
        self.act(self.clock, &step.action);
        self.open.push((self.clock, step.action.clone()));
        match step.after {
            After::Open => return,
            After::DecideAgain => self.decide_again(),
            After::Commit | After::Pass | After::Restart => {}
        }
        self.commit();
        self.compare(step.glance);
        match step.after {
            After::Pass => {
                self.replicas.swap(0, 1);
                self.copies.swap(0, 1);
            }
            After::Restart => self.restart(),
            _ => {}
        }
    }

    fn act(&mut self, now: u64, action: &Action) {
        let at = Instant::saturating(now);
        match action {
            Action::One(draft) => {
                self.model.begin(now);
                self.carry_out(draft, at);
                self.model.end();
            }
            Action::Transaction { drafts, commits } => {
                let before = self.model.clone();
                self.model.begin(now);
                self.replicas[0].begin_transaction(at).unwrap();
                drafts.iter().for_each(|draft| self.carry_out(draft, at));
                if *commits {
                    self.replicas[0].commit_transaction(at).unwrap();
                    self.model.end();
                } else {
                    self.replicas[0].abort_transaction();
                    self.model = before;
                }
            }
            Action::RepairClock if self.replicas[0].staged_commands() == 0 => {
                let repaired = self.replicas[0].repair_clock(at, &Default::default()).unwrap();
                assert_eq!(repaired, self.model.repair_clock(now));
            }
            Action::RepairClock => {
                assert!(self.replicas[0].repair_clock(at, &Default::default()).is_err())
            }
        }
        let engine = &self.replicas[0];
        let version = engine.state().head.version.get() + engine.staged_commands() as u64;
        assert_eq!(version, self.model.version, "version after {action:?}");
    }

    fn carry_out(&mut self, draft: &Draft, at: Instant) {
        let operation = draft.resolve(&self.model);
        let engine = &mut self.replicas[0];
        let changes = engine.staged_bytes();
        let before = self.model.clone();
        let actual = operation.on_engine(engine, at);
        let expected = operation.on_model(&mut self.model);
        match (&expected, &actual) {
            (Reply::Retried { earliest, latest }, Reply::Retried { earliest: drawn, .. }) => {
                assert!((earliest..=latest).contains(&drawn), "{drawn} after {operation:?}");
                let Operation::Fail { claim, .. } = operation else { unreachable!() };
                self.model.adopt_run_at(claim.id, *drawn);
            }
            _ => assert_eq!(actual, expected, "answer to {operation:?}"),
        }
        // When keys and records that nobody sees are removed is up to the engine.
        let is_housekeeping = matches!(expected, Reply::Swept { expired: 0, purged: 0 });
        match self.replicas[0].staged_bytes() > changes {
            true if is_housekeeping => self.model.adopt_change(),
            false if is_housekeeping => self.model = before,
            _ => {}
        }
    }

    fn decide_again(&mut self) {
        let _ = self.replicas[0].seal().unwrap();
        self.replicas[0].discard();
        self.model = self.committed.clone();
        for (now, action) in std::mem::take(&mut self.open) {
            self.act(now, &action);
        }
    }

    pub fn commit(&mut self) {
        if let Some(sealed) = self.replicas[0].seal().unwrap() {
            self.replicas[1].merge(&sealed.bytes).unwrap();
            self.replicas[0].merge_sealed().unwrap();
        }
        for (copy, replica) in self.copies.iter_mut().zip(&mut self.replicas) {
            copy.go_on(replica);
        }
        self.committed = self.model.clone();
        self.open.clear();
    }

    pub fn compare(&mut self, glance: u64) {
        for later in [glance, 0] {
            let now = self.clock + later;
            let expected = self.model.picture(&QUEUES, now);
            for replica in &mut self.replicas {
                assert_eq!(picture(replica, Instant::saturating(now)), expected);
                assert_verified(replica);
            }
        }
        assert_same(&self.replicas[0], &self.replicas[1]);
        let counters = self.replicas[0].state().counters;
        let expected = (self.model.last_id, self.model.last_token);
        assert_eq!((counters.task_id.get(), counters.token.get()), expected);
    }

    fn restart(&mut self) {
        let mut restored = engine(self.replicas[0].options().replica);
        restored.restore(&self.replicas[0].snapshot().bytes).unwrap();
        self.replicas[0] = restored;
        self.copies[0] = Copy::default();
        self.compare(0);
    }
}

/// A snapshot that is taken row by row while commits go on.
#[derive(Default)]
struct Copy {
    open: Option<(SnapshotId, Vec<u8>)>,
    parts: Vec<u8>,
}

impl Copy {
    fn go_on(&mut self, engine: &mut Engine) {
        let Some((id, as_it_was)) = &self.open else {
            let as_it_was = engine.snapshot_in_parts_of(1).bytes;
            self.open = Some((engine.begin_snapshot(1).0, as_it_was));
            return;
        };
        match engine.snapshot_part(*id).unwrap() {
            Some(part) => self.parts.extend_from_slice(&part.bytes),
            None => {
                assert!(self.parts == *as_it_was, "the rows are those of when it began");
                *self = Self::default();
            }
        }
    }
}

/// Listening.
impl Run {
    pub fn record_events(&mut self) {
        for replica in &mut self.replicas {
            replica.record_events(replica.state().head.version);
        }
    }

    /// What the steps since the last call told. Who restarted meanwhile has heard nothing, and
    /// begins to listen; the other one has not restarted.
    pub fn take_events(&mut self) -> Vec<Event> {
        let [one, other] = self.replicas.each_mut().map(take_events);
        self.record_events();
        assert!(one == other || one.is_empty() || other.is_empty(), "{one:?}\n{other:?}");
        if one.is_empty() { other } else { one }
    }

    /// A replica, with everything merged that was committed.
    pub fn merged(&self) -> &Engine {
        &self.replicas[1]
    }
}

/// So many sequences, or as many as the environment variable says.
pub fn cases(default: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    Config { cases: asked.unwrap_or(default), ..Config::default() }
}
