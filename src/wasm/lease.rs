//! The operations on leases.

use super::{Core, When, requests};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Core {
    #[wasm_bindgen(js_name = leaseAcquire)]
    pub fn lease_acquire(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.acquire(at, requests::acquire(reader)?),
            |reply, acquired| {
                reply.number(acquired.token);
                reply.number(acquired.until);
                reply.number(acquired.acquired_at);
                reply.blob(acquired.meta.as_deref());
            },
        )
    }

    #[wasm_bindgen(js_name = leaseRenew)]
    pub fn lease_renew(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| engine.renew(at, requests::renew(reader)?),
            |reply, until| reply.number(until),
        )
    }

    #[wasm_bindgen(js_name = leaseRelease)]
    pub fn lease_release(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.command(
            request,
            When { now, caller },
            |engine, reader, at| {
                let name = reader.name("lease")?;
                engine.release_lease(at, name, requests::token(reader)?)
            },
            |reply, did| reply.byte(u8::from(did)),
        )
    }

    #[wasm_bindgen(js_name = leaseGuardedCommit)]
    pub fn lease_guarded_commit(&mut self, request: u32, now: f64, caller: u32) -> i32 {
        self.refusable(
            request,
            When { now, caller },
            |engine, reader, at| {
                let (name, token) = (reader.name("lease")?, requests::token(reader)?);
                engine.guarded_commit(at, name, token, requests::writes(reader)?)
            },
            |_, ()| (),
        )
    }
}
