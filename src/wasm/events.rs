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

pub fn forget(call: &mut Call<'_>) -> Answer {
    call.engine.forget_events();
    DONE
}
