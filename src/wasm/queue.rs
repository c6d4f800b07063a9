//! The operations on queues.

use super::{Core, When, records, requests};
use crate::id::{Millis, SAFE_MAX};
use crate::limits::SWEEP_ROWS_MAX;
use crate::ops::{Purge, Redrive};
use crate::task::Phase;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Core {
    #[wasm_bindgen(js_name = queueEnqueue)]
    pub fn queue_enqueue(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| engine.enqueue(at, requests::enqueue(reader)?),
            |reply, enqueued| records::enqueued(reply, &enqueued),
        )
    }

    #[wasm_bindgen(js_name = queueEnqueueMany)]
    pub fn queue_enqueue_many(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| engine.enqueue_many(at, requests::enqueues(reader, "items")?),
            |reply, all| all.iter().for_each(|enqueued| records::enqueued(reply, enqueued)),
        )
    }

    #[wasm_bindgen(js_name = queueClaim)]
    pub fn queue_claim(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let claimed = engine.claim(at, requests::claim(reader)?)?;
                Ok((claimed, engine.time(at.now)))
            },
            |reply, (tasks, now)| tasks.iter().for_each(|task| records::task(reply, task, now)),
        )
    }

    #[wasm_bindgen(js_name = queueComplete)]
    pub fn queue_complete(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.complete(at, requests::completion(reader)?),
            |reply, all| all.iter().for_each(|enqueued| records::enqueued(reply, enqueued)),
        )
    }

    #[wasm_bindgen(js_name = queueCompleteMany)]
    pub fn queue_complete_many(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| engine.complete_many(at, &requests::claims(reader)?),
            |reply, landed| reply.number(landed as u64),
        )
    }

    #[wasm_bindgen(js_name = queueFail)]
    pub fn queue_fail(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.fail(at, requests::failure(reader)?),
            |reply, failed| {
                reply.float(failed.phase as u8 as f64);
                reply.optional(failed.run_at);
            },
        )
    }

    #[wasm_bindgen(js_name = queueHeartbeat)]
    pub fn queue_heartbeat(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.heartbeat(at, requests::heartbeat(reader)?),
            |reply, deadline| reply.number(deadline),
        )
    }

    #[wasm_bindgen(js_name = queueRelease)]
    pub fn queue_release(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.release(at, requests::claim_ref(reader)?),
            |_, ()| (),
        )
    }

    #[wasm_bindgen(js_name = queueAbandon)]
    pub fn queue_abandon(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.abandon(at, requests::claim_ref(reader)?),
            |_, ()| (),
        )
    }

    #[wasm_bindgen(js_name = queueCancel)]
    pub fn queue_cancel(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let (queue, id) = (reader.name("queue")?, requests::task_id(reader)?);
                engine.cancel(at, queue, id, reader.text("reason")?)
            },
            |reply, was_there| reply.byte(u8::from(was_there)),
        )
    }

    #[wasm_bindgen(js_name = queueSweep)]
    pub fn queue_sweep(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| engine.sweep(at, reader.name("queue")?),
            |reply, swept| {
                reply.number(swept.expired as u64);
                reply.number(swept.purged as u64);
                reply.byte(u8::from(swept.more));
            },
        )
    }

    #[wasm_bindgen(js_name = queueRedrive)]
    pub fn queue_redrive(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let queue = reader.name("queue")?;
                let limit = reader.millis("limit")?.map_or(SAFE_MAX, Millis::get);
                let limit = limit.min(SWEEP_ROWS_MAX as u64) as usize;
                engine.redrive(at, Redrive { queue, limit, ids: requests::ids(reader)? })
            },
            |reply, redriven| reply.number(redriven as u64),
        )
    }

    #[wasm_bindgen(js_name = queuePurge)]
    pub fn queue_purge(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let queue = reader.name("queue")?;
                let phase = reader.whole("state")?;
                let phase = phase.and_then(|phase| Phase::ALL.get(phase as usize).copied());
                engine.purge(at, Purge { queue, phase, ids: requests::ids(reader)? })
            },
            |reply, purged| reply.number(purged as u64),
        )
    }

    #[wasm_bindgen(js_name = queuePause)]
    pub fn queue_pause(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let queue = reader.name("queue")?;
                engine.set_paused(at, queue, reader.flag()?)
            },
            |_, ()| (),
        )
    }
}
