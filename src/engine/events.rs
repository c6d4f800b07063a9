//! Recording the events of what is merged, while somebody listens.

use super::{CallerId, Engine};
use crate::change::{Entry, Hash};
use crate::event::{Event, Recorder};
use crate::id::Version;
use crate::touched::Touched;

impl Engine {
    /// Records the events of commands after `told`, in what is merged from here on. A snapshot that
    /// is restored beyond it is a gap. Goes on as it was when events are recorded already.
    pub fn record_events(&mut self, told: Version) {
        self.recorder.get_or_insert_with(|| Recorder::after(told));
    }

    /// Forgets what was recorded, and records no more.
    pub fn stop_recording(&mut self) {
        self.recorder = None;
    }

    /// What was recorded, as far as the caller may inspect what it is about.
    pub fn events(&self, caller: Option<CallerId>) -> impl Iterator<Item = &Event> {
        let caller = caller.map(|id| &self.callers[id.0 as usize]);
        let events = self.recorder.iter().flat_map(Recorder::events);
        events.filter(move |event| caller.is_none_or(|caller| event.is_shown_to(caller)))
    }

    /// What was recorded has been handed on.
    pub fn forget_events(&mut self) {
        self.recorder.iter_mut().for_each(Recorder::forget);
    }

    pub(super) fn merge_recording(&mut self, entry: &mut Entry, hash: Hash) {
        let Self { recorder, copying, touched, .. } = self;
        recorder.iter_mut().for_each(|recorder| recorder.begin(entry));
        self.state.merge(entry, hash, |state, version, change| {
            touched.note(state, change);
            if let Some(copying) = copying {
                copying.note(state, change);
            }
            if let Some(recorder) = recorder {
                recorder.note(state, version, change);
            }
        });
        recorder.iter_mut().for_each(|recorder| recorder.arrive(&self.state.head));
    }

    /// What was merged since the call before.
    pub fn take_touched(&mut self) -> Touched {
        self.touched.take()
    }

    pub(super) fn note_restored(&mut self) {
        self.touched.note_everything();
        if let Some(recorder) = &mut self.recorder {
            recorder.skip_to(&self.state.head);
        }
    }
}
