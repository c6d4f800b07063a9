//! How the engine carries out the operations of the model test, and what it shows.

use super::command::{blob, queue};
use super::model::{Enqueued, Reply};
use super::operation::{ClaimWish, GridWish, GuardWish, Operation, TaskWish, WriteWish};
use fencepost::backoff::Backoff;
use fencepost::blob::Blob;
use fencepost::engine::Engine;
use fencepost::error::{Error, Outcome, Refusal};
use fencepost::id::{Instant, Millis, Priority, TaskId, Token, Version};
use fencepost::name::NameRef;
use fencepost::ops;
use fencepost::schedule::{Interval, Job, Passed, When};
use fencepost::task::{Phase, Stamps};

fn name(text: &'static str) -> NameRef<'static> {
    queue(text).expect("a good name")
}

fn millis(duration: u64) -> Millis {
    Millis::saturating(duration)
}

/// Texts of the test come back as the constants they were.
pub fn known(blob: &Blob) -> &'static str {
    super::domain::TEXTS.into_iter().find(|text| text.as_bytes() == &**blob).expect("a known text")
}

fn task<'a>(wish: &TaskWish) -> ops::Enqueue<'a> {
    let stamps = Stamps {
        lease: millis(wish.stamps.lease),
        attempts_max: wish.stamps.attempts_max,
        backoff: Backoff {
            base: millis(wish.stamps.base),
            max: millis(wish.stamps.max),
            jitter: wish.stamps.jitter,
        },
        dead_retention: millis(wish.stamps.keep_dead),
        result_retention: millis(wish.stamps.keep_result),
        key_retention: millis(wish.stamps.keep_key),
    };
    ops::Enqueue {
        key: wish.key.map(name),
        delay: wish.delay.map(millis),
        run_at: wish.run_at.map(Instant::saturating),
        expires_in: wish.expires_in.map(millis),
        priority: Priority::try_from(wish.priority).expect("a small one"),
        stamps,
        writes: writes(&wish.writes),
        ..ops::Enqueue::new(name(wish.queue), blob(wish.payload))
    }
}

fn writes<'a>(wishes: &[WriteWish]) -> Vec<ops::Write<'a>> {
    let write = |wish: &WriteWish| match *wish {
        WriteWish::Put(key, value) => ops::Write::Put { key: name(key), value: blob(value) },
        WriteWish::Delete(key) => ops::Write::Delete { key: name(key) },
        WriteWish::Check(key, version) => {
            ops::Write::Check { key: name(key), version: version.map(Version::saturating) }
        }
    };
    wishes.iter().map(write).collect()
}

fn claim<'a>(wish: ClaimWish) -> ops::ClaimRef<'a> {
    let (id, token) = (TaskId::saturating(wish.id), Token::saturating(wish.token));
    ops::ClaimRef { queue: name(wish.queue), id, token }
}

fn ids(ids: &Option<Vec<u64>>) -> Option<Vec<TaskId>> {
    ids.as_ref().map(|ids| ids.iter().copied().map(TaskId::saturating).collect())
}

fn enqueued(made: ops::Enqueued) -> Enqueued {
    let ops::EnqueuedPhase::Known(phase) = made.phase else { panic!("the root sees all") };
    Enqueued {
        id: made.id.get(),
        seq: made.seq.get(),
        created: made.created,
        phase: phase.as_str(),
    }
}

fn reply<T>(answer: Result<Outcome<T>, Error>, reply: impl FnOnce(T) -> Reply) -> Reply {
    match answer {
        Ok(Ok(value)) => reply(value),
        Ok(Err(Refusal::Held(Some((owner, until))))) => {
            Reply::Refused(format!("held by {} until {until}", owner.as_str()))
        }
        Ok(Err(Refusal::Changed(check))) => {
            let number = |version: Option<Version>| version.map(Version::get);
            let (key, expected, actual) =
                (&check.key, number(check.expected), number(check.actual));
            Reply::Refused(format!("changed {} {expected:?} {actual:?}", key.as_str()))
        }
        Ok(Err(refusal)) => Reply::Refused(refusal.reason().to_owned()),
        Err(error) => Reply::Error(error.code().as_str()),
    }
}

fn plain<T>(answer: Result<T, Error>, told: impl FnOnce(T) -> Reply) -> Reply {
    reply(answer.map(Ok), told)
}

