//! The reads: of what is merged, at the time of the line.

use super::answer::Answer;
use super::command::{Stage, queue};
use super::lease_commands::lease;
use super::task_commands::phase;
use super::words::Words;
use fencepost::error::Error;
use fencepost::id::{Instant, TaskId};
use fencepost::lease::LeaseRow;
use fencepost::name::NameRef;
use fencepost::ops::read::{View, Way};
use fencepost::task::{Phase, Task, TaskState};

impl Stage<'_> {
    pub fn read(&mut self, command: &str, words: &mut Words) -> Result<Answer, Error> {
        match command {
            "get" => self.get(words),
            "list" => self.list(words),
            "counts" => {
                let name = words.take("the queue");
                let view = self.view();
                let (counts, lapsed) = (view.counts(queue(&name)?)?, view.lapsed(queue(&name)?)?);
                Ok(counted(Answer::default(), counts, lapsed).or_nothing())
            }
            "by-key" => {
                let (name, key) = (words.take("the queue"), words.take("the key"));
                let found = self.view().task_by_key(queue(&name)?, &key)?;
                Ok(found.map_or(Answer::text("nothing"), |task| Answer::text(task.id.to_string())))
            }
            "explain" => self.explain(words),
            "next-due" => {
                let name = words.take("the queue");
                let due = self.view().next_due(queue(&name)?)?;
                Ok(due.map_or(Answer::text("never"), |at| Answer::default().and_at(at)))
            }
            "queues" => Ok(self.queues()),
            "status" => {
                let name = words.take("the lease");
                let row = self.view().lease(lease(&name)?)?;
                Ok(row.map_or(Answer::text("nothing"), status))
            }
            "leases" => {
                let (prefix, after, limit) = page_words(words);
                let page = self.view().leases(&prefix, after.as_deref(), limit);
                let names = page.items.iter().map(|(name, _)| name.as_str());
                Ok(names_of(names, page.more))
            }
            "value" => {
                let key = words.take("the key");
                let row = self.view().value(NameRef::key(&key)?)?;
                Ok(row.map_or(Answer::text("nothing"), |row| {
                    Answer::text(shown(&row.value)).and("version").and_version(row.version)
                }))
            }
            "values" => {
                let (prefix, after, limit) = page_words(words);
                let page = self.view().values(&prefix, after.as_deref(), limit);
                let keys = page.items.iter().map(|(key, _)| key.as_str());
                Ok(names_of(keys, page.more))
            }
            "schedule-of" => self.schedule_of(words),
            "schedules" => Ok(self.schedules()),
            other => words.unknown(other),
        }
    }

    fn view(&mut self) -> View<'_> {
        self.engine.view(self.at)
    }

    /// `get ID [in QUEUE] FIELD…`
    fn get(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let view = self.view();
        let found = view.task(queue(&name)?, id);
        let Ok(Some(task)) = found else {
            while words.next().is_some() {}
            found?;
            return Ok(Answer::text("nothing"));
        };
        let mut answer = Answer::default();
        while let Some(field) = words.next() {
            answer = field_of(task, &field, view.now, answer, words);
        }
        Ok(answer)
    }

    /// `list QUEUE [STATE] [backwards] [after ID] [limit N]`
    fn list(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the queue");
        let phase = phase(words);
        let way = if words.accept("backwards") { Way::Down } else { Way::Up };
        let cursor = words.accept("after").then(|| self.number::<TaskId>(words, "the task"));
        let limit = if words.accept("limit") { words.number("the limit") } else { 100 };
        let page = self.view().tasks(queue(&name)?, phase, (way, cursor), limit);
        let ids: Vec<String> = page.items.iter().map(|task| task.id.to_string()).collect();
        Ok(names_of(ids.iter().map(String::as_str), page.more))
    }

    fn explain(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let (id, name) = self.task(words);
        let explanation = self.view().explain(queue(&name)?, id)?;
        Ok(explanation.map_or(Answer::text("nothing"), |why| {
            let answer = Answer::text(why.phase.as_str()).and(why.because.as_str());
            why.until.into_iter().fold(answer, |answer, at| answer.and("until").and_at(at))
        }))
    }

    fn queues(&mut self) -> Answer {
        let told = |answer: Answer, queue: fencepost::ops::read::QueueSummary| {
            let answer = counted(answer.and(queue.name.as_str()), queue.counts, queue.lapsed);
            let answer = answer.and(if queue.paused { "paused" } else { "" });
            let oldest = queue.oldest_ready_at.into_iter();
            let answer = oldest.fold(answer, |answer, at| answer.and("oldest").and_at(at));
            queue.next_due.into_iter().fold(answer, |answer, at| answer.and("due").and_at(at))
        };
        self.view().queues().into_iter().fold(Answer::default(), told).or_nothing()
    }
}

