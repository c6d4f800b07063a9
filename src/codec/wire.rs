//! Values as bytes, one after the other, with nothing between them.
//!
//! ```text
//! number     groups of 7 bits, the lowest first; the high bit says that another group follows
//! signed     as a number: 0, -1, 1, -2, 2 … are 0, 1, 2, 3, 4 …
//! flag       one byte, 0 or 1
//! option     a flag, and the value if it is 1
//! text       its length in bytes, and the bytes; so are opaque bytes
//! list       its length, and the items; a table is a list of names with their rows
//! struct     its fields in order
//! enum       the number of the variant, and its fields in order
//! ```
//!
//! **Cost:** a list reserves no more than about as many bytes as are left to read.

use super::reader::Reader;
use crate::blob::Blob;
use crate::name::Name;
use crate::table::Table;
use std::sync::Arc;

/// A value that the format knows.
pub trait Wire {
    fn put(&self, bytes: &mut Vec<u8>);

    fn take(reader: &mut Reader<'_>) -> Self;
}

/// How many bits are in the groups that one word holds: more than a safe integer has.
const WORD_BITS: u32 = 8 * 7;
/// The high bits, of which each says that another group follows.
const FOLLOWED: u64 = 0x8080_8080_8080_8080;

#[inline(never)]
pub fn put_number(bytes: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        return bytes.push(value as u8);
    }
    if value >> WORD_BITS != 0 {
        return put_long_number(bytes, value);
    }
    // All of its groups at once, then without those that are not there.
    let followed = value.ilog2() / 7;
    let word = spread(value) | FOLLOWED & ((1 << (8 * followed)) - 1);
    let end = bytes.len() + followed as usize + 1;
    bytes.extend_from_slice(&word.to_le_bytes());
    bytes.truncate(end);
}

#[cold]
fn put_long_number(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend_from_slice(&(spread(value) | FOLLOWED).to_le_bytes());
    put_number(bytes, value >> WORD_BITS);
}

/// The lowest eight groups of 7 bits, each in the low bits of a byte.
const fn spread(value: u64) -> u64 {
    let halves = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let quarters = halves & 0x0000_3fff_0000_3fff | (halves & 0x0fff_c000_0fff_c000) << 2;
    quarters & 0x007f_007f_007f_007f | (quarters & 0x3f80_3f80_3f80_3f80) << 1
}

#[inline(never)]
fn put_slice(bytes: &mut Vec<u8>, slice: &[u8]) {
    put_number(bytes, slice.len() as u64);
    bytes.extend_from_slice(slice);
}

pub fn put_list<'a, T: Wire + 'a>(
    bytes: &mut Vec<u8>,
    items: impl ExactSizeIterator<Item = &'a T>,
) {
    put_number(bytes, items.len() as u64);
    items.for_each(|item| item.put(bytes));
}

fn put_named<'a, T: Wire + 'a>(
    bytes: &mut Vec<u8>,
    rows: impl ExactSizeIterator<Item = (&'a Name, &'a T)>,
) {
    put_number(bytes, rows.len() as u64);
    for (name, row) in rows {
        name.put(bytes);
        row.put(bytes);
    }
}

impl Wire for u32 {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_number(bytes, u64::from(*self));
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        reader.number(Self::BITS) as Self
    }
}

impl Wire for u64 {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_number(bytes, *self);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        reader.number(Self::BITS)
    }
}

impl Wire for i64 {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_number(bytes, ((self << 1) ^ (self >> 63)) as u64);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        let folded = reader.number(u64::BITS);
        (folded >> 1) as Self ^ -((folded & 1) as Self)
    }
}

impl Wire for bool {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        reader.flag()
    }
}

impl Wire for Arc<str> {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_slice(bytes, self.as_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        reader.text()
    }
}

impl Wire for Name {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_slice(bytes, self.as_str().as_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        Self::of_row(reader.text())
    }
}

impl Wire for Blob {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_slice(bytes, self);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        reader.slice().into()
    }
}

impl<T: Wire> Wire for Arc<T> {
    fn put(&self, bytes: &mut Vec<u8>) {
        (**self).put(bytes);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        Self::new(T::take(reader))
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self.is_some()));
        if let Some(value) = self {
            value.put(bytes);
        }
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        reader.flag().then(|| T::take(reader))
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
        self.1.put(bytes);
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        (A::take(reader), B::take(reader))
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_list(bytes, self.iter());
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        let items = reader.items();
        let reserved = 4 + reader.bytes_left() / size_of::<T>();
        let mut list = Self::with_capacity(items.min(reserved));
        for _ in 0..items {
            if reader.failed() {
                break;
            }
            list.push(T::take(reader));
        }
        list
    }
}

/// The last of those with the same name stays.
impl<T: Wire> Wire for Table<T> {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_named(bytes, self.iter());
    }

    fn take(reader: &mut Reader<'_>) -> Self {
        let mut table = Self::default();
        for _ in 0..reader.items() {
            if reader.failed() {
                break;
            }
            table.insert(Name::take(reader), T::take(reader));
        }
        table
    }
}

/// A struct by its fields, an enum by its numbered variants, in the order of the format. A number
/// that no variant has is read as the first, by a reader that has failed.
macro_rules! wire {
    (struct $type:ident { $($field:ident),* $(,)? }) => {
        impl Wire for $type {
            fn put(&self, bytes: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($field.put(bytes);)*
            }

            fn take(reader: &mut Reader<'_>) -> Self {
                Self { $($field: Wire::take(reader)),* }
            }
        }
    };
    (enum $type:ident {
        0 $first:ident $first_fields:tt,
        $($number:literal $variant:ident $fields:tt,)*
    }) => {
        impl Wire for $type {
            fn put(&self, bytes: &mut Vec<u8>) {
                match self {
                    Self::$first $first_fields => wire!(@put bytes 0 $first_fields),
                    $(Self::$variant $fields => wire!(@put bytes $number $fields),)*
                }
            }

            fn take(reader: &mut Reader<'_>) -> Self {
                match reader.variant([0, $($number),*].len() as u32) {
                    $($number => wire!(@take reader $variant $fields),)*
                    _ => wire!(@take reader $first $first_fields),
                }
            }
        }
    };
    (@put $bytes:ident $number:literal { $($field:ident),* }) => {{
        const { assert!($number < 0x80, "one byte holds it") };
        $bytes.push($number);
        $($field.put($bytes);)*
    }};
    (@put $bytes:ident $number:literal ($field:ident)) => {
        wire!(@put $bytes $number { $field })
    };
    (@take $reader:ident $variant:ident { $($field:ident),* }) => {
        Self::$variant { $($field: Wire::take($reader)),* }
    };
    (@take $reader:ident $variant:ident ($field:ident)) => {
        Self::$variant(Wire::take($reader))
    };
}
pub(super) use wire;
