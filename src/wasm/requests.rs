//! Decodes requests. The order of the fields is that of `pkg/src/packed-requests.ts`.

use super::call::Fault;
use super::reader::Reader;
use crate::backoff::{Backoff, Jitter};
use crate::engine::Options;
use crate::id::{Instant, Millis, Priority, TaskId, Token, Version};
use crate::limits::{
    BATCH_ITEMS_MAX, COMMAND_BYTES_MAX, GRANTS_MAX, PAYLOAD_BYTES_DEFAULT, STORE_BYTES_MAX,
};
use crate::name::NameRef;
use crate::ops::{
    Acquire, ClaimRef, ClaimRequest, Completion, Enqueue, Failure, Heartbeat, Renew, Write,
};
use crate::rights::{Caller, Grant, Names, Realm, Right};
use crate::task::{Phase, Stamps};

pub fn options(reader: &mut Reader<'_>) -> Options {
    Options {
        store: reader.name("store").to_name(),
        seed: reader.bits(),
        replica: reader.required_whole("replica"),
        payload_bytes_max: reader
            .whole("maxPayloadBytes")
            .map_or(PAYLOAD_BYTES_DEFAULT, |max| max.min(COMMAND_BYTES_MAX as u64) as usize),
        store_bytes_max: reader.whole("maxStoreBytes").unwrap_or(STORE_BYTES_MAX),
    }
}

pub fn enqueue<'a>(reader: &mut Reader<'a>) -> Enqueue<'a> {
    Enqueue {
        queue: reader.name("queue"),
        payload: reader.required_blob("payload"),
        key: reader.optional_name("key"),
        codec: reader.optional_name("codec"),
        priority: priority(reader),
        delay: reader.millis("delay"),
        run_at: reader.whole("runAt").map(Instant::saturating),
        expires_in: reader.millis("expiresIn"),
        boundary: None,
        stamps: stamps(reader),
        writes: writes(reader),
    }
}

fn priority(reader: &mut Reader<'_>) -> Priority {
    let Some(number) = reader.number() else {
        return Priority::default();
    };
    let priority = match number.fract() == 0.0 {
        true => Priority::try_from(number as i64).ok(),
        false => None,
    };
    priority.unwrap_or_else(|| {
        let expected = "a whole number between -(2^53 - 1) and 2^53 - 1";
        reader.fail(Fault::Number { argument: "priority", expected, number });
        Priority::default()
    })
}

const JITTERS: [Jitter; 3] = [Jitter::Equal, Jitter::Full, Jitter::None];

fn stamps(reader: &mut Reader<'_>) -> Stamps {
    let default = Stamps::default();
    Stamps {
        lease: reader.millis("lease").unwrap_or(default.lease),
        attempts_max: reader.whole("maxAttempts").unwrap_or(default.attempts_max),
        backoff: Backoff {
            base: reader.millis("backoff.base").unwrap_or(default.backoff.base),
            max: reader.millis("backoff.max").unwrap_or(default.backoff.max),
            jitter: reader.choice("backoff.jitter", &JITTERS),
        },
        dead_retention: reader.millis("deadRetention").unwrap_or(default.dead_retention),
        result_retention: reader.millis("resultRetention").unwrap_or(default.result_retention),
        key_retention: reader.millis("keyRetention").unwrap_or(default.key_retention),
    }
}

pub fn writes<'a>(reader: &mut Reader<'a>) -> Vec<Write<'a>> {
    reader.list("writes", BATCH_ITEMS_MAX, |reader| {
        let kind = reader.byte();
        let key = reader.name("key");
        match kind {
            0 => Write::Put { key, value: reader.required_blob("value") },
            1 => Write::Delete { key },
            _ => Write::Check { key, version: reader.whole("version").map(Version::saturating) },
        }
    })
}

pub fn enqueues<'a>(reader: &mut Reader<'a>, what: &'static str) -> Vec<Enqueue<'a>> {
    reader.items(what, BATCH_ITEMS_MAX, enqueue)
}

pub fn claims<'a>(reader: &mut Reader<'a>) -> Vec<ClaimRef<'a>> {
    reader.list("tasks", BATCH_ITEMS_MAX, claim_ref)
}

pub fn ids(reader: &mut Reader<'_>) -> Option<Vec<TaskId>> {
    reader.flag().then(|| reader.list("ids", BATCH_ITEMS_MAX, task_id))
}

