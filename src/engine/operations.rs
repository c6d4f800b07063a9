//! The operations as methods of the engine. Each is described where it is implemented, in
//! [`crate::ops`].

use super::{Context, Engine};
use crate::blob::Blob;
use crate::error::{Error, Outcome};
use crate::id::{Instant, Millis, TaskId, Token, Version};
use crate::name::NameRef;
use crate::ops;
use crate::schedule::{Passed, Schedule};

impl Engine {
    pub fn enqueue(
        &mut self,
        at: impl Into<Context>,
        request: ops::Enqueue<'_>,
    ) -> Result<ops::Enqueued, Error> {
        self.command(at, |txn| ops::enqueue(txn, request))
    }

    pub fn enqueue_many(
        &mut self,
        at: impl Into<Context>,
        requests: Vec<ops::Enqueue<'_>>,
    ) -> Result<Vec<ops::Enqueued>, Error> {
        self.command(at, |txn| ops::enqueue_many(txn, requests))
    }

    pub fn claim(
        &mut self,
        at: impl Into<Context>,
        request: ops::ClaimRequest<'_>,
    ) -> Result<ops::Claimed, Error> {
        self.command(at, |txn| ops::claim(txn, request))
    }

    pub fn complete(
        &mut self,
        at: impl Into<Context>,
        request: ops::Completion<'_>,
    ) -> Result<Outcome<ops::Completed>, Error> {
        self.refusable(at, |txn| ops::complete(txn, request))
    }

    pub fn complete_many(
        &mut self,
        at: impl Into<Context>,
        claims: &[ops::ClaimRef<'_>],
    ) -> Result<usize, Error> {
        self.command(at, |txn| ops::complete_many(txn, claims))
    }

    pub fn fail(
        &mut self,
        at: impl Into<Context>,
        request: ops::Failure<'_>,
    ) -> Result<Outcome<ops::Failed>, Error> {
        self.refusable(at, |txn| ops::fail(txn, request))
    }

    pub fn heartbeat(
        &mut self,
        at: impl Into<Context>,
        request: ops::Heartbeat<'_>,
    ) -> Result<Outcome<Instant>, Error> {
        self.refusable(at, |txn| ops::heartbeat(txn, request))
    }

    pub fn release(
        &mut self,
        at: impl Into<Context>,
        claim: ops::ClaimRef<'_>,
        delay: Option<Millis>,
    ) -> Result<Outcome<()>, Error> {
        self.refusable(at, |txn| ops::release(txn, claim, delay))
    }

    pub fn abandon(
        &mut self,
        at: impl Into<Context>,
        claim: ops::ClaimRef<'_>,
    ) -> Result<Outcome<()>, Error> {
        self.refusable(at, |txn| ops::abandon(txn, claim))
    }

    pub fn cancel(
        &mut self,
        at: impl Into<Context>,
        queue: NameRef<'_>,
        id: TaskId,
        reason: Option<&str>,
    ) -> Result<bool, Error> {
        self.command(at, |txn| ops::cancel(txn, queue, id, reason))
    }

    pub fn sweep(
        &mut self,
        at: impl Into<Context>,
        queue: NameRef<'_>,
    ) -> Result<ops::Swept, Error> {
        self.command(at, |txn| ops::sweep(txn, queue))
    }

    pub fn redrive(
        &mut self,
        at: impl Into<Context>,
        request: ops::Redrive<'_>,
    ) -> Result<ops::Redriven, Error> {
        self.command(at, |txn| ops::redrive(txn, request))
    }

    pub fn purge(
        &mut self,
        at: impl Into<Context>,
        request: ops::Purge<'_>,
    ) -> Result<ops::Purged, Error> {
        self.command(at, |txn| ops::purge(txn, request))
    }

    pub fn promote(
        &mut self,
        at: impl Into<Context>,
        queue: NameRef<'_>,
        ids: Vec<TaskId>,
    ) -> Result<usize, Error> {
        self.command(at, |txn| ops::promote(txn, queue, ids))
    }

    pub fn reschedule(
        &mut self,
        at: impl Into<Context>,
        queue: NameRef<'_>,
        id: TaskId,
        run_at: Instant,
    ) -> Result<bool, Error> {
        self.command(at, |txn| ops::reschedule(txn, queue, id, run_at))
    }

    pub fn set_paused(
        &mut self,
        at: impl Into<Context>,
        queue: NameRef<'_>,
        paused: bool,
    ) -> Result<(), Error> {
        self.command(at, |txn| ops::set_paused(txn, queue, paused))
    }

    pub fn acquire(
        &mut self,
        at: impl Into<Context>,
        request: ops::Acquire<'_>,
    ) -> Result<Outcome<ops::Acquired>, Error> {
        self.refusable(at, |txn| ops::acquire(txn, request))
    }

    pub fn renew(
        &mut self,
        at: impl Into<Context>,
        request: ops::Renew<'_>,
    ) -> Result<Outcome<Instant>, Error> {
        self.refusable(at, |txn| ops::renew(txn, request))
    }

    pub fn release_lease(
        &mut self,
        at: impl Into<Context>,
        name: NameRef<'_>,
        token: Token,
    ) -> Result<bool, Error> {
        self.command(at, |txn| ops::release_lease(txn, name, token))
    }

    pub fn guarded_commit(
        &mut self,
        at: impl Into<Context>,
        name: NameRef<'_>,
        token: Token,
        writes: Vec<ops::Write<'_>>,
    ) -> Result<Outcome<()>, Error> {
        self.refusable(at, |txn| ops::guarded_commit(txn, name, token, writes))
    }

    pub fn put_value(
        &mut self,
        at: impl Into<Context>,
        key: NameRef<'_>,
        value: Blob,
    ) -> Result<Version, Error> {
        self.command(at, |txn| ops::put_value(txn, key, value))
    }

    pub fn delete_value(
        &mut self,
        at: impl Into<Context>,
        key: NameRef<'_>,
    ) -> Result<bool, Error> {
        self.command(at, |txn| ops::delete_value(txn, key))
    }

    pub fn schedule(
        &mut self,
        at: impl Into<Context>,
        request: ops::ScheduleRequest<'_>,
    ) -> Result<Schedule, Error> {
        self.command(at, |txn| ops::schedule(txn, request))
    }

    pub fn unschedule(&mut self, at: impl Into<Context>, name: NameRef<'_>) -> Result<bool, Error> {
        self.command(at, |txn| ops::unschedule(txn, name))
    }

    pub fn fire_due(&mut self, now: Instant) -> Result<ops::Fired, Error> {
        self.command(now, ops::fire_due)
    }

    pub fn fire_cron(
        &mut self,
        now: Instant,
        name: NameRef<'_>,
        passed: &Passed,
    ) -> Result<ops::Fired, Error> {
        self.command(now, |txn| ops::fire_cron(txn, name, passed))
    }

    pub fn maintain(&mut self, now: Instant) -> Result<ops::Swept, Error> {
        self.command(now, ops::maintain)
    }

    pub fn reclaim(&mut self, now: Instant, since: Token) -> Result<ops::Reclaimed, Error> {
        self.command(now, |txn| ops::reclaim(txn, since))
    }

    pub fn require(
        &mut self,
        at: impl Into<Context>,
        guard: ops::Guard<'_>,
    ) -> Result<Outcome<()>, Error> {
        self.refusable(at, |txn| ops::require(txn, guard))
    }
}
