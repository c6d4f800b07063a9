//! Reads a request that JavaScript packed into the scratch region.
//!
//! The packing is `pkg/src/packing.ts`: numbers are 8 bytes (NaN: absent), texts and bytes have a
//! length before them (all ones: absent). Every length and every number is checked here again.
//!
//! **Invariant:** nothing that is wrong gets out. The first fault is kept, everything after it
//! reads as absent, and [`Request::read`] gives the fault instead of what was read.
//!
//! **Cost:** one look for a fault per request. A result per field would make the border's code a
//! sixth larger.

use super::call::Fault;
use crate::blob::Blob;
use crate::error::Error;
use crate::id::{Millis, SAFE_MAX};
use crate::limits::PAGE_ITEMS_MAX;
use crate::name::{EFFECT_PREFIX, LOCK_PREFIX, NameRef, OUTBOX_PREFIX};

const ABSENT: u32 = u32::MAX;

/// A packed request.
pub struct Request<'a>(Reader<'a>);

impl<'a> Request<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Reader { rest: bytes, fault: None, item: None })
    }

    /// What `read` reads, unless something about it is wrong.
    pub fn read<T>(&mut self, read: impl FnOnce(&mut Reader<'a>) -> T) -> Result<T, Fault> {
        let value = read(&mut self.0);
        match self.0.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(value),
        }
    }
}

/// A cursor over a packed request.
pub struct Reader<'a> {
    rest: &'a [u8],
    fault: Option<Fault>,
    /// The item that is read, of a list whose items callers know by their number.
    item: Option<(&'static str, usize)>,
}

impl<'a> Reader<'a> {
    /// Only the first fault counts.
    #[cold]
    pub fn fail(&mut self, fault: impl Into<Fault>) {
        let fault = match (fault.into(), self.item) {
            (Fault::Error(error), Some((list, index))) => Fault::Error(error.within(list, index)),
            (fault, _) => fault,
        };
        self.fault.get_or_insert(fault);
    }

    #[cold]
    fn cut_short(&mut self) {
        self.fail(Error::InvalidArgument {
            argument: "request",
            expected: "a complete packed request",
            got: "one that is cut short".to_owned(),
        });
    }

    #[cold]
    fn missing(&mut self, argument: &'static str, expected: &'static str) {
        self.fail(Error::InvalidArgument { argument, expected, got: "none".to_owned() });
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let Some((head, rest)) = self.rest.split_first_chunk::<N>() else {
            self.cut_short();
            return None;
        };
        self.rest = rest;
        Some(*head)
    }

    pub fn byte(&mut self) -> u8 {
        self.take().map_or(0, u8::from_le_bytes)
    }

    pub fn flag(&mut self) -> bool {
        self.byte() != 0
    }

    /// 64 bits of a seed.
    pub fn bits(&mut self) -> u64 {
        self.take().map_or(0, u64::from_le_bytes)
    }

