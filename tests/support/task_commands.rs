//! The commands on queues and tasks.

use super::answer::Answer;
use super::command::{Stage, WriteWords, blob, instant, millis, outcome, queue};
use super::words::Words;
use fencepost::backoff::Jitter;
use fencepost::error::Error;
use fencepost::id::{Instant, Millis, Priority, TaskId, Token};
use fencepost::name::NameRef;
use fencepost::ops::{
    ClaimRef, ClaimRequest, Completion, Enqueue, Enqueued, EnqueuedPhase, Failure, Heartbeat,
    Purge, Reclaimed, Redrive, Swept,
};
use fencepost::task::{Phase, Stamps};

/// The words of an enqueue, owned.
#[derive(Clone, Debug, Default)]
pub struct TaskWords {
    queue: String,
    payload: String,
    key: Option<String>,
    delay: Option<Millis>,
    run_at: Option<Instant>,
    expires_in: Option<Millis>,
    priority: Priority,
    stamps: Stamps,
    writes: WriteWords,
}

impl TaskWords {
    /// `PAYLOAD [key K] [priority N] [delay D] [at T] [expires D] [attempts N] [lease D] [backoff
    /// D] [max-backoff D] [jitter none|equal|full] [keep-dead D] [keep-result D] [keep-key D] [put
    /// K V] [del K] [check K V]`, up to the end or one of `ends`.
    pub fn parse(queue: String, stage: &Stage<'_>, words: &mut Words, ends: &[&str]) -> Self {
        let mut task = Self { queue, payload: words.take("the payload"), ..Self::default() };
        while words.peek().is_some_and(|word| !ends.contains(&word)) {
            let option = words.take("an option");
            let stamps = &mut task.stamps;
            match option.as_str() {
                "key" => task.key = Some(words.take("the key")),
                "priority" => {
                    let priority = Priority::try_from(words.number::<i64>("the priority"));
                    task.priority = priority.expect("a priority is a safe integer");
                }
                "delay" => task.delay = Some(millis(words, "the delay")),
                "at" => task.run_at = Some(instant(words.offset("the due time"))),
                "expires" => task.expires_in = Some(millis(words, "the life")),
                "attempts" => stamps.attempts_max = words.number("the attempts"),
                "lease" => stamps.lease = millis(words, "the lease"),
                "backoff" => stamps.backoff.base = millis(words, "the backoff"),
                "max-backoff" => stamps.backoff.max = millis(words, "the backoff"),
                "jitter" => stamps.backoff.jitter = jitter(words),
                "keep-dead" => stamps.dead_retention = millis(words, "the retention"),
                "keep-result" => stamps.result_retention = millis(words, "the retention"),
                "keep-key" => stamps.key_retention = millis(words, "the retention"),
                other if task.writes.accept(other, stage, words) => {}
                other => words.unknown(other),
            }
        }
        task
    }

    pub fn request(&self) -> Result<Enqueue<'_>, Error> {
        Ok(Enqueue {
            key: self.key.as_deref().map(NameRef::key).transpose()?,
            delay: self.delay,
            run_at: self.run_at,
            expires_in: self.expires_in,
            priority: self.priority,
            stamps: self.stamps,
            writes: self.writes.writes()?,
            ..Enqueue::new(queue(&self.queue)?, blob(&self.payload))
        })
    }
}

fn jitter(words: &mut Words) -> Jitter {
    match words.take("the jitter").as_str() {
        "none" => Jitter::None,
        "equal" => Jitter::Equal,
        "full" => Jitter::Full,
        other => words.unknown(other),
    }
}

