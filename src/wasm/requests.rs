//! Decodes requests. The order of the fields is that of `pkg/src/packing.ts`.

use super::reader::{self, Reader};
use crate::backoff::{Backoff, Jitter};
use crate::engine::Options;
use crate::error::Error;
use crate::id::{Instant, Millis, Priority, TaskId, Token, Version};
use crate::limits::{BATCH_ITEMS_MAX, COMMAND_BYTES_MAX, PAYLOAD_BYTES_DEFAULT};
use crate::name::NameRef;
use crate::ops::{
    Acquire, ClaimRef, ClaimRequest, Completion, Enqueue, Failure, Heartbeat, Renew, Write,
};
use crate::rights::{Caller, Grant, Realm, Right};
use crate::task::{Phase, Stamps};

pub fn options(reader: &mut Reader<'_>) -> Result<Options, Error> {
    Ok(Options {
        store: reader.name("store")?.to_name(),
        seed: reader.bits()?,
        replica: reader.required_whole("replica")?,
        payload_bytes_max: reader
            .whole("maxPayloadBytes")?
            .map_or(PAYLOAD_BYTES_DEFAULT, |max| max.min(COMMAND_BYTES_MAX as u64) as usize),
    })
}

pub fn enqueue<'a>(reader: &mut Reader<'a>) -> Result<Enqueue<'a>, Error> {
    Ok(Enqueue {
        queue: reader.name("queue")?,
        payload: reader.blob()?.ok_or_else(|| absent("payload"))?,
        key: reader.optional_name("key")?,
        codec: reader.optional_name("codec")?,
        priority: priority(reader)?,
        delay: reader.millis("delay")?,
        run_at: reader.whole("runAt")?.map(Instant::saturating),
        expires_in: reader.millis("expiresIn")?,
        boundary: None,
        stamps: stamps(reader)?,
        writes: writes(reader)?,
    })
}

fn priority(reader: &mut Reader<'_>) -> Result<Priority, Error> {
    let Some(number) = reader.number()? else {
        return Ok(Priority::default());
    };
    let expected = "a whole number between -(2^53 - 1) and 2^53 - 1";
    let invalid =
        || Error::InvalidArgument { argument: "priority", expected, got: reader::shown(number) };
    if number.fract() != 0.0 {
        return Err(invalid());
    }
    Priority::try_from(number as i64).map_err(|_| invalid())
}

fn stamps(reader: &mut Reader<'_>) -> Result<Stamps, Error> {
    let default = Stamps::default();
    Ok(Stamps {
        lease: reader.millis("lease")?.unwrap_or(default.lease),
        attempts_max: reader.whole("maxAttempts")?.unwrap_or(default.attempts_max),
        backoff: Backoff {
            base: reader.millis("backoff.base")?.unwrap_or(default.backoff.base),
            max: reader.millis("backoff.max")?.unwrap_or(default.backoff.max),
            jitter: match reader.byte()? {
                1 => Jitter::Full,
                2 => Jitter::None,
                _ => Jitter::Equal,
            },
        },
        dead_retention: reader.millis("deadRetention")?.unwrap_or(default.dead_retention),
        result_retention: reader.millis("resultRetention")?.unwrap_or(default.result_retention),
        key_retention: reader.millis("keyRetention")?.unwrap_or(default.key_retention),
    })
}

pub fn writes<'a>(reader: &mut Reader<'a>) -> Result<Vec<Write<'a>>, Error> {
    let count = reader.count()?;
    list(count, "writes", || {
        let kind = reader.byte()?;
        let key = reader.name("key")?;
        Ok(match kind {
            0 => Write::Put { key, value: reader.blob()?.ok_or_else(|| absent("value"))? },
            1 => Write::Delete { key },
            _ => Write::Check { key, version: reader.whole("version")?.map(Version::saturating) },
        })
    })
}

pub fn enqueues<'a>(
    reader: &mut Reader<'a>,
    what: &'static str,
) -> Result<Vec<Enqueue<'a>>, Error> {
    let count = reader.count()?;
    list(count, what, || enqueue(reader))
}

pub fn claims<'a>(reader: &mut Reader<'a>) -> Result<Vec<ClaimRef<'a>>, Error> {
    let count = reader.count()?;
    list(count, "tasks", || claim_ref(reader))
}

pub fn ids(reader: &mut Reader<'_>) -> Result<Option<Vec<TaskId>>, Error> {
    match reader.flag()? {
        true => {
            let count = reader.count()?;
            list(count, "ids", || task_id(reader)).map(Some)
        }
        false => Ok(None),
    }
}

/// Bounds the count before anything is allocated for it.
fn list<T>(
    count: usize,
    what: &'static str,
    item: impl FnMut() -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    if count > BATCH_ITEMS_MAX {
        let (size, limit) = (count as u64, BATCH_ITEMS_MAX as u64);
        return Err(Error::LimitExceeded { what, size, limit });
    }
    std::iter::repeat_with(item).take(count).collect()
}

