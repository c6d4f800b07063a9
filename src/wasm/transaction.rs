//! Transactions: several calls as one command, with reads that see its own writes.

use super::{Core, FAILED, When, answer, records, requests};
use crate::id::Version;
use crate::ops::{Guard, transactional};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Core {
    /// The time that the transaction's calls get.
    #[wasm_bindgen(js_name = txBegin)]
    pub fn tx_begin(&mut self, now: f64) -> Result<f64, JsValue> {
        let mut begin = |when: When| self.engine.begin_transaction(when.context()?.now);
        let now = begin(When { now, caller: 0 }).map_err(|error| answer::error(&error))?;
        Ok(now.get() as f64)
    }

    #[wasm_bindgen(js_name = txCommit)]
    pub fn tx_commit(&mut self, now: f64) -> i32 {
        let mut commit = |when: When| self.engine.commit_transaction(when.context()?.now);
        match commit(When { now, caller: 0 }) {
            Ok(()) => 0,
            Err(error) => {
                self.answer = answer::error(&error);
                FAILED
            }
        }
    }

    #[wasm_bindgen(js_name = txAbort)]
    pub fn tx_abort(&mut self) {
        self.engine.abort_transaction();
    }

    #[wasm_bindgen(js_name = txRequireClaim)]
    pub fn tx_require_claim(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.require(at, Guard::Claim(requests::claim_ref(reader)?)),
            |_, ()| (),
        )
    }

    #[wasm_bindgen(js_name = txRequireLease)]
    pub fn tx_require_lease(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| {
                let (name, token) = (reader.name("lease")?, requests::token(reader)?);
                engine.require(at, Guard::Lease { name, token })
            },
            |_, ()| (),
        )
    }

    #[wasm_bindgen(js_name = txCheck)]
    pub fn tx_check(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| {
                let key = reader.name("key")?;
                let version = reader.whole("version")?.map(Version::saturating);
                engine.require(at, Guard::Version { key, version })
            },
            |_, ()| (),
        )
    }

    #[wasm_bindgen(js_name = txGet)]
    pub fn tx_get(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let (queue, id) = (reader.name("queue")?, requests::task_id(reader)?);
                engine.peek(at, |txn| Ok((transactional::task(txn, queue, id), txn.now)))
            },
            |reply, (task, now)| task.iter().for_each(|task| records::task(reply, task, now)),
        )
    }

    /// The version of an own write is not known yet: NaN.
    #[wasm_bindgen(js_name = txKvGet)]
    pub fn tx_kv_get(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let key = reader.name("key")?;
                engine.peek(at, |txn| Ok(transactional::value(txn, key)))
            },
            |reply, found| {
                if let Some(found) = found {
                    reply.optional(found.version);
                    reply.blob(Some(&found.value));
                }
            },
        )
    }

    #[wasm_bindgen(js_name = txKvList)]
    pub fn tx_kv_list(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let prefix = reader.text("prefix")?.unwrap_or_default();
                let after = reader.text("cursor")?;
                let limit = reader.page_size("limit")?;
                engine.peek(at, |txn| Ok(transactional::values(txn, prefix, after, limit)))
            },
            |reply, page| {
                reply.byte(u8::from(page.more));
                for (key, found) in page.items {
                    reply.text(Some(key.as_str()));
                    reply.optional(found.version);
                    reply.blob(Some(&found.value));
                }
            },
        )
    }
}
