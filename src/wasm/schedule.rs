//! The operations on schedules.

use super::reader::Reader;
use super::{Core, When, records, requests};
use crate::error::Error;
use crate::id::Instant;
use crate::limits::CATCH_UP_MAX;
use crate::name::Name;
use crate::ops::{Enqueue, Fired, ScheduleRequest};
use crate::schedule::{self, CatchUp, Interval, Job, Passed, Schedule};
use crate::table::Table;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Core {
    #[wasm_bindgen(js_name = schedulePut)]
    pub fn schedule_put(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let request = schedule(reader)?;
                let name = request.name.to_name();
                Ok((name, engine.schedule(at, request)?))
            },
            |reply, (name, schedule)| records::schedule(reply, &name, &schedule),
        )
    }

    #[wasm_bindgen(js_name = scheduleRemove)]
    pub fn schedule_remove(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| engine.unschedule(at, reader.name("name")?),
            |reply, was_there| reply.byte(u8::from(was_there)),
        )
    }

    #[wasm_bindgen(js_name = scheduleGet)]
    pub fn schedule_get(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let name = reader.name("name")?;
                let found = engine.view(at).schedule(name).cloned();
                Ok(found.map(|schedule| (name.to_name(), schedule)))
            },
            |reply, found| {
                found.iter().for_each(|(name, schedule)| records::schedule(reply, name, schedule));
            },
        )
    }

    #[wasm_bindgen(js_name = scheduleList)]
    pub fn schedule_list(&mut self, now: f64, caller: u32) -> i32 {
        self.command(
            0,
            When { now, caller },
            |engine, _, at| {
                let view = engine.view(at);
                let owned = |(name, schedule): (&Name, &Schedule)| (name.clone(), schedule.clone());
                Ok(view.schedules().map(owned).collect::<Vec<_>>())
            },
            |reply, found| {
                found.iter().for_each(|(name, schedule)| records::schedule(reply, name, schedule));
            },
        )
    }

    /// The `cron` schedules that wait for a boundary, the earliest first.
    #[wasm_bindgen(js_name = cronList)]
    pub fn cron_list(&mut self, now: f64) -> i32 {
        self.command(
            0,
            When { now, caller: 0 },
            |engine, _, _| {
                let timetable = &engine.state().timetable;
                let name = |(_, name): (Instant, &Name)| name.clone();
                let waiting: Vec<_> = timetable.crons().map(name).collect();
                let known = |name: Name| Some((timetable.get(name.as_str())?.clone(), name));
                Ok(waiting.into_iter().filter_map(known).collect::<Vec<_>>())
            },
            |reply, found| {
                found.iter().for_each(|(schedule, name)| records::cron(reply, name, schedule));
            },
        )
    }

    /// Fires what is due of the others, one commit's worth.
    #[wasm_bindgen(js_name = fireDue)]
    pub fn fire_due(&mut self, now: f64) -> i32 {
        self.command(0, When { now, caller: 0 }, |engine, _, at| engine.fire_due(at.now), fired)
    }

    /// Fires a `cron` schedule, if its next boundary is still the first one given.
    #[wasm_bindgen(js_name = fireCron)]
    pub fn fire_cron(&mut self, request: u32, now: f64) -> i32 {
        self.command(
            request,
            When { now, caller: 0 },
            |engine, reader, at| {
                let name = reader.name("name")?;
                engine.fire_cron(at.now, name, &passed(reader)?)
            },
            fired,
        )
    }

    /// Brings the log's time back. The request names where `cron` schedules are then.
    #[wasm_bindgen(js_name = repairClock)]
    pub fn repair_clock(&mut self, request: u32, now: f64) -> i32 {
        self.command(
            request,
            When { now, caller: 0 },
            |engine, reader, at| {
                let mut crons = Table::default();
                for _ in 0..reader.count()? {
                    let name = reader.name("name")?.to_name();
                    crons.insert(name, Instant::saturating(reader.required_whole("next")?));
                }
                engine.repair_clock(at.now, &crons)
            },
            |reply, did| reply.byte(u8::from(did)),
        )
    }

    /// When the next boundary comes of a `cron` schedule; `undefined` when none waits.
    #[wasm_bindgen(getter, js_name = nextCron)]
    pub fn next_cron(&self) -> Option<f64> {
        self.engine.state().timetable.crons().next().map(|(at, _)| at.get() as f64)
    }
}

fn fired(reply: &mut super::writer::Writer, fired: Fired) {
    reply.number(fired.tasks as u64);
    reply.byte(u8::from(fired.more));
}

fn schedule<'a>(reader: &mut Reader<'a>) -> Result<ScheduleRequest<'a>, Error> {
    let name = reader.name("name")?;
    let when = when(reader)?;
    let first = reader.whole("first")?.map(Instant::saturating);
    let catch_up = match reader.byte()? {
        1 => CatchUp::Last,
        2 => CatchUp::None,
        _ => CatchUp::All,
    };
    let Enqueue { queue, payload, priority, expires_in, stamps, .. } = requests::enqueue(reader)?;
    let queue = queue.to_name();
    let job = Job { queue, payload, priority, expires_in, catch_up, stamps };
    Ok(ScheduleRequest { name, when, first, job })
}

fn when(reader: &mut Reader<'_>) -> Result<schedule::When, Error> {
    let kind = reader.byte()?;
    let number = reader.whole("when")?;
    let (expression, time_zone) = (reader.text("when.cron")?, reader.text("when.timeZone")?);
    Ok(match kind {
        0 => schedule::When::Every(interval(number.unwrap_or_default())?),
        1 => schedule::When::Cron {
            expression: expression.unwrap_or_default().into(),
            time_zone: time_zone.unwrap_or_default().into(),
        },
        _ => schedule::When::At(Instant::saturating(number.unwrap_or_default())),
    })
}

fn interval(milliseconds: u64) -> Result<Interval, Error> {
    Interval::try_from(milliseconds).map_err(|_| Error::InvalidSchedule {
        argument: "when.every",
        expected: "a whole number from 1 on",
        got: milliseconds.to_string(),
    })
}

fn passed(reader: &mut Reader<'_>) -> Result<Passed, Error> {
    let count = reader.count()?;
    if count > CATCH_UP_MAX {
        let (size, limit) = (count as u64, CATCH_UP_MAX as u64);
        return Err(Error::LimitExceeded { what: "boundaries", size, limit });
    }
    let instant = |number: u64| Instant::saturating(number);
    let oldest = std::iter::repeat_with(|| reader.required_whole("boundary").map(instant));
    let oldest = oldest.take(count).collect::<Result<_, _>>()?;
    let newest = instant(reader.required_whole("newest")?);
    Ok(Passed { oldest, newest, next: reader.whole("next")?.map(instant) })
}