/// Making and taking tasks.
impl Stage<'_> {
    pub fn enqueue(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let queue = words.take("the queue");
        let task = TaskWords::parse(queue, self, words, &[]);
        let made = self.engine.enqueue(self.at, task.request()?)?;
        Ok(self.enqueued(Answer::default(), made, &task.queue))
    }

    /// `enqueue-many QUEUE PAYLOAD … / PAYLOAD …`
    pub fn enqueue_many(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the queue");
        let mut tasks = Vec::new();
        while words.peek().is_some() {
            tasks.push(TaskWords::parse(name.clone(), self, words, &["/"]));
            words.accept("/");
        }
        let requests = tasks.iter().map(TaskWords::request).collect::<Result<_, _>>()?;
        let made = self.engine.enqueue_many(self.at, requests)?;
        let empty = Answer::default();
        Ok(made.into_iter().fold(empty, |answer, made| self.enqueued(answer, made, &name)))
    }

    fn enqueued(&mut self, answer: Answer, made: Enqueued, queue: &str) -> Answer {
        let answer = answer.and(format!("task {}", made.id));
        if made.created {
            self.queue_of.insert(made.id, queue.to_owned());
            return answer;
        }
        match made.phase {
            EnqueuedPhase::Known(phase) => answer.and("exists").and(phase.as_str()),
            EnqueuedPhase::Hidden => answer.and("exists"),
        }
    }

    /// `claim QUEUE as OWNER [max N] [for D]`
    pub fn claim(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the queue");
        words.expect("as");
        let owner = words.take("the owner");
        let max = if words.accept("max") { words.number("the number") } else { 1 };
        let lease = words.accept("for").then(|| millis(words, "the lease"));
        let (queue, owner) = (queue(&name)?, NameRef::owner(&owner)?);
        let tasks = self.engine.claim(self.at, ClaimRequest { queue, owner, max, lease })?;
        let told = |answer: Answer, task: &fencepost::task::Task| {
            let token = task.claim().expect("it was claimed").token;
            answer.and(format!("task {} token", task.id)).and_token(token)
        };
        Ok(tasks.iter().fold(Answer::default(), told).or_nothing())
    }
}

/// Holding and settling.
impl Stage<'_> {
    /// `complete ID [in QUEUE] token T [with RESULT] [writes] [then QUEUE PAYLOAD options]…`
    pub fn complete(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let token = self.token(words);
        let mut result = None;
        let mut writes = WriteWords::default();
        let mut follow_ups = Vec::new();
        while let Some(option) = words.next() {
            match option.as_str() {
                "with" => result = Some(blob(&words.take("the result"))),
                "then" => {
                    let queue = words.take("the queue");
                    follow_ups.push(TaskWords::parse(queue, self, words, &["then"]));
                }
                other if writes.accept(other, self, words) => {}
                other => words.unknown(other),
            }
        }
        let completion = Completion {
            claim: ClaimRef { queue: queue(&name)?, id, token },
            result,
            follow_ups: follow_ups.iter().map(TaskWords::request).collect::<Result<_, _>>()?,
            writes: writes.writes()?,
        };
        let done = self.engine.complete(self.at, completion)?;
        outcome(done, |made| {
            let made = made.into_iter().zip(&follow_ups);
            let done = Answer::text("done");
            made.fold(done, |answer, (made, words)| self.enqueued(answer, made, &words.queue))
        })
    }

    /// `complete-many ID token T ID token T …`
    pub fn complete_many(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let mut claims = Vec::new();
        while words.peek().is_some() {
            let (id, name) = self.task(words);
            claims.push((id, name, self.token(words)));
        }
        let claims = claims.iter().map(claim_ref).collect::<Result<Vec<_>, _>>()?;
        let landed = self.engine.complete_many(self.at, &claims)?;
        Ok(Answer::text(landed.to_string()))
    }

    /// `fail ID [in QUEUE] token T [because TEXT] [delay D] [final] [writes]`
    pub fn fail(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let token = self.token(words);
        let (mut text, mut delay, mut is_final) = (None, None, false);
        let mut writes = WriteWords::default();
        while let Some(option) = words.next() {
            match option.as_str() {
                "because" => text = Some(words.take("the reason")),
                "delay" => delay = Some(millis(words, "the delay")),
                "final" => is_final = true,
                other if writes.accept(other, self, words) => {}
                other => words.unknown(other),
            }
        }
        let claim = ClaimRef { queue: queue(&name)?, id, token };
        let (text, writes) = (text.as_deref(), writes.writes()?);
        let failed = self.engine.fail(self.at, Failure { claim, text, delay, is_final, writes })?;
        outcome(failed, |failed| {
            let answer = Answer::text(failed.phase.as_str());
            failed.run_at.into_iter().fold(answer, Answer::and_at)
        })
    }

    /// `heartbeat ID [in QUEUE] token T [extend D] [progress TEXT]`
    pub fn heartbeat(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let token = self.token(words);
        let extend = words.accept("extend").then(|| millis(words, "the extension"));
        let progress = words.accept("progress").then(|| blob(&words.take("the progress")));
        let claim = ClaimRef { queue: queue(&name)?, id, token };
        let beaten = self.engine.heartbeat(self.at, Heartbeat { claim, extend, progress })?;
        outcome(beaten, |deadline| Answer::text("until").and_at(deadline))
    }

    pub fn release(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let token = self.token(words);
        let claim = ClaimRef { queue: queue(&name)?, id, token };
        let delay = words.accept("delay").then(|| millis(words, "the delay"));
        let released = self.engine.release(self.at, claim, delay)?;
        outcome(released, |()| Answer::text("released"))
    }

    pub fn abandon(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let token = self.token(words);
        let claim = ClaimRef { queue: queue(&name)?, id, token };
        let abandoned = self.engine.abandon(self.at, claim)?;
        outcome(abandoned, |()| Answer::text("abandoned"))
    }

    /// `cancel ID [in QUEUE] [because TEXT]`
    pub fn cancel(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let reason = words.accept("because").then(|| words.take("the reason"));
        let was = self.engine.cancel(self.at, queue(&name)?, id, reason.as_deref())?;
        Ok(Answer::text(if was { "cancelled" } else { "nothing" }))
    }
}

