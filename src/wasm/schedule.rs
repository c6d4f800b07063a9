//! The operations on schedules.

use super::call::{Answer, Call, DONE};
use super::reader::Reader;
use super::writer::Writer;
use super::{records, requests};
use crate::error::Error;
use crate::id::Instant;
use crate::limits::CATCH_UP_MAX;
use crate::name::NameRef;
use crate::ops::{Enqueue, Fired, ScheduleRequest};
use crate::schedule::{self, CatchUp, Interval, Job, Passed};
use crate::table::Table;

pub fn put(call: &mut Call<'_>) -> Answer {
    let request = call.request.read(schedule)?;
    let name = request.name.to_name();
    records::schedule(call.reply, &name, &call.engine.schedule(call.at, request)?);
    DONE
}

pub fn remove(call: &mut Call<'_>) -> Answer {
    let name = call.request.read(|request| request.name("name"))?;
    call.reply.flag(call.engine.unschedule(call.at, name)?);
    DONE
}

pub fn get(call: &mut Call<'_>) -> Answer {
    let name = call.request.read(|request| request.name("name"))?;
    if let Some(found) = call.engine.view(call.at).schedule(name)? {
        records::schedule(call.reply, &name.to_name(), found);
    }
    DONE
}

pub fn list(call: &mut Call<'_>) -> Answer {
    let view = call.engine.view(call.at);
    view.schedules().for_each(|(name, one)| records::schedule(call.reply, name, one));
    DONE
}

/// The `cron` schedules that wait for a boundary, the earliest first.
pub fn crons(call: &mut Call<'_>) -> Answer {
    let timetable = &call.engine.state().timetable;
    for (_, name) in timetable.crons() {
        if let Some(schedule) = timetable.get(name.as_str()) {
            records::cron(call.reply, name, schedule);
        }
    }
    DONE
}

/// When the next boundary comes of a `cron` schedule; absent when none waits.
pub fn next_cron(call: &mut Call<'_>) -> Answer {
    let next = call.engine.state().timetable.crons().next();
    call.reply.optional(next.map(|(at, _)| at));
    DONE
}

/// Fires what is due of the others, one commit's worth.
pub fn fire_due(call: &mut Call<'_>) -> Answer {
    fired(call.reply, call.engine.fire_due(call.at.now)?)
}

/// Fires a `cron` schedule, if its next boundary is still the first one given.
pub fn fire_cron(call: &mut Call<'_>) -> Answer {
    let (name, passed) = call.request.read(|request| (request.name("name"), passed(request)))?;
    fired(call.reply, call.engine.fire_cron(call.at.now, name, &passed)?)
}

/// Brings the log's time back. The request names where `cron` schedules are then.
pub fn repair_clock(call: &mut Call<'_>) -> Answer {
    let named = call.request.read(|request| {
        request.list("schedules", usize::MAX, |request| {
            (request.name("name"), Instant::saturating(request.required_whole("next")))
        })
    })?;
    let mut crons = Table::default();
    for (name, next) in named {
        crons.insert(name.to_name(), next);
    }
    call.reply.flag(call.engine.repair_clock(call.at.now, &crons)?);
    DONE
}

fn fired(reply: &mut Writer, fired: Fired) -> Answer {
    reply.number(fired.tasks as u64);
    reply.flag(fired.more);
    DONE
}

fn schedule<'a>(reader: &mut Reader<'a>) -> ScheduleRequest<'a> {
    let name = reader.name("name");
    let when = when(reader);
    let first = reader.whole("first").map(Instant::saturating);
    let catch_up = reader.choice("catchUp", &[CatchUp::All, CatchUp::Last, CatchUp::None]);
    let Enqueue { queue, payload, codec, priority, expires_in, stamps, .. } =
        requests::enqueue(reader);
    let (queue, codec) = (queue.to_name(), codec.map(NameRef::to_name));
    let job = Job { queue, payload, codec, priority, expires_in, catch_up, stamps };
    ScheduleRequest { name, when, first, job }
}

fn when(reader: &mut Reader<'_>) -> schedule::When {
    let kind = reader.byte();
    let number = reader.whole("when").unwrap_or_default();
    let (expression, time_zone) = (reader.text("when.cron"), reader.text("when.timeZone"));
    let instant = schedule::When::At(Instant::saturating(number));
    match kind {
        0 => interval(reader, number).map_or(instant, schedule::When::Every),
        1 => schedule::When::Cron {
            expression: expression.unwrap_or_default().into(),
            time_zone: time_zone.unwrap_or_default().into(),
        },
        _ => instant,
    }
}

fn interval(reader: &mut Reader<'_>, milliseconds: u64) -> Option<Interval> {
    let interval = Interval::try_from(milliseconds).ok();
    if interval.is_none() {
        let (expected, got) = ("a whole number from 1 on", milliseconds.to_string());
        reader.fail(Error::InvalidSchedule { argument: "when.every", expected, got });
    }
    interval
}

fn passed(reader: &mut Reader<'_>) -> Passed {
    Passed {
        oldest: reader.list("boundaries", CATCH_UP_MAX, |reader| {
            Instant::saturating(reader.required_whole("boundary"))
        }),
        newest: Instant::saturating(reader.required_whole("newest")),
        next: reader.whole("next").map(Instant::saturating),
    }
}
