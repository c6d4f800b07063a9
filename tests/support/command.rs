//! Carries out one line of a script on an engine.

use super::answer::{Answer, Symbols};
use super::words::Words;
use fencepost::blob::Blob;
use fencepost::engine::{Context, Engine};
use fencepost::error::{Error, Outcome};
use fencepost::id::{Instant, Millis, TaskId, Token, Version};
use fencepost::name::NameRef;
use fencepost::ops::Write;
use std::collections::BTreeMap;

/// An engine at an instant, and what the script has seen so far.
pub struct Stage<'a> {
    pub engine: &'a mut Engine,
    pub at: Context,
    pub symbols: &'a Symbols,
    /// In which queue each task was made; commands on a task need not repeat it.
    pub queue_of: &'a mut BTreeMap<TaskId, String>,
    pub in_transaction: bool,
}

/// Reads and other lines that want everything merged before them.
pub fn wants_merged(command: &str) -> bool {
    const READS: [&str; 16] = [
        "by-key",
        "get",
        "list",
        "counts",
        "explain",
        "next-due",
        "queues",
        "status",
        "leases",
        "value",
        "values",
        "schedule-of",
        "schedules",
        "events",
        "restart",
        "repair-clock",
    ];
    READS.contains(&command)
}

impl Stage<'_> {
    pub fn run(&mut self, mut words: Words) -> Answer {
        let command = words.take("the command");
        let answer = match command.as_str() {
            "enqueue" => self.enqueue(&mut words),
            "enqueue-many" => self.enqueue_many(&mut words),
            "claim" => self.claim(&mut words),
            "complete" => self.complete(&mut words),
            "complete-many" => self.complete_many(&mut words),
            "fail" => self.fail(&mut words),
            "heartbeat" => self.heartbeat(&mut words),
            "release" => self.release(&mut words),
            "abandon" => self.abandon(&mut words),
            "cancel" => self.cancel(&mut words),
            "sweep" => self.sweep(&mut words),
            "maintain" => self.maintain(),
            "reclaim" => self.reclaim(&mut words),
            "redrive" => self.redrive(&mut words),
            "purge" => self.purge(&mut words),
            "promote" => self.promote(&mut words),
            "reschedule" => self.reschedule(&mut words),
            "pause" => self.set_paused(&mut words, true),
            "resume" => self.set_paused(&mut words, false),
            "acquire" => self.acquire(&mut words),
            "renew" => self.renew(&mut words),
            "give-back" => self.give_back(&mut words),
            "guard" => self.guarded_commit(&mut words),
            "put" => self.put(&mut words),
            "del" => self.delete(&mut words),
            "check" => self.check(&mut words),
            "require-task" => self.require_task(&mut words),
            "require-lease" => self.require_lease(&mut words),
            "schedule" => self.schedule(&mut words),
            "unschedule" => self.unschedule(&mut words),
            "fire" => self.fire(),
            "fire-cron" => self.fire_cron(&mut words),
            "begin" => self.begin(),
            "commit" => self.commit(),
            "abort" => self.abort(),
            "repair-clock" => self.repair_clock(),
            "value" if self.in_transaction => self.peek(&mut words),
            read if wants_merged(read) => self.read(read, &mut words),
            _ => words.unknown(&command),
        };
        words.finish();
        answer.unwrap_or_else(Answer::from)
    }

    /// The token behind the word `token`.
    pub fn token(&self, words: &mut Words) -> Token {
        words.expect("token");
        self.number(words, "the token")
    }

    pub fn number<T: TryFrom<u64>>(&self, words: &mut Words, what: &str) -> T {
        let word = words.take(what);
        let number = self.symbols.number(&word).and_then(|number| T::try_from(number).ok());
        number.unwrap_or_else(|| words.wrong(&format!("{word:?} is no number known here")))
    }

    /// A task by its id; the queue is known or follows on `in`.
    pub fn task(&self, words: &mut Words) -> (TaskId, String) {
        let id = self.number(words, "the task");
        let queue = match words.accept("in") {
            true => words.take("the queue"),
            false => self.queue_of.get(&id).cloned().unwrap_or_else(|| "mail".to_owned()),
        };
        (id, queue)
    }

    fn begin(&mut self) -> Result<Answer, Error> {
        self.engine.begin_transaction(self.at.now)?;
        Ok(Answer::text("ok"))
    }

    fn commit(&mut self) -> Result<Answer, Error> {
        self.engine.commit_transaction(self.at.now)?;
        Ok(Answer::text("ok"))
    }

    fn abort(&mut self) -> Result<Answer, Error> {
        self.engine.abort_transaction();
        Ok(Answer::text("ok"))
    }

    fn repair_clock(&mut self) -> Result<Answer, Error> {
        let repaired = self.engine.repair_clock(self.at.now, &Default::default())?;
        Ok(Answer::text(if repaired { "repaired" } else { "nothing" }))
    }
}

/// The key-value writes that ride on a command.
#[derive(Clone, Debug, Default)]
pub struct WriteWords(Vec<WriteWord>);

#[derive(Clone, Debug)]
enum WriteWord {
    Put(String, Blob),
    Delete(String),
    Check(String, Option<Version>),
}

impl WriteWords {
    /// Takes `put`, `del` and `check`; false for another option.
    pub fn accept(&mut self, option: &str, stage: &Stage<'_>, words: &mut Words) -> bool {
        let write = match option {
            "put" => WriteWord::Put(words.take("the key"), blob(&words.take("the value"))),
            "del" => WriteWord::Delete(words.take("the key")),
            "check" => WriteWord::Check(words.take("the key"), stage.version(words)),
            _ => return false,
        };
        self.0.push(write);
        true
    }

    pub fn writes(&self) -> Result<Vec<Write<'_>>, Error> {
        self.0
            .iter()
            .map(|word| match word {
                WriteWord::Put(key, value) => {
                    Ok(Write::Put { key: NameRef::key(key)?, value: value.clone() })
                }
                WriteWord::Delete(key) => Ok(Write::Delete { key: NameRef::key(key)? }),
                WriteWord::Check(key, version) => {
                    Ok(Write::Check { key: NameRef::key(key)?, version: *version })
                }
            })
            .collect()
    }
}

impl Stage<'_> {
    /// A version, or `none`.
    pub fn version(&self, words: &mut Words) -> Option<Version> {
        match words.accept("none") {
            true => None,
            false => Some(self.number(words, "the version")),
        }
    }
}

pub fn queue(name: &str) -> Result<NameRef<'_>, Error> {
    NameRef::shared("queue", name)
}

pub fn blob(text: &str) -> Blob {
    Blob::from(text.as_bytes())
}

pub fn millis(words: &mut Words, what: &str) -> Millis {
    Millis::saturating(words.duration(what))
}

pub fn instant(offset: i64) -> Instant {
    Instant::saturating(super::START.get().saturating_add_signed(offset))
}

/// The answer to a command that may be refused.
pub fn outcome<T>(outcome: Outcome<T>, answer: impl FnOnce(T) -> Answer) -> Result<Answer, Error> {
    Ok(outcome.map_or_else(Answer::from, answer))
}
