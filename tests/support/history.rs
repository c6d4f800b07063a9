//! What a store looks like to somebody who knows its events and nothing else.
//!
//! **Invariant:** a task or lease has at most one holder, its token is larger than any before, and
//! whatever a holder does it does with that token.

use fencepost::engine::Engine;
use fencepost::event::{ABANDONED, Event, EventKind, Subject};
use fencepost::id::{TaskId, Token, Version};
use fencepost::lease::LeaseState;
use fencepost::name::Name;
use fencepost::task::TaskState;
use std::collections::{BTreeMap, BTreeSet};

type Holder = (Name, Token);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    Waiting,
    Held(Holder),
    Done,
    Dead,
}

#[derive(Clone, Debug, Default)]
pub struct History {
    version: Version,
    last_token: Token,
    tasks: BTreeMap<TaskId, Known>,
    leases: BTreeMap<Name, Holder>,
    values: BTreeMap<Name, Version>,
    paused: BTreeSet<Name>,
    schedules: BTreeSet<Name>,
}

impl History {
    pub fn tell(&mut self, events: &[Event]) {
        for event in events {
            assert!(event.version >= self.version, "versions rise: {event:?}");
            self.version = event.version;
            match &event.subject {
                Subject::Task { id, .. } => self.tell_task(*id, event),
                Subject::Lease(name) => self.tell_lease(name, event),
                Subject::Value(key) => match event.kind {
                    EventKind::ValuePut => _ = self.values.insert(key.clone(), event.version),
                    _ => assert!(self.values.remove(key).is_some(), "{event:?}"),
                },
                Subject::Queue(name) => assert!(match event.kind {
                    EventKind::Paused => self.paused.insert(name.clone()),
                    _ => self.paused.remove(name),
                }),
                Subject::Schedule { name, .. } => match event.kind {
                    EventKind::Scheduled => _ = self.schedules.insert(name.clone()),
                    EventKind::Fired => assert!(self.schedules.contains(name), "{event:?}"),
                    _ => assert!(self.schedules.remove(name), "{event:?}"),
                },
                Subject::Log => panic!("nothing is lost here: {event:?}"),
            }
        }
    }

    fn tell_task(&mut self, id: TaskId, event: &Event) {
        let before = self.tasks.remove(&id);
        let held = event.holder.clone().map(Known::Held);
        let is_its_holders = before.is_some() && before == held;
        let is_abandoned = event.reason.as_deref() == Some(ABANDONED);
        let waits = before == Some(Known::Waiting);
        let is_over = matches!(before, Some(Known::Done | Known::Dead));
        let after = match event.kind {
            EventKind::Enqueued if before.is_none() => Some(Known::Waiting),
            EventKind::Claimed if waits || matches!(before, Some(Known::Held(_))) => {
                self.grant(event);
                held
            }
            EventKind::Heartbeat if is_its_holders => held,
            // Its row stays with it until the next claim, as that of a lapsed one.
            EventKind::Released if is_its_holders && is_abandoned => held,
            EventKind::Retried | EventKind::Released if is_its_holders => Some(Known::Waiting),
            EventKind::Completed if is_its_holders => Some(Known::Done),
            EventKind::Dead if is_its_holders || waits => Some(Known::Dead),
            EventKind::Rescheduled if waits => Some(Known::Waiting),
            EventKind::Redriven if before == Some(Known::Dead) => Some(Known::Waiting),
            EventKind::Purged if is_over => None,
            EventKind::Cancelled if is_its_holders || waits || is_over => None,
            _ => panic!("{before:?} does not lead to {event:?}"),
        };
        after.into_iter().for_each(|after| _ = self.tasks.insert(id, after));
    }

    fn tell_lease(&mut self, name: &Name, event: &Event) {
        let holder = event.holder.clone().expect("a lease has a holder");
        match event.kind {
            EventKind::LeaseAcquired => {
                self.grant(event);
                self.leases.insert(name.clone(), holder);
            }
            EventKind::LeaseRenewed => assert_eq!(self.leases.get(name), Some(&holder)),
            _ => assert_eq!(self.leases.remove(name), Some(holder)),
        }
    }

    fn grant(&mut self, event: &Event) {
        let (_, token) = event.holder.as_ref().expect("a grant has a holder");
        assert!(*token > self.last_token, "tokens rise: {event:?}");
        self.last_token = *token;
    }

    /// What was told is what is there.
    pub fn require_same(&mut self, engine: &Engine) {
        let state = engine.state();
        // Where it is not kept, what is over is gone at once.
        let is_over = |known: &Known| matches!(known, Known::Done | Known::Dead);
        self.tasks.retain(|id, known| !is_over(known) || state.task(*id).is_some());
        let tasks = state.tasks().map(|task| {
            let known = match &task.row.state {
                TaskState::Waiting => Known::Waiting,
                TaskState::Inflight(claim) => Known::Held((claim.owner.clone(), claim.token)),
                TaskState::Done { .. } => Known::Done,
                TaskState::Dead { .. } => Known::Dead,
            };
            (task.id, known)
        });
        assert_eq!(self.tasks, tasks.collect());
        // A record that nobody has held for long is removed, and that is not told.
        self.leases.retain(|name, _| state.leases.contains_key(name.as_str()));
        let leases = state.leases.iter().filter_map(|(name, row)| match &row.state {
            LeaseState::Held { owner, .. } => Some((name.clone(), (owner.clone(), row.token))),
            LeaseState::Released { .. } => None,
        });
        assert_eq!(self.leases, leases.collect());
        let values = state.values.iter().map(|(key, row)| (key.clone(), row.version));
        assert_eq!(self.values, values.collect());
        let paused = state.queues.iter().filter(|queue| queue.paused);
        assert_eq!(self.paused, paused.map(|queue| queue.name.clone()).collect());
        assert!(self.schedules.iter().eq(state.timetable.rows().iter().map(|(name, _)| name)));
    }
}
