//! Transactions: several calls as one command, with reads that see its own writes.

use super::call::{Answer, Call, DONE};
use super::{records, requests};
use crate::id::Version;
use crate::ops::{Guard, transactional};

/// Answers the time that the transaction's calls get.
pub fn begin(call: &mut Call<'_>) -> Answer {
    call.reply.number(call.engine.begin_transaction(call.at.now)?);
    DONE
}

pub fn commit(call: &mut Call<'_>) -> Answer {
    call.engine.commit_transaction(call.at.now)?;
    DONE
}

pub fn abort(call: &mut Call<'_>) -> Answer {
    call.engine.abort_transaction();
    DONE
}

pub fn require_claim(call: &mut Call<'_>) -> Answer {
    let claim = call.request.read(requests::claim_ref)?;
    Ok(call.engine.require(call.at, Guard::Claim(claim))?)
}

pub fn require_lease(call: &mut Call<'_>) -> Answer {
    let (name, token) = call.request.read(requests::lease_ref)?;
    Ok(call.engine.require(call.at, Guard::Lease { name, token })?)
}

pub fn check(call: &mut Call<'_>) -> Answer {
    let (key, version) = call
        .request
        .read(|request| (request.name("key"), request.whole("version").map(Version::saturating)))?;
    Ok(call.engine.require(call.at, Guard::Version { key, version })?)
}

pub fn task(call: &mut Call<'_>) -> Answer {
    let (queue, id) = call.request.read(requests::task_ref)?;
    call.engine.peek(call.at, |txn| {
        if let Some(task) = transactional::task(txn, queue, id)? {
            records::task(call.reply, &task, txn.now);
        }
        Ok(())
    })?;
    DONE
}

pub fn value(call: &mut Call<'_>) -> Answer {
    let key = call.request.read(|request| request.name("key"))?;
    call.engine.peek(call.at, |txn| {
        if let Some(found) = transactional::value(txn, key)? {
            records::value(call.reply, found.version, &found.value);
        }
        Ok(())
    })?;
    DONE
}

pub fn values(call: &mut Call<'_>) -> Answer {
    let (prefix, after, limit) = call.request.read(requests::name_page)?;
    call.engine.peek(call.at, |txn| {
        let page = transactional::values(txn, prefix, after, limit);
        call.reply.flag(page.more);
        for (key, found) in page.items {
            call.reply.text(Some(key.as_str()));
            records::value(call.reply, found.version, &found.value);
        }
        Ok(())
    })?;
    DONE
}
