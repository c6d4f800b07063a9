//! Events of what is merged.

use super::call::{Answer, Call, DONE};
use super::records;
use crate::id::Version;

/// Records the events of commands after a version, from here on.
pub fn record(call: &mut Call<'_>) -> Answer {
    let told = call.request.read(|request| request.required_whole("version"))?;
    call.engine.record_events(Version::saturating(told));
    DONE
}

pub fn stop(call: &mut Call<'_>) -> Answer {
    call.engine.stop_recording();
    DONE
}

/// What was recorded, as far as the caller may inspect it.
pub fn recorded(call: &mut Call<'_>) -> Answer {
    for event in call.engine.events(call.at.caller) {
        records::event(call.reply, event);
    }
    DONE
}

/// Whether it was everything; else queues, leases and tasks that were touched.
pub fn touched(call: &mut Call<'_>) -> Answer {
    let touched = call.engine.take_touched();
    call.reply.flag(touched.everything);
    call.reply.count(touched.queues.len());
    for queue in touched.queues {
        call.reply.text(Some(call.engine.state().queue(queue).name.as_str()));
    }
    call.reply.count(touched.leases.len());
    touched.leases.iter().for_each(|name| call.reply.text(Some(name.as_str())));
    touched.tasks.iter().for_each(|id| call.reply.number(*id));
    DONE
}

pub fn forget(call: &mut Call<'_>) -> Answer {
    call.engine.forget_events();
    DONE
}
