//! The operations on queues.

use super::call::{Answer, Call, DONE};
use super::{records, requests};
use crate::id::{Instant, Millis, SAFE_MAX, TaskId};
use crate::limits::SWEEP_ROWS_MAX;
use crate::ops::{Purge, Redrive};

pub fn enqueue(call: &mut Call<'_>) -> Answer {
    let enqueued = call.engine.enqueue(call.at, call.request.read(requests::enqueue)?)?;
    records::enqueued(call.reply, &enqueued);
    DONE
}

pub fn enqueue_many(call: &mut Call<'_>) -> Answer {
    let requests = call.request.read(|request| requests::enqueues(request, "items"))?;
    let all = call.engine.enqueue_many(call.at, requests)?;
    all.iter().for_each(|enqueued| records::enqueued(call.reply, enqueued));
    DONE
}

pub fn claim(call: &mut Call<'_>) -> Answer {
    let tasks = call.engine.claim(call.at, call.request.read(requests::claim)?)?;
    let now = call.engine.time(call.at.now);
    tasks.iter().for_each(|task| records::task(call.reply, task, now));
    DONE
}

pub fn complete(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.complete(call.at, call.request.read(requests::completion)?)?;
    Ok(outcome.map(|all| all.iter().for_each(|one| records::enqueued(call.reply, one))))
}

pub fn complete_many(call: &mut Call<'_>) -> Answer {
    let landed = call.engine.complete_many(call.at, &call.request.read(requests::claims)?)?;
    call.reply.number(landed as u64);
    DONE
}

pub fn fail(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.fail(call.at, call.request.read(requests::failure)?)?;
    Ok(outcome.map(|failed| {
        call.reply.float(failed.phase as u8 as f64);
        call.reply.optional(failed.run_at);
    }))
}

pub fn heartbeat(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.heartbeat(call.at, call.request.read(requests::heartbeat)?)?;
    Ok(outcome.map(|deadline| call.reply.number(deadline)))
}

pub fn release(call: &mut Call<'_>) -> Answer {
    let (claim, delay) =
        call.request.read(|request| (requests::claim_ref(request), request.millis("delay")))?;
    Ok(call.engine.release(call.at, claim, delay)?)
}

pub fn abandon(call: &mut Call<'_>) -> Answer {
    Ok(call.engine.abandon(call.at, call.request.read(requests::claim_ref)?)?)
}

pub fn cancel(call: &mut Call<'_>) -> Answer {
    let ((queue, id), reason) =
        call.request.read(|request| (requests::task_ref(request), request.text("reason")))?;
    call.reply.flag(call.engine.cancel(call.at, queue, id, reason)?);
    DONE
}

pub fn sweep(call: &mut Call<'_>) -> Answer {
    let swept = call.engine.sweep(call.at, call.request.read(|request| request.name("queue"))?)?;
    records::swept(call.reply, &swept);
    DONE
}

pub fn redrive(call: &mut Call<'_>) -> Answer {
    let request = call.request.read(|request| {
        let queue = request.name("queue");
        let limit = request.millis("limit").map_or(SAFE_MAX, Millis::get);
        let limit = limit.min(SWEEP_ROWS_MAX as u64) as usize;
        let after = TaskId::saturating(request.whole("after").unwrap_or_default());
        Redrive { queue, after, limit, ids: requests::ids(request) }
    })?;
    let redriven = call.engine.redrive(call.at, request)?;
    call.reply.number(redriven.count as u64);
    call.reply.flag(redriven.more);
    call.reply.number(redriven.last);
    DONE
}

pub fn purge(call: &mut Call<'_>) -> Answer {
    let request = call.request.read(|request| Purge {
        queue: request.name("queue"),
        phase: requests::phase(request),
        ids: requests::ids(request),
    })?;
    let purged = call.engine.purge(call.at, request)?;
    call.reply.number(purged.count as u64);
    call.reply.flag(purged.more);
    DONE
}

pub fn promote(call: &mut Call<'_>) -> Answer {
    let (queue, ids) = call
        .request
        .read(|request| (request.name("queue"), requests::ids(request).unwrap_or_default()))?;
    call.reply.number(call.engine.promote(call.at, queue, ids)? as u64);
    DONE
}

pub fn reschedule(call: &mut Call<'_>) -> Answer {
    let ((queue, id), run_at) = call.request.read(|request| {
        (requests::task_ref(request), Instant::saturating(request.required_whole("at")))
    })?;
    call.reply.flag(call.engine.reschedule(call.at, queue, id, run_at)?);
    DONE
}

pub fn pause(call: &mut Call<'_>) -> Answer {
    let (queue, paused) = call.request.read(|request| (request.name("queue"), request.flag()))?;
    call.engine.set_paused(call.at, queue, paused)?;
    DONE
}
