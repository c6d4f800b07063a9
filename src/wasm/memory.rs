//! The allocator, and how the memory grows under it: by an eighth, not by a page.
//!
//! To a JavaScript engine, memory that has grown is a new buffer of the whole size, which brings
//! its next collection nearer: a large store that grows by single pages makes it collect all the
//! time.

use core::alloc::Layout;
use core::arch::wasm32::{memory_grow, memory_size};
use core::ptr::NonNull;
use talc::base::Talc;
use talc::base::binning::Binning;
use talc::cell::TalcSyncCell;
use talc::source::Source;
use talc::wasm::WasmBinning;

const PAGE_BYTES: usize = 64 << 10;
const PAGES_MIN: usize = 16;
/// The trap: the last page that there could be ends at address 0.
const PAGES_MAX: usize = 65_535;
/// What the allocator itself may need beside what it was asked for.
const OVERHEAD_BYTES: usize = 1 << 10;

/// Smaller than the allocator of the standard library.
#[global_allocator]
static ALLOCATOR: TalcSyncCell<Memory, WasmBinning> = TalcSyncCell::new_wasm(Memory { end: None });

/// The memory of this instance, up to where the allocator has it.
#[derive(Debug)]
struct Memory {
    end: Option<NonNull<u8>>,
}

// SAFETY: nothing here allocates.
unsafe impl Source for Memory {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let needed = (layout.size() + layout.align() + OVERHEAD_BYTES).div_ceil(PAGE_BYTES);
        let before = memory_size::<0>();
        let wanted = needed.max(before / 8).max(PAGES_MIN);
        let pages = [wanted, needed].into_iter().find(|&pages| grow(before, pages)).ok_or(())?;
        let (start, bytes) = ((before * PAGE_BYTES) as *mut u8, pages * PAGE_BYTES);
        let end = talc.source.end.take().filter(|end| end.as_ptr() == start);
        // SAFETY: the memory from `start` on is new, so nobody has it yet; and `end` is where that
        // of the allocator ended, which nobody truncates.
        talc.source.end = unsafe {
            match end {
                Some(end) => Some(talc.extend(end, start.wrapping_add(bytes))),
                None => talc.claim(start, bytes),
            }
        };
        Ok(())
    }
}

fn grow(before: usize, pages: usize) -> bool {
    before + pages <= PAGES_MAX && memory_grow::<0>(pages) != usize::MAX
}
