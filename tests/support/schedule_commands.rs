//! The commands on schedules.

use super::answer::Answer;
use super::command::{Stage, instant, millis};
use super::task_commands::TaskWords;
use super::words::{Words, offset};
use fencepost::error::Error;
use fencepost::id::Instant;
use fencepost::name::NameRef;
use fencepost::ops::{Enqueue, Fired, ScheduleRequest};
use fencepost::schedule::{CatchUp, Interval, Job, Passed, When};

impl Stage<'_> {
    /// `schedule NAME (every D | at T | cron EXPRESSION ZONE [first T]) [catch-up all|last|none]
    /// job QUEUE PAYLOAD [options of enqueue]`
    pub fn schedule(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the name");
        let (when, first) = when(words);
        let catch_up = if words.accept("catch-up") { catch_up(words) } else { CatchUp::All };
        words.expect("job");
        let name_of_queue = words.take("the queue");
        let task = TaskWords::parse(name_of_queue, self, words, &[]);
        let Enqueue { queue, payload, priority, expires_in, stamps, .. } = task.request()?;
        let queue = queue.to_name();
        let job = Job { queue, payload, codec: None, priority, expires_in, catch_up, stamps };
        let request = ScheduleRequest { name: named(&name)?, when, first, job };
        Ok(next(Answer::default(), self.engine.schedule(self.at, request)?.row.next))
    }

    pub fn unschedule(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the name");
        let did = self.engine.unschedule(self.at, named(&name)?)?;
        Ok(Answer::text(if did { "removed" } else { "nothing" }))
    }

    /// What the engine works out by itself.
    pub fn fire(&mut self) -> Result<Answer, Error> {
        Ok(fired(self.engine.fire_due(self.at.now)?))
    }

    /// `fire-cron NAME came T,T… [newest T] next (T | never)`
    pub fn fire_cron(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the name");
        words.expect("came");
        let came = words.take("the boundaries");
        let at = |word: &str| {
            instant(offset(word).unwrap_or_else(|| words.wrong(&format!("{word:?} is no time"))))
        };
        let oldest: Vec<Instant> = came.split(',').map(at).collect();
        let newest = match words.accept("newest") {
            true => instant(words.offset("the newest")),
            false => *oldest.last().expect("a split has a part"),
        };
        words.expect("next");
        let next = (!words.accept("never")).then(|| instant(words.offset("the next")));
        let passed = Passed { oldest, newest, next };
        Ok(fired(self.engine.fire_cron(self.at.now, named(&name)?, &passed)?))
    }

    /// `schedule-of NAME FIELD…`
    pub fn schedule_of(&mut self, words: &mut Words) -> Result<Answer, Error> {
        let name = words.take("the name");
        let view = self.engine.view(self.at);
        let found = view.schedule(named(&name)?);
        let Ok(Some(schedule)) = found else {
            while words.next().is_some() {}
            found?;
            return Ok(Answer::text("nothing"));
        };
        let mut answer = Answer::default();
        while let Some(field) = words.next() {
            answer = match field.as_str() {
                "next" => next(answer, schedule.row.next),
                "last" => next(answer, schedule.row.last_fired_at),
                "fired" => answer.and(schedule.row.fired.to_string()),
                "payload" => answer.and(String::from_utf8_lossy(&schedule.spec.job.payload)),
                other => words.unknown(other),
            };
        }
        Ok(answer)
    }

    pub fn schedules(&mut self) -> Answer {
        let view = self.engine.view(self.at);
        let names = view.schedules().map(|(name, _)| name.as_str());
        names.fold(Answer::default(), Answer::and).or_nothing()
    }
}

fn when(words: &mut Words) -> (When, Option<Instant>) {
    match words.take("when").as_str() {
        "every" => {
            let interval = Interval::try_from(millis(words, "the interval").get());
            (When::Every(interval.unwrap_or_else(|_| words.wrong("no interval"))), None)
        }
        "at" => (When::At(instant(words.offset("the instant"))), None),
        "cron" => {
            let expression = words.take("the expression").into();
            let time_zone = words.take("the zone").into();
            let first = words.accept("first").then(|| instant(words.offset("the first")));
            (When::Cron { expression, time_zone }, first)
        }
        other => words.unknown(other),
    }
}

fn catch_up(words: &mut Words) -> CatchUp {
    match words.take("the catch-up").as_str() {
        "all" => CatchUp::All,
        "last" => CatchUp::Last,
        "none" => CatchUp::None,
        other => words.unknown(other),
    }
}

fn next(answer: Answer, at: Option<Instant>) -> Answer {
    at.map_or(answer.clone().and("never"), |at| answer.and_at(at))
}

fn fired(Fired { tasks, more }: Fired) -> Answer {
    Answer::text(tasks.to_string()).and(if more { "more" } else { "" })
}

fn named(name: &str) -> Result<NameRef<'_>, Error> {
    NameRef::shared("name", name)
}
