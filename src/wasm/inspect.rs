//! Reads, and what is known of names and callers.

use super::call::{Answer, Call, DONE};
use super::{records, requests};
use crate::change::Removal;
use crate::engine::CallerId;
use crate::id::TaskId;
use crate::ops::read::Way;

/// Fails unless the text is a name of its family.
pub fn check_name(call: &mut Call<'_>) -> Answer {
    const ARGUMENTS: [&str; 4] = ["name", "owner", "key", "codec"];
    call.request.read(|request| {
        let argument = request.choice("argument", &ARGUMENTS);
        request.name(argument)
    })?;
    DONE
}

/// Makes a caller known, and numbers it from 1.
pub fn add_caller(call: &mut Call<'_>) -> Answer {
    let CallerId(number) = call.engine.add_caller(call.request.read(requests::caller)?);
    call.reply.number(u64::from(number) + 1);
    DONE
}

/// Forgets the caller whose call this is.
pub fn remove_caller(call: &mut Call<'_>) -> Answer {
    if let Some(caller) = call.at.caller {
        call.engine.remove_caller(caller);
    }
    DONE
}

/// Fails unless the caller may run a worker on the queue.
pub fn may_work(call: &mut Call<'_>) -> Answer {
    let queue = call.request.read(|request| request.name("queue"))?;
    call.engine.view(call.at).require_work(queue)?;
    DONE
}

pub fn task(call: &mut Call<'_>) -> Answer {
    let (queue, id) = call.request.read(requests::task_ref)?;
    let view = call.engine.view(call.at);
    if let Some(task) = view.task(queue, id)? {
        records::task(call.reply, task, view.now);
    }
    DONE
}

pub fn task_by_key(call: &mut Call<'_>) -> Answer {
    let (queue, key) = call.request.read(|request| (request.name("queue"), request.name("key")))?;
    let view = call.engine.view(call.at);
    if let Some(task) = view.task_by_key(queue, key.as_str())? {
        records::task(call.reply, task, view.now);
    }
    DONE
}

pub fn tasks(call: &mut Call<'_>) -> Answer {
    let (queue, phase, place, limit) = call.request.read(|request| {
        let (queue, phase) = (request.name("queue"), requests::phase(request));
        let cursor = request.whole("cursor").map(TaskId::saturating);
        let limit = request.page_size("limit");
        let way = request.choice("order", &[Way::Up, Way::Down]);
        (queue, phase, (way, cursor), limit)
    })?;
    let view = call.engine.view(call.at);
    let page = view.tasks(queue, phase, place, limit);
    call.reply.flag(page.more);
    page.items.iter().for_each(|task| records::task(call.reply, task, view.now));
    DONE
}

pub fn counts(call: &mut Call<'_>) -> Answer {
    let queue = call.request.read(|request| request.name("queue"))?;
    let view = call.engine.view(call.at);
    let (counts, lapsed) = (view.counts(queue)?, view.lapsed(queue)?);
    counts.iter().for_each(|count| call.reply.number(*count as u64));
    call.reply.number(lapsed as u64);
    DONE
}

pub fn next_due_of(call: &mut Call<'_>) -> Answer {
    let queue = call.request.read(|request| request.name("queue"))?;
    call.reply.optional(call.engine.view(call.at).next_due(queue)?);
    DONE
}

/// State, reason, and until when; nothing for an unknown task.
pub fn explain(call: &mut Call<'_>) -> Answer {
    let (queue, id) = call.request.read(requests::task_ref)?;
    if let Some(found) = call.engine.view(call.at).explain(queue, id)? {
        call.reply.number(found.phase as u64);
        call.reply.text(Some(found.because.as_str()));
        call.reply.optional(found.until);
    }
    DONE
}

/// Why a task is not there any more, as far as it is remembered: a cause, and perhaps its words.
pub fn removal_of(call: &mut Call<'_>) -> Answer {
    let id = call.request.read(requests::task_id)?;
    let (cause, reason) = match call.engine.state().removals.of(id) {
        Some(Removal::Cancelled { reason }) => ("cancelled", reason.as_deref()),
        Some(Removal::Buried { .. }) => ("buried", None),
        _ => return DONE,
    };
    call.reply.text(Some(cause));
    call.reply.text(reason);
    DONE
}

/// The name of the queue that a task is in; nothing for an unknown task.
pub fn queue_of(call: &mut Call<'_>) -> Answer {
    let id = call.request.read(requests::task_id)?;
    let state = call.engine.state();
    if let Some(task) = state.task(id) {
        call.reply.text(Some(state.queue(task.queue).name.as_str()));
    }
    DONE
}

pub fn queues(call: &mut Call<'_>) -> Answer {
    for queue in call.engine.view(call.at).queues() {
        call.reply.text(Some(queue.name.as_str()));
        queue.counts.iter().for_each(|count| call.reply.number(*count as u64));
        call.reply.number(queue.lapsed as u64);
        call.reply.flag(queue.paused);
        call.reply.optional(queue.oldest_ready_at);
        call.reply.optional(queue.next_due);
    }
    DONE
}

pub fn lease(call: &mut Call<'_>) -> Answer {
    let name = call.request.read(|request| request.name("lease"))?;
    if let Some(row) = call.engine.view(call.at).lease(name)? {
        records::lease(call.reply, &name.to_name(), row);
    }
    DONE
}

pub fn leases(call: &mut Call<'_>) -> Answer {
    let (prefix, after, limit) = call.request.read(requests::name_page)?;
    let page = call.engine.view(call.at).leases(prefix, after, limit);
    call.reply.flag(page.more);
    page.items.iter().for_each(|(name, row)| records::lease(call.reply, name, row));
    DONE
}

pub fn value(call: &mut Call<'_>) -> Answer {
    let key = call.request.read(|request| request.name("key"))?;
    if let Some(row) = call.engine.view(call.at).value(key)? {
        records::value(call.reply, Some(row.version), &row.value);
    }
    DONE
}

pub fn values(call: &mut Call<'_>) -> Answer {
    let (prefix, after, limit) = call.request.read(requests::name_page)?;
    let page = call.engine.view(call.at).values(prefix, after, limit);
    call.reply.flag(page.more);
    for (key, row) in page.items {
        call.reply.text(Some(key.as_str()));
        records::value(call.reply, Some(row.version), &row.value);
    }
    DONE
}

/// How many rows there are, and what is wrong with them.
pub fn verify(call: &mut Call<'_>) -> Answer {
    let report = call.engine.verify();
    call.reply.number(report.rows as u64);
    report.problems.iter().for_each(|problem| call.reply.text(Some(problem)));
    DONE
}

/// What the rows weigh and may weigh, then rows and bytes of each kind.
pub fn usage(call: &mut Call<'_>) -> Answer {
    let usage = call.engine.state().usage;
    call.reply.number(usage.bytes());
    call.reply.number(call.engine.options().store_bytes_max);
    for amount in usage.kinds() {
        call.reply.number(amount.rows);
        call.reply.number(amount.bytes);
    }
    DONE
}
