//! The operations on queues.

use super::call::{Answer, Call, DONE};
use super::{records, requests};
use crate::id::{Millis, SAFE_MAX};
use crate::limits::SWEEP_ROWS_MAX;
use crate::ops::{Purge, Redrive};

pub fn enqueue(call: &mut Call<'_>) -> Answer {
    let enqueued = call.engine.enqueue(call.at, requests::enqueue(&mut call.request)?)?;
    records::enqueued(call.reply, &enqueued);
    DONE
}

pub fn enqueue_many(call: &mut Call<'_>) -> Answer {
    let requests = requests::enqueues(&mut call.request, "items")?;
    let all = call.engine.enqueue_many(call.at, requests)?;
    all.iter().for_each(|enqueued| records::enqueued(call.reply, enqueued));
    DONE
}

pub fn claim(call: &mut Call<'_>) -> Answer {
    let tasks = call.engine.claim(call.at, requests::claim(&mut call.request)?)?;
    let now = call.engine.time(call.at.now);
    tasks.iter().for_each(|task| records::task(call.reply, task, now));
    DONE
}

pub fn complete(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.complete(call.at, requests::completion(&mut call.request)?)?;
    Ok(outcome.map(|all| all.iter().for_each(|one| records::enqueued(call.reply, one))))
}

pub fn complete_many(call: &mut Call<'_>) -> Answer {
    let landed = call.engine.complete_many(call.at, &requests::claims(&mut call.request)?)?;
    call.reply.number(landed as u64);
    DONE
}

pub fn fail(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.fail(call.at, requests::failure(&mut call.request)?)?;
    Ok(outcome.map(|failed| {
        call.reply.float(failed.phase as u8 as f64);
        call.reply.optional(failed.run_at);
    }))
}

pub fn heartbeat(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.heartbeat(call.at, requests::heartbeat(&mut call.request)?)?;
    Ok(outcome.map(|deadline| call.reply.number(deadline)))
}

pub fn release(call: &mut Call<'_>) -> Answer {
    call.engine.release(call.at, requests::claim_ref(&mut call.request)?)
}

pub fn abandon(call: &mut Call<'_>) -> Answer {
    call.engine.abandon(call.at, requests::claim_ref(&mut call.request)?)
}

pub fn cancel(call: &mut Call<'_>) -> Answer {
    let (queue, id) = requests::task_ref(&mut call.request)?;
    let reason = call.request.text("reason")?;
    call.reply.flag(call.engine.cancel(call.at, queue, id, reason)?);
    DONE
}

pub fn sweep(call: &mut Call<'_>) -> Answer {
    let swept = call.engine.sweep(call.at, call.request.name("queue")?)?;
    records::swept(call.reply, &swept);
    DONE
}

pub fn redrive(call: &mut Call<'_>) -> Answer {
    let queue = call.request.name("queue")?;
    let limit = call.request.millis("limit")?.map_or(SAFE_MAX, Millis::get);
    let limit = limit.min(SWEEP_ROWS_MAX as u64) as usize;
    let ids = requests::ids(&mut call.request)?;
    let redriven = call.engine.redrive(call.at, Redrive { queue, limit, ids })?;
    call.reply.number(redriven as u64);
    DONE
}

pub fn purge(call: &mut Call<'_>) -> Answer {
    let queue = call.request.name("queue")?;
    let phase = requests::phase(&mut call.request)?;
    let ids = requests::ids(&mut call.request)?;
    call.reply.number(call.engine.purge(call.at, Purge { queue, phase, ids })? as u64);
    DONE
}

pub fn pause(call: &mut Call<'_>) -> Answer {
    let queue = call.request.name("queue")?;
    call.engine.set_paused(call.at, queue, call.request.flag()?)?;
    DONE
}