pub fn task_id(reader: &mut Reader<'_>) -> TaskId {
    TaskId::saturating(reader.required_whole("id"))
}

fn token(reader: &mut Reader<'_>) -> Token {
    Token::saturating(reader.required_whole("token"))
}

/// A state to look for; absent: any.
pub fn phase(reader: &mut Reader<'_>) -> Option<Phase> {
    let number = reader.whole("state")?;
    let phase = Phase::ALL.into_iter().find(|phase| *phase as u64 == number);
    if phase.is_none() {
        let (expected, number) = ("the number of a state", number as f64);
        reader.fail(Fault::Number { argument: "state", expected, number });
    }
    phase
}

pub fn task_ref<'a>(reader: &mut Reader<'a>) -> (NameRef<'a>, TaskId) {
    (reader.name("queue"), task_id(reader))
}

pub fn lease_ref<'a>(reader: &mut Reader<'a>) -> (NameRef<'a>, Token) {
    (reader.name("lease"), token(reader))
}

/// Prefix, cursor and size of a page by name.
pub fn name_page<'a>(reader: &mut Reader<'a>) -> (&'a str, Option<&'a str>, usize) {
    let prefix = reader.text("prefix").unwrap_or_default();
    (prefix, reader.text("cursor"), reader.page_size("limit"))
}

pub fn claim_ref<'a>(reader: &mut Reader<'a>) -> ClaimRef<'a> {
    ClaimRef { queue: reader.name("queue"), id: task_id(reader), token: token(reader) }
}

pub fn claim<'a>(reader: &mut Reader<'a>) -> ClaimRequest<'a> {
    ClaimRequest {
        queue: reader.name("queue"),
        owner: reader.name("owner"),
        max: reader.page_size("max"),
        lease: reader.millis("lease"),
    }
}

pub fn completion<'a>(reader: &mut Reader<'a>) -> Completion<'a> {
    Completion {
        claim: claim_ref(reader),
        result: reader.blob(),
        follow_ups: enqueues(reader, "followUps"),
        writes: writes(reader),
    }
}

pub fn failure<'a>(reader: &mut Reader<'a>) -> Failure<'a> {
    Failure {
        claim: claim_ref(reader),
        text: reader.text("error"),
        delay: reader.millis("delay"),
        is_final: reader.flag(),
        writes: writes(reader),
    }
}

pub fn heartbeat<'a>(reader: &mut Reader<'a>) -> Heartbeat<'a> {
    Heartbeat { claim: claim_ref(reader), extend: reader.millis("extend"), progress: reader.blob() }
}

pub fn acquire<'a>(reader: &mut Reader<'a>) -> Acquire<'a> {
    Acquire {
        name: reader.name("lease"),
        owner: reader.name("owner"),
        ttl: reader.millis("ttl").unwrap_or(Millis::ZERO),
        meta: reader.blob(),
    }
}

pub fn renew<'a>(reader: &mut Reader<'a>) -> Renew<'a> {
    let (name, token) = lease_ref(reader);
    Renew { name, token, ttl: reader.millis("ttl"), meta: reader.blob() }
}

const REALMS: [Realm; 3] = [Realm::Queue, Realm::Lease, Realm::Kv];
const RIGHTS: [Right; 8] = [
    Right::Enqueue,
    Right::Claim,
    Right::Settle,
    Right::Inspect,
    Right::Manage,
    Right::Acquire,
    Right::Read,
    Right::Write,
];

pub fn caller(reader: &mut Reader<'_>) -> Caller {
    let actor = reader.required_text("actor").to_owned();
    let grants = |reader: &mut Reader<'_>| reader.list("may", GRANTS_MAX, grant);
    Caller { actor, may: reader.list("callers", GRANTS_MAX, grants) }
}

fn grant(reader: &mut Reader<'_>) -> Grant {
    Grant {
        realm: reader.choice("realm", &REALMS),
        names: names(reader),
        rights: reader.list("rights", GRANTS_MAX, |reader| reader.choice("rights", &RIGHTS)),
    }
}

fn names(reader: &mut Reader<'_>) -> Names {
    let is_exact = reader.flag();
    let text = reader.required_text("pattern");
    if is_exact { Names::Exact(text.to_owned()) } else { Names::of(text) }
}