fn claim_ref((id, name, token): &(TaskId, String, Token)) -> Result<ClaimRef<'_>, Error> {
    Ok(ClaimRef { queue: queue(name)?, id: *id, token: *token })
}

/// Managing a queue.
impl Stage<'_> {
    pub fn sweep(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the queue");
        let swept = self.engine.sweep(self.at, queue(&name)?)?;
        Ok(told(swept))
    }

    pub fn maintain(&mut self) -> Result<Answer, Error> {
        let swept = self.engine.maintain(self.at.now)?;
        Ok(told(swept))
    }

    /// `reclaim token T`: what was granted after it
    pub fn reclaim(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let since = self.token(words);
        let Reclaimed { claims, leases, .. } = self.engine.reclaim(self.at.now, since)?;
        Ok(Answer::text(format!("claims {claims} leases {leases}")))
    }

    /// `redrive QUEUE [limit N] [ids ID…]`
    pub fn redrive(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the queue");
        let limit = if words.accept("limit") { words.number("the limit") } else { usize::MAX };
        let ids = self.ids(words);
        let (queue, after) = (queue(&name)?, TaskId::default());
        let revived = self.engine.redrive(self.at, Redrive { queue, ids, after, limit })?;
        Ok(Answer::text(revived.count.to_string()))
    }

    /// `purge QUEUE [STATE] [ids ID…]`
    pub fn purge(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the queue");
        let phase = phase(words);
        let ids = self.ids(words);
        let purged = self.engine.purge(self.at, Purge { queue: queue(&name)?, phase, ids })?;
        Ok(Answer::text(purged.count.to_string()))
    }

    /// `promote QUEUE ids ID…`
    pub fn promote(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the queue");
        let ids = self.ids(words).unwrap_or_default();
        Ok(Answer::text(self.engine.promote(self.at, queue(&name)?, ids)?.to_string()))
    }

    /// `reschedule ID [in QUEUE] at T`
    pub fn reschedule(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        words.expect("at");
        let run_at = instant(words.offset("the due time"));
        let waits = self.engine.reschedule(self.at, queue(&name)?, id, run_at)?;
        Ok(Answer::text(if waits { "put off" } else { "nothing" }))
    }

    pub fn set_paused(&mut self, words: &mut Words, paused: bool) -> Result<Answer, Error> {
        let name = words.take("the queue");
        self.engine.set_paused(self.at, queue(&name)?, paused)?;
        Ok(Answer::text("ok"))
    }

    fn ids(&self, words: &mut Words) -> Option<Vec<TaskId>> {
        words.accept("ids").then(|| {
            let mut ids = Vec::new();
            while words.peek().is_some() {
                ids.push(self.number(words, "the task"));
            }
            ids
        })
    }
}

/// A state, if one is next.
pub fn phase(words: &mut Words) -> Option<Phase> {
    let is_next = |phase: &Phase| words.peek() == Some(phase.as_str());
    let phase = Phase::ALL.into_iter().find(is_next)?;
    words.next();
    Some(phase)
}

fn told(swept: Swept) -> Answer {
    Answer::text(format!("expired {} purged {}", swept.expired, swept.purged))
}
