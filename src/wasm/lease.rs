//! The operations on leases.

use super::call::{Answer, Call, DONE};
use super::requests;

pub fn acquire(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.acquire(call.at, requests::acquire(&mut call.request)?)?;
    Ok(outcome.map(|acquired| {
        call.reply.number(acquired.token);
        call.reply.number(acquired.until);
        call.reply.number(acquired.acquired_at);
        call.reply.blob(acquired.meta.as_deref());
    }))
}

pub fn renew(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.renew(call.at, requests::renew(&mut call.request)?)?;
    Ok(outcome.map(|until| call.reply.number(until)))
}

pub fn release(call: &mut Call<'_>) -> Answer {
    let (name, token) = requests::lease_ref(&mut call.request)?;
    call.reply.flag(call.engine.release_lease(call.at, name, token)?);
    DONE
}

pub fn guarded_commit(call: &mut Call<'_>) -> Answer {
    let (name, token) = requests::lease_ref(&mut call.request)?;
    call.engine.guarded_commit(call.at, name, token, requests::writes(&mut call.request)?)
}