impl Operation {
    /// Carries it out on the engine.
    pub fn on_engine(&self, engine: &mut Engine, now: Instant) -> Reply {
        match self {
            Self::Enqueue(wish) => {
                plain(engine.enqueue(now, task(wish)), |made| Reply::Enqueued(vec![enqueued(made)]))
            }
            Self::EnqueueMany(wishes) => {
                let made = engine.enqueue_many(now, wishes.iter().map(task).collect());
                plain(made, |made| Reply::Enqueued(made.into_iter().map(enqueued).collect()))
            }
            Self::Claim { queue, owner, max, lease } => {
                let (queue, owner, lease) = (name(queue), name(owner), lease.map(millis));
                let request = ops::ClaimRequest { queue, owner, max: *max, lease };
                plain(engine.claim(now, request), |tasks| {
                    let claims = tasks.iter().map(|task| (task.id, task.claim().unwrap().token));
                    Reply::Claimed(claims.map(|(id, token)| (id.get(), token.get())).collect())
                })
            }
            Self::Cancel { queue, id } => {
                plain(engine.cancel(now, name(queue), TaskId::saturating(*id), None), Reply::Flag)
            }
            Self::Sweep(queue) => plain(engine.sweep(now, name(queue)), swept),
            Self::Reclaim { since } => {
                let done = engine.reclaim(now, Token::saturating(*since));
                plain(done, |done| Reply::Count(done.claims + done.leases))
            }
            Self::Maintain => plain(engine.maintain(now), swept),
            Self::Redrive { queue, ids: chosen, limit } => {
                let (queue, after) = (name(queue), TaskId::default());
                let request = ops::Redrive { queue, ids: ids(chosen), after, limit: *limit };
                plain(engine.redrive(now, request), |done| Reply::Count(done.count))
            }
            Self::Purge { queue, phase, ids: chosen } => {
                let is_it = |one: &Phase| Some(one.as_str()) == *phase;
                let phase = Phase::ALL.into_iter().find(is_it);
                let request = ops::Purge { queue: name(queue), phase, ids: ids(chosen) };
                plain(engine.purge(now, request), |done| Reply::Count(done.count))
            }
            Self::SetPaused { queue, paused } => {
                plain(engine.set_paused(now, name(queue), *paused), |()| Reply::Ok)
            }
            Self::Promote { queue, ids: chosen } => {
                let chosen = chosen.iter().copied().map(TaskId::saturating).collect();
                plain(engine.promote(now, name(queue), chosen), Reply::Count)
            }
            Self::Reschedule { queue, id, run_at } => {
                let (id, run_at) = (TaskId::saturating(*id), Instant::saturating(*run_at));
                plain(engine.reschedule(now, name(queue), id, run_at), Reply::Flag)
            }
            Self::Put(key, value) => {
                let version = engine.put_value(now, name(key), blob(value));
                plain(version, |version| Reply::Version(version.get()))
            }
            Self::Delete(key) => plain(engine.delete_value(now, name(key)), Reply::Flag),
            _ => self.settle_on_engine(engine, now),
        }
    }

    fn settle_on_engine(&self, engine: &mut Engine, now: Instant) -> Reply {
        match self {
            Self::Complete { claim: held, result, follow_ups, writes: wishes } => {
                let completion = ops::Completion {
                    claim: claim(*held),
                    result: result.map(blob),
                    follow_ups: follow_ups.iter().map(task).collect(),
                    writes: writes(wishes),
                };
                reply(engine.complete(now, completion), |made| {
                    Reply::Enqueued(made.into_iter().map(enqueued).collect())
                })
            }
            Self::CompleteMany(claims) => {
                let claims: Vec<_> = claims.iter().copied().map(claim).collect();
                plain(engine.complete_many(now, &claims), Reply::Count)
            }
            Self::Fail { claim: held, text, delay, is_final, writes: wishes } => {
                let failure = ops::Failure {
                    claim: claim(*held),
                    text: *text,
                    delay: delay.map(millis),
                    is_final: *is_final,
                    writes: writes(wishes),
                };
                reply(engine.fail(now, failure), |failed| {
                    let at = |at: Instant| (at.get(), at.get());
                    let range = failed.run_at.map(at);
                    let retried = |(earliest, latest)| Reply::Retried { earliest, latest };
                    range.map_or(Reply::Dead, retried)
                })
            }
            Self::Heartbeat { claim: held, extend, progress } => {
                let (extend, progress) = (extend.map(millis), progress.map(blob));
                let beat = ops::Heartbeat { claim: claim(*held), extend, progress };
                reply(engine.heartbeat(now, beat), |until| Reply::Until(until.get()))
            }
            Self::Release(held, delay) => {
                reply(engine.release(now, claim(*held), delay.map(millis)), |()| Reply::Ok)
            }
            Self::Abandon(held) => reply(engine.abandon(now, claim(*held)), |()| Reply::Ok),
            _ => self.guard_on_engine(engine, now),
        }
    }