    /// All that is left: an entry, a snapshot.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub fn number(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes).filter(|number| !number.is_nan())
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let size = self.take().map_or(ABSENT, u32::from_le_bytes);
        if size == ABSENT {
            return None;
        }
        let Some((bytes, rest)) = self.rest.split_at_checked(size as usize) else {
            self.cut_short();
            return None;
        };
        self.rest = rest;
        Some(bytes)
    }

    pub fn blob(&mut self) -> Option<Blob> {
        self.bytes().map(Blob::from)
    }

    pub fn required_blob(&mut self, argument: &'static str) -> Blob {
        let bytes = self.bytes().unwrap_or_else(|| {
            self.missing(argument, "bytes");
            &[]
        });
        Blob::from(bytes)
    }

    pub fn text(&mut self, argument: &'static str) -> Option<&'a str> {
        let bytes = self.bytes()?;
        let text = std::str::from_utf8(bytes).ok();
        if text.is_none() {
            let (expected, got) = ("text in UTF-8", "other bytes".to_owned());
            self.fail(Error::InvalidArgument { argument, expected, got });
        }
        text
    }

    pub fn required_text(&mut self, argument: &'static str) -> &'a str {
        self.text(argument).unwrap_or_else(|| {
            self.missing(argument, "text");
            ""
        })
    }

    /// A name behind the byte that says which family it is of.
    pub fn name(&mut self, argument: &'static str) -> NameRef<'a> {
        self.optional_name(argument).unwrap_or_else(|| {
            self.missing(argument, "a value");
            NameRef::UNNAMED
        })
    }

    pub fn optional_name(&mut self, argument: &'static str) -> Option<NameRef<'a>> {
        let family = self.byte();
        let text = self.text(argument)?;
        named(argument, family, text).map_err(|fault| self.fail(fault)).ok()
    }

    /// A whole number from 0 on.
    pub fn whole(&mut self, argument: &'static str) -> Option<u64> {
        let number = self.number()?;
        whole(argument, number).map_err(|fault| self.fail(fault)).ok()
    }

    pub fn required_whole(&mut self, argument: &'static str) -> u64 {
        self.whole(argument).unwrap_or_else(|| {
            self.missing(argument, "a value");
            0
        })
    }

    /// How many a page may have: cut to what one holds, before it becomes a 32-bit number.
    pub fn page_size(&mut self, argument: &'static str) -> usize {
        self.required_whole(argument).min(PAGE_ITEMS_MAX as u64) as usize
    }

    /// A duration; `Infinity` is for ever.
    pub fn millis(&mut self, argument: &'static str) -> Option<Millis> {
        let number = self.number()?;
        if number == f64::INFINITY {
            return Some(Millis::FOREVER);
        }
        let milliseconds = whole(argument, number).map_err(|fault| self.fail(fault)).ok()?;
        Some(Millis::saturating(milliseconds))
    }

    /// One of the choices, by its number.
    pub fn choice<T: Copy, const N: usize>(
        &mut self,
        argument: &'static str,
        choices: &[T; N],
    ) -> T {
        let byte = self.byte();
        *choices.get(usize::from(byte)).unwrap_or_else(|| {
            let (expected, number) = ("the number of a choice", f64::from(byte));
            self.fail(Fault::Number { argument, expected, number });
            &choices[0]
        })
    }

    /// Their number is bounded before anything is allocated for them.
    pub fn list<T>(
        &mut self,
        what: &'static str,
        items_max: usize,
        mut item: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let count = self.take().map_or(0, u32::from_le_bytes) as usize;
        if count > items_max {
            let (size, limit) = (count as u64, items_max as u64);
            self.fail(Error::LimitExceeded { what, size, limit });
        }
        let mut items = Vec::new();
        while items.len() < count && self.fault.is_none() {
            items.push(item(self));
        }
        items
    }

    /// The same; a fault names the item that it is in.
    pub fn items<T>(
        &mut self,
        what: &'static str,
        items_max: usize,
        mut item: impl FnMut(&mut Self) -> T,
    ) -> Vec<T> {
        let mut index = 0;
        self.list(what, items_max, |reader| {
            reader.item = Some((what, index));
            index += 1;
            let read = item(reader);
            reader.item = None;
            read
        })
    }
}

/// A name of a family, as `packing.ts` numbers them.
fn named<'a>(argument: &'static str, family: u8, text: &'a str) -> Result<NameRef<'a>, Error> {
    match family {
        0 => NameRef::shared(argument, text),
        1 => NameRef::of_family(argument, OUTBOX_PREFIX, text),
        2 => NameRef::of_family(argument, LOCK_PREFIX, text),
        3 => NameRef::of_family(argument, EFFECT_PREFIX, text),
        4 => NameRef::key(text),
        _ => NameRef::owner(text),
    }
}

/// A JavaScript number as a safe integer from 0 on.
pub fn whole(argument: &'static str, number: f64) -> Result<u64, Fault> {
    if number.fract() == 0.0 && (0.0..=SAFE_MAX as f64).contains(&number) {
        return Ok(number as u64);
    }
    let expected = "a whole number from 0 to 2^53 - 1";
    Err(Fault::Number { argument, expected, number })
}
