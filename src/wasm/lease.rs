//! The operations on leases.

use super::call::{Answer, Call, DONE};
use super::requests;

pub fn acquire(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.acquire(call.at, call.request.read(requests::acquire)?)?;
    Ok(outcome.map(|acquired| {
        call.reply.number(acquired.token);
        call.reply.number(acquired.until);
        call.reply.number(acquired.acquired_at);
        call.reply.blob(acquired.meta.as_deref());
    }))
}

pub fn renew(call: &mut Call<'_>) -> Answer {
    let outcome = call.engine.renew(call.at, call.request.read(requests::renew)?)?;
    Ok(outcome.map(|until| call.reply.number(until)))
}

pub fn release(call: &mut Call<'_>) -> Answer {
    let (name, token) = call.request.read(requests::lease_ref)?;
    call.reply.flag(call.engine.release_lease(call.at, name, token)?);
    DONE
}

pub fn guarded_commit(call: &mut Call<'_>) -> Answer {
    let ((name, token), writes) =
        call.request.read(|request| (requests::lease_ref(request), requests::writes(request)))?;
    Ok(call.engine.guarded_commit(call.at, name, token, writes)?)
}
