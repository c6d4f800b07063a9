//! Reads. They answer in packed records, or as objects where nobody is in a hurry.

use super::answer::{self, set, set_some};
use super::{Core, When, records, requests};
use crate::change::Removal;
use crate::engine::CallerId;
use crate::error::Error;
use crate::id::{Instant, TaskId};
use crate::ops::read::{Explanation, QueueSummary};
use crate::task::Phase;
use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

fn explanation(found: &Explanation) -> Object {
    let object = Object::new();
    set(&object, "state", found.phase.as_str());
    set(&object, "because", found.because.as_str());
    set_some(&object, "until", found.until.map(float));
    object
}

fn summary(queue: &QueueSummary) -> Object {
    let object = Object::new();
    set(&object, "name", queue.name.as_str());
    let counts: Array = queue.counts.iter().map(|count| JsValue::from(*count as f64)).collect();
    set(&object, "counts", counts);
    set(&object, "paused", queue.paused);
    set_some(&object, "oldestReadyAt", queue.oldest_ready_at.map(float));
    set_some(&object, "nextDue", queue.next_due.map(float));
    object
}

fn float(at: Instant) -> f64 {
    at.get() as f64
}

fn thrown(error: Error) -> JsValue {
    answer::error(&error)
}

/// Tasks and queues.
#[wasm_bindgen]
impl Core {
    #[wasm_bindgen(js_name = queueGet)]
    pub fn queue_get(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let (queue, id) = (reader.name("queue")?, requests::task_id(reader)?);
                let view = engine.view(at);
                Ok((view.task(queue, id).cloned(), view.now))
            },
            |reply, (task, now)| {
                task.iter().for_each(|task| records::task(reply, task, now));
            },
        )
    }

    #[wasm_bindgen(js_name = queueList)]
    pub fn queue_list(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let queue = reader.name("queue")?;
                let phase = reader.whole("state")?;
                let phase = phase.and_then(|phase| Phase::ALL.get(phase as usize).copied());
                let after = reader.whole("cursor")?.map_or(TaskId::default(), TaskId::saturating);
                let limit = reader.page_size("limit")?;
                let view = engine.view(at);
                let page = view.tasks(queue, phase, after, limit);
                let items: Vec<_> = page.items.into_iter().cloned().collect();
                Ok((items, page.more, view.now))
            },
            |reply, (items, more, now)| {
                reply.byte(u8::from(more));
                items.iter().for_each(|task| records::task(reply, task, now));
            },
        )
    }

    #[wasm_bindgen(js_name = queueCounts)]
    pub fn queue_counts(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let queue = reader.name("queue")?;
                Ok(engine.view(at).counts(queue))
            },
            |reply, counts| counts.iter().for_each(|count| reply.number(*count as u64)),
        )
    }

    #[wasm_bindgen(js_name = queueNextDue)]
    pub fn queue_next_due(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let queue = reader.name("queue")?;
                Ok(engine.view(at).next_due(queue))
            },
            |reply, at| reply.optional(at),
        )
    }

    /// `{ state, because, until? }`, or `undefined` for an unknown task.
    #[wasm_bindgen(js_name = queueExplain)]
    pub fn queue_explain(
        &mut self,
        family: u8,
        queue: &str,
        id: f64,
        now: f64,
        caller: u32,
    ) -> Result<JsValue, JsValue> {
        let read = || -> Result<Option<Explanation>, Error> {
            let queue = super::reader::named("queue", family, queue)?;
            let id = TaskId::saturating(super::reader::whole("id", id)?);
            Ok(self.engine.view(When { now, caller }.context()?).explain(queue, id))
        };
        let found = { read }().map_err(thrown)?;
        Ok(found.map_or(JsValue::UNDEFINED, |found| explanation(&found).into()))
    }

    pub fn queues(&mut self, now: f64, caller: u32) -> Result<Array, JsValue> {
        let at = When { now, caller }.context().map_err(thrown)?;
        Ok(self.engine.view(at).queues().iter().map(summary).collect())
    }

    /// `{ cause, reason? }`: why a task is not there any more, as far as it is remembered.
    #[wasm_bindgen(js_name = removalOf)]
    pub fn removal_of(&self, id: f64) -> Result<JsValue, JsValue> {
        let id = TaskId::saturating(super::reader::whole("id", id).map_err(thrown)?);
        let (cause, reason) = match self.engine.state().removals.of(id) {
            Some(Removal::Cancelled { reason }) => ("cancelled", reason.as_deref()),
            Some(Removal::Buried { .. }) => ("buried", None),
            _ => return Ok(JsValue::UNDEFINED),
        };
        let object = Object::new();
        set(&object, "cause", cause);
        set_some(&object, "reason", reason);
        Ok(object.into())
    }

    /// `{ ok, rows, problems }`
    pub fn verify(&self) -> JsValue {
        let report = self.engine.verify();
        let object = Object::new();
        set(&object, "ok", report.problems.is_empty());
        set(&object, "rows", report.rows as f64);
        let problems: Array = report.problems.iter().map(JsValue::from).collect();
        set(&object, "problems", problems);
        object.into()
    }
}

