//! The allocator, and how the memory grows under it: by an eighth and at least 1 MiB, not by a
//! page. Where so much is not to be had, by half of that, and so on, down to what is needed.
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
/// 2 GiB. The trap: the allocator adds sizes to addresses without a look at what they come to. A
/// size is below 2 GiB, so that no sum can pass the end of all addresses and come out low, where
/// there are rows.
const PAGES_MAX: usize = 32_767;
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

// SAFETY: nothing here allocates, nor panics, which would: a layout is below 2 GiB.
unsafe impl Source for Memory {
    fn acquire<B: Binning>(talc: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        let needed = (layout.size() + layout.align() + OVERHEAD_BYTES).div_ceil(PAGE_BYTES);
        let mut pages = needed.max(memory_size::<0>() / 8).max(PAGES_MIN);
        let start = loop {
            match grow(pages) {
                Some(start) => break start,
                None if pages == needed => return Err(()),
                None => pages = needed.max(pages / 2),
            }
        };
        let bytes = pages * PAGE_BYTES;
        let end = talc.source.end.take().filter(|end| end.as_ptr() == start);
        // SAFETY: the memory from `start` on is new, so nobody has it, and the allocator has it for
        // good. `end` is where that of the allocator ends: no source gives any back.
        talc.source.end = Some(unsafe {
            match end {
                Some(end) => talc.extend(end, start.wrapping_add(bytes)),
                None => talc.claim(start, bytes).ok_or(())?,
            }
        });
        Ok(())
    }
}

/// Where the new memory begins.
fn grow(pages: usize) -> Option<*mut u8> {
    if memory_size::<0>() + pages > PAGES_MAX {
        return None;
    }
    let before = memory_grow::<0>(pages);
    (before != usize::MAX).then(|| (before * PAGE_BYTES) as *mut u8)
}
