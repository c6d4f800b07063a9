//! From commands to the journal and back, and where the log stands.

use super::call::{Answer, Call, DONE};
use super::reader::Reader;
use super::{records, requests};
use crate::accept::hex;
use crate::change::CommitId;
use crate::engine::{Engine, SnapshotId};
use crate::id::Token;
use crate::limits::PART_BYTES;

/// Says whose engine this is.
pub fn start(call: &mut Call<'_>) -> Answer {
    *call.engine = Engine::new(call.request.read(requests::options)?);
    DONE
}

/// Founds an empty log.
pub fn found(call: &mut Call<'_>) -> Answer {
    call.engine.found_if_empty(call.at.now)?;
    DONE
}

/// Founds a log whose rows are those of a snapshot that is to come.
pub fn found_restoring(call: &mut Call<'_>) -> Answer {
    call.engine.found_restoring(call.at.now)?;
    DONE
}

/// Makes what was restored the rows of the log that an entry founded.
pub fn adopt(call: &mut Call<'_>) -> Answer {
    call.engine.adopt(call.request.read(Reader::rest)?)?;
    DONE
}

/// Seals what is staged: where the entry's bytes lie, its tag, its commit; nothing when nothing was
/// changed.
pub fn take_entry(call: &mut Call<'_>) -> Answer {
    let Some(sealed) = call.engine.seal()? else {
        return DONE;
    };
    call.reply.beside(sealed.bytes);
    if let (Some(tag), Some(commit)) = (call.engine.sealed_tag(), call.engine.sealed_commit()) {
        call.reply.raw(&tag);
        call.reply.number(commit.replica);
        call.reply.number(commit.counter);
    }
    DONE
}

/// The sealed entry is in the journal.
pub fn merge_sealed(call: &mut Call<'_>) -> Answer {
    call.engine.merge_sealed()?;
    DONE
}

/// Merges an entry that follows on the newest one.
pub fn merge(call: &mut Call<'_>) -> Answer {
    call.engine.merge(call.request.read(Reader::rest)?)?;
    DONE
}

pub fn discard(call: &mut Call<'_>) -> Answer {
    call.engine.discard();
    DONE
}

/// Begins a snapshot: its number, and the slot that it is of.
pub fn snapshot_begin(call: &mut Call<'_>) -> Answer {
    let (id, slot) = call.engine.begin_snapshot(PART_BYTES);
    call.reply.number(id.0);
    call.reply.number(slot);
    DONE
}

/// Where the bytes of the next part lie, and whether it is the last; nothing behind that.
pub fn snapshot_part(call: &mut Call<'_>) -> Answer {
    let id = SnapshotId(call.request.read(|request| request.required_whole("snapshot"))?);
    if let Some(part) = call.engine.snapshot_part(id)? {
        call.reply.beside(part.bytes);
        call.reply.flag(call.engine.snapshot_is_over());
    }
    DONE
}

pub fn snapshot_end(call: &mut Call<'_>) -> Answer {
    let id = SnapshotId(call.request.read(|request| request.required_whole("snapshot"))?);
    call.engine.end_snapshot(id);
    DONE
}

pub fn restore_begin(call: &mut Call<'_>) -> Answer {
    call.engine.begin_restore();
    DONE
}

pub fn restore_part(call: &mut Call<'_>) -> Answer {
    call.engine.restore_part(call.request.read(Reader::rest)?)?;
    DONE
}

pub fn restore_end(call: &mut Call<'_>) -> Answer {
    call.engine.finish_restore()?;
    DONE
}

/// Enforces expiry and retention, one commit's worth.
pub fn maintain(call: &mut Call<'_>) -> Answer {
    let swept = call.engine.maintain(call.at.now)?;
    records::swept(call.reply, &swept);
    DONE
}

/// Ends what was granted after a token, one commit's worth; whether there is more.
pub fn reclaim(call: &mut Call<'_>) -> Answer {
    let since = call.request.read(|request| Token::saturating(request.required_whole("since")))?;
    call.reply.flag(call.engine.reclaim(call.at.now, since)?.more);
    DONE
}

/// The newest token that was granted.
pub fn newest_token(call: &mut Call<'_>) -> Answer {
    call.reply.number(call.engine.state().counters.token);
    DONE
}

/// Where the log stands, and what waits to follow.
pub fn head(call: &mut Call<'_>) -> Answer {
    let head = &call.engine.state().head;
    call.reply.number(head.version);
    call.reply.number(head.slot);
    call.reply.number(head.time);
    call.reply.number(call.engine.staged_commands() as u64);
    call.reply.flag(call.engine.group_is_full());
    // Log id and hash of the newest merged entry: what a journal calls its tag.
    call.reply.raw(&head.log_id);
    call.reply.raw(&head.hash);
    call.reply.flag(head.is_restoring);
    call.reply.text(head.store.as_ref().map(|name| name.as_str()));
    DONE
}

/// When time alone changes an answer; absent when nothing waits.
pub fn next_due(call: &mut Call<'_>) -> Answer {
    call.reply.optional(call.engine.state().next_due());
    DONE
}

/// Whether a commit is in the merged log.
pub fn holds(call: &mut Call<'_>) -> Answer {
    let commit = call.request.read(|request| CommitId {
        replica: request.required_whole("replica"),
        counter: request.required_whole("counter"),
    })?;
    call.reply.flag(call.engine.holds(commit));
    DONE
}

/// A hash over all rows: replicas at one version have the same.
pub fn rows_hash(call: &mut Call<'_>) -> Answer {
    call.reply.text(Some(&hex(&call.engine.rows_hash())));
    DONE
}
