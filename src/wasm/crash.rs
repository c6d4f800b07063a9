//! Keeps the words of a panic where JavaScript finds them after the trap.
//!
//! A crashed instance must not be called again, but its memory can be read: the words lie in a
//! place that was told before.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::panic;

const SIZE_BYTES: usize = 4;
const TEXT_BYTES_MAX: usize = 2 << 10;

thread_local! {
    static REPORT: RefCell<Report> = RefCell::new(Report {
        bytes: vec![0; SIZE_BYTES + TEXT_BYTES_MAX],
        end: SIZE_BYTES,
    });
}

/// The size of a text, then the text. It never moves, and nothing is allocated to write it.
struct Report {
    bytes: Vec<u8>,
    end: usize,
}

impl Write for Report {
    /// Cuts what has no room.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let size = text.len().min(self.bytes.len() - self.end);
        self.bytes[self.end..self.end + size].copy_from_slice(&text.as_bytes()[..size]);
        self.end += size;
        let size = (self.end - SIZE_BYTES) as u32;
        self.bytes[..SIZE_BYTES].copy_from_slice(&size.to_le_bytes());
        Ok(())
    }
}

pub fn report_panics() {
    panic::set_hook(Box::new(|panic| {
        // There is nobody left to tell what went wrong here.
        let _ =
            REPORT.try_with(|report| report.try_borrow_mut().map(|mut to| write!(to, "{panic}")));
    }));
}

pub fn report_at() -> u32 {
    REPORT.with(|report| report.borrow().bytes.as_ptr() as usize as u32)
}