    fn guard_on_engine(&self, engine: &mut Engine, now: Instant) -> Reply {
        let token = |token: &u64| Token::saturating(*token);
        match self {
            Self::Acquire { name: lease, owner, ttl, meta } => {
                let (ttl, meta) = (millis(*ttl), meta.map(blob));
                let request = ops::Acquire { name: name(lease), owner: name(owner), ttl, meta };
                reply(engine.acquire(now, request), |grant| Reply::Granted {
                    token: grant.token.get(),
                    until: grant.until.get(),
                    meta: grant.meta.as_ref().map(known),
                })
            }
            Self::Renew { name: lease, token: held, ttl, meta } => {
                let (ttl, meta) = (ttl.map(millis), meta.map(blob));
                let request = ops::Renew { name: name(lease), token: token(held), ttl, meta };
                reply(engine.renew(now, request), |until| Reply::Until(until.get()))
            }
            Self::GiveBack { name: lease, token: held } => {
                plain(engine.release_lease(now, name(lease), token(held)), Reply::Flag)
            }
            Self::Guard { name: lease, token: held, writes: wishes } => {
                let writes = writes(wishes);
                let committed = engine.guarded_commit(now, name(lease), token(held), writes);
                reply(committed, |()| Reply::Ok)
            }
            Self::Require(guard) => {
                let guard = match *guard {
                    GuardWish::Claim(held) => ops::Guard::Claim(claim(held)),
                    GuardWish::Lease(lease, held) => {
                        ops::Guard::Lease { name: name(lease), token: token(&held) }
                    }
                    GuardWish::Version(key, version) => {
                        let version = version.map(Version::saturating);
                        ops::Guard::Version { key: name(key), version }
                    }
                };
                reply(engine.require(now, guard), |()| Reply::Ok)
            }
            _ => self.time_on_engine(engine, now),
        }
    }
}

/// Schedules.
impl Operation {
    fn time_on_engine(&self, engine: &mut Engine, now: Instant) -> Reply {
        match self {
            Self::Schedule { name: schedule, grid, wish } => {
                let ops::Enqueue { queue, payload, priority, expires_in, stamps, .. } =
                    task(&wish.task);
                let (queue, catch_up) = (queue.to_name(), wish.catch_up);
                let job =
                    Job { queue, payload, codec: None, priority, expires_in, catch_up, stamps };
                let (when, first) = when(*grid);
                let request = ops::ScheduleRequest { name: name(schedule), when, first, job };
                plain(engine.schedule(now, request), |schedule| {
                    Reply::Next(schedule.row.next.map(Instant::get))
                })
            }
            Self::Unschedule(schedule) => {
                plain(engine.unschedule(now, name(schedule)), Reply::Flag)
            }
            Self::FireDue => plain(engine.fire_due(now), fired),
            Self::FireCron { name: schedule, came } => {
                let passed = Passed {
                    oldest: came.oldest.iter().copied().map(Instant::saturating).collect(),
                    newest: Instant::saturating(came.newest),
                    next: came.next.map(Instant::saturating),
                };
                plain(engine.fire_cron(now, name(schedule), &passed), fired)
            }
            _ => unreachable!("all others are carried out above"),
        }
    }
}

/// The step of a `cron` grid stands in its expression.
fn when(grid: GridWish) -> (When, Option<Instant>) {
    match grid {
        GridWish::Every(step) => (When::Every(Interval::try_from(step).expect("from 1 on")), None),
        GridWish::At(at) => (When::At(Instant::saturating(at)), None),
        GridWish::Cron { step, first } => {
            let (expression, time_zone) = (step.to_string().into(), "UTC".into());
            (When::Cron { expression, time_zone }, Some(Instant::saturating(first)))
        }
    }
}

fn fired(fired: ops::Fired) -> Reply {
    assert!(!fired.more, "one commit has room for all of it");
    Reply::Count(fired.tasks)
}

fn swept(swept: ops::Swept) -> Reply {
    Reply::Swept { expired: swept.expired, purged: swept.purged }
}