/// `[prefix P] [after NAME] [limit N]`
fn page_words(words: &mut Words) -> (String, Option<String>, usize) {
    let prefix = if words.accept("prefix") { words.take("the prefix") } else { String::new() };
    let after = words.accept("after").then(|| words.take("the name"));
    let limit = if words.accept("limit") { words.number("the limit") } else { 100 };
    (prefix, after, limit)
}

fn names_of<'a>(names: impl Iterator<Item = &'a str>, more: bool) -> Answer {
    let answer = names.fold(Answer::default(), Answer::and).or_nothing();
    answer.and(if more { "more" } else { "" })
}

fn counted(answer: Answer, counts: [usize; Phase::ALL.len()], lapsed: usize) -> Answer {
    let some = Phase::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    let answer = some
        .fold(answer, |answer, (phase, count)| answer.and(format!("{} {count}", phase.as_str())));
    if lapsed > 0 { answer.and(format!("lapsed {lapsed}")) } else { answer }
}

fn status(row: &LeaseRow) -> Answer {
    let answer = match &row.state {
        fencepost::lease::LeaseState::Held { owner, until } => {
            Answer::text(owner.as_str()).and("until").and_at(*until)
        }
        fencepost::lease::LeaseState::Released { .. } => Answer::text("released"),
    };
    let answer = answer.and("token").and_token(row.token);
    row.meta.iter().fold(answer, |answer, meta| answer.and("meta").and(shown(meta)))
}

fn field_of(task: &Task, field: &str, now: Instant, answer: Answer, words: &Words) -> Answer {
    let claim = task.claim();
    let (died_at, reason, claimed_at) = match &task.row.state {
        TaskState::Dead { at, reason, claimed_at } => (Some(*at), Some(*reason), *claimed_at),
        _ => (None, None, claim.map(|claim| claim.claimed_at)),
    };
    let text = match field {
        "state" => task.phase(now).map(|phase| phase.as_str().to_owned()),
        "lapsed" => Some(task.is_lapsed(now).to_string()),
        "attempt" => Some(task.row.attempt.to_string()),
        "seq" => Some(task.spec.seq.to_string()),
        "priority" => Some(task.spec.priority.get().to_string()),
        "owner" => claim.map(|claim| claim.owner.as_str().to_owned()),
        "last-owner" => task.last_owner().map(|owner| owner.as_str().to_owned()),
        "key" => task.spec.key.as_ref().map(|key| key.as_str().to_owned()),
        "payload" => Some(shown(&task.spec.payload)),
        "progress" => task.progress.as_ref().map(|progress| shown(progress)),
        "result" => task.result.as_ref().map(|result| shown(result)),
        "error" => task.last_error.as_ref().map(|text| text.to_string()),
        "reason" => reason.map(|reason| reason.as_str().to_owned()),
        "token" => match claim {
            Some(claim) => return answer.and_token(claim.token),
            None => None,
        },
        _ => {
            let at = match field {
                "deadline" => claim.map(|claim| claim.deadline),
                "due" => Some(task.row.run_at),
                "expires" => Some(task.row.expires_at).filter(|at| *at < Instant::NEVER),
                "created" => Some(task.spec.created_at),
                "updated" => Some(task.row.updated_at),
                "claimed" => claimed_at,
                "died" => died_at,
                "boundary" => task.spec.boundary,
                other => words.unknown(other),
            };
            return at.map_or(answer.clone().and("-"), |at| answer.and_at(at));
        }
    };
    answer.and(text.as_deref().unwrap_or("-"))
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