pub fn task_id(reader: &mut Reader<'_>) -> Result<TaskId, Error> {
    reader.required_whole("id").map(TaskId::saturating)
}

fn token(reader: &mut Reader<'_>) -> Result<Token, Error> {
    reader.required_whole("token").map(Token::saturating)
}

/// A state to look for; absent: any.
pub fn phase(reader: &mut Reader<'_>) -> Result<Option<Phase>, Error> {
    let phase = reader.whole("state")?;
    Ok(phase.and_then(|phase| Phase::ALL.get(phase as usize).copied()))
}

pub fn task_ref<'a>(reader: &mut Reader<'a>) -> Result<(NameRef<'a>, TaskId), Error> {
    Ok((reader.name("queue")?, task_id(reader)?))
}

pub fn lease_ref<'a>(reader: &mut Reader<'a>) -> Result<(NameRef<'a>, Token), Error> {
    Ok((reader.name("lease")?, token(reader)?))
}

/// Prefix, cursor and size of a page by name.
pub fn name_page<'a>(reader: &mut Reader<'a>) -> Result<(&'a str, Option<&'a str>, usize), Error> {
    let prefix = reader.text("prefix")?.unwrap_or_default();
    Ok((prefix, reader.text("cursor")?, reader.page_size("limit")?))
}

pub fn claim_ref<'a>(reader: &mut Reader<'a>) -> Result<ClaimRef<'a>, Error> {
    Ok(ClaimRef { queue: reader.name("queue")?, id: task_id(reader)?, token: token(reader)? })
}

pub fn claim<'a>(reader: &mut Reader<'a>) -> Result<ClaimRequest<'a>, Error> {
    Ok(ClaimRequest {
        queue: reader.name("queue")?,
        owner: reader.name("owner")?,
        max: reader.page_size("max")?,
        lease: reader.millis("lease")?,
    })
}

pub fn completion<'a>(reader: &mut Reader<'a>) -> Result<Completion<'a>, Error> {
    Ok(Completion {
        claim: claim_ref(reader)?,
        result: reader.blob()?,
        follow_ups: enqueues(reader, "followUps")?,
        writes: writes(reader)?,
    })
}

pub fn failure<'a>(reader: &mut Reader<'a>) -> Result<Failure<'a>, Error> {
    Ok(Failure {
        claim: claim_ref(reader)?,
        text: reader.text("error")?,
        delay: reader.millis("delay")?,
        is_final: reader.flag()?,
        writes: writes(reader)?,
    })
}

pub fn heartbeat<'a>(reader: &mut Reader<'a>) -> Result<Heartbeat<'a>, Error> {
    Ok(Heartbeat {
        claim: claim_ref(reader)?,
        extend: reader.millis("extend")?,
        progress: reader.blob()?,
    })
}

pub fn acquire<'a>(reader: &mut Reader<'a>) -> Result<Acquire<'a>, Error> {
    Ok(Acquire {
        name: reader.name("lease")?,
        owner: reader.name("owner")?,
        ttl: reader.millis("ttl")?.unwrap_or(Millis::ZERO),
        meta: reader.blob()?,
    })
}

pub fn renew<'a>(reader: &mut Reader<'a>) -> Result<Renew<'a>, Error> {
    let (name, token) = lease_ref(reader)?;
    Ok(Renew { name, token, ttl: reader.millis("ttl")?, meta: reader.blob()? })
}

pub fn absent(argument: &'static str) -> Error {
    Error::InvalidArgument { argument, expected: "bytes", got: "none".to_owned() }
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

pub fn caller(reader: &mut Reader<'_>) -> Result<Caller, Error> {
    let actor = reader.text("actor")?.ok_or_else(|| absent("actor"))?.to_owned();
    let mut may = Vec::new();
    for _ in 0..reader.count()? {
        may.push(grant(reader)?);
    }
    Ok(Caller { actor, may })
}

fn grant(reader: &mut Reader<'_>) -> Result<Grant, Error> {
    let realm = chosen("realm", &REALMS, reader.byte()?)?;
    let pattern = reader.text("pattern")?.ok_or_else(|| absent("pattern"))?.to_owned();
    let mut rights = Vec::new();
    for _ in 0..reader.count()? {
        rights.push(chosen("rights", &RIGHTS, reader.byte()?)?);
    }
    Ok(Grant { realm, pattern, rights })
}

pub fn chosen<T: Copy>(argument: &'static str, choices: &[T], byte: u8) -> Result<T, Error> {
    let expected = "the number of a choice";
    let invalid = || Error::InvalidArgument { argument, expected, got: byte.to_string() };
    choices.get(usize::from(byte)).copied().ok_or_else(invalid)
}