/// Leases and values.
#[wasm_bindgen]
impl Core {
    #[wasm_bindgen(js_name = leaseStatus)]
    pub fn lease_status(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let name = reader.name("lease")?;
                let row = engine.view(at).lease(name).cloned();
                Ok(row.map(|row| (name.to_name(), row)))
            },
            |reply, found| {
                found.iter().for_each(|(name, row)| records::lease(reply, name.as_str(), row));
            },
        )
    }

    #[wasm_bindgen(js_name = leaseList)]
    pub fn lease_list(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let prefix = reader.text("prefix")?.unwrap_or_default();
                let after = reader.text("cursor")?;
                let limit = reader.page_size("limit")?;
                let page = engine.view(at).leases(prefix, after, limit);
                let items = page.items.into_iter();
                let items: Vec<_> = items.map(|(name, row)| (name.clone(), row.clone())).collect();
                Ok((items, page.more))
            },
            |reply, (items, more)| {
                reply.byte(u8::from(more));
                items.iter().for_each(|(name, row)| records::lease(reply, name.as_str(), row));
            },
        )
    }

    #[wasm_bindgen(js_name = kvGet)]
    pub fn kv_get(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let key = reader.name("key")?;
                Ok(engine.view(at).value(key).cloned())
            },
            |reply, row| {
                if let Some(row) = row {
                    reply.number(row.version);
                    reply.blob(Some(&row.value));
                }
            },
        )
    }

    #[wasm_bindgen(js_name = kvList)]
    pub fn kv_list(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let prefix = reader.text("prefix")?.unwrap_or_default();
                let after = reader.text("cursor")?;
                let limit = reader.page_size("limit")?;
                let page = engine.view(at).values(prefix, after, limit);
                let items = page.items.into_iter();
                let items: Vec<_> = items.map(|(key, row)| (key.clone(), row.clone())).collect();
                Ok((items, page.more))
            },
            |reply, (items, more)| {
                reply.byte(u8::from(more));
                for (key, row) in items {
                    reply.text(Some(key.as_str()));
                    reply.number(row.version);
                    reply.blob(Some(&row.value));
                }
            },
        )
    }
}

/// Callers.
#[wasm_bindgen]
impl Core {
    /// Makes a caller known, and numbers it from 1.
    #[wasm_bindgen(js_name = addCaller)]
    pub fn add_caller(&mut self, request: u32) -> i32 {
        self.command(
            request,
            When { now: 0.0, caller: 0 },
            |engine, reader, _| Ok(engine.add_caller(requests::caller(reader)?)),
            |reply, CallerId(number)| reply.number(u64::from(number) + 1),
        )
    }

    #[wasm_bindgen(js_name = removeCaller)]
    pub fn remove_caller(&mut self, caller: u32) {
        if let Some(caller) = caller.checked_sub(1) {
            self.engine.remove_caller(CallerId(caller));
        }
    }
}
