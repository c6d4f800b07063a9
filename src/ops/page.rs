//! Pages: as many items as were asked for, as far as they fit.

use crate::limits::{PAGE_BYTES_MAX, PAGE_ITEMS_MAX};

/// A page, and whether more follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub more: bool,
}

impl<T> Page<T> {
    /// The first `limit` of `items`, cut to 1 000 and to [`PAGE_BYTES_MAX`]. No page of a limit
    /// above 0 is empty while there are items: the next one goes on behind its last.
    pub fn of(items: impl Iterator<Item = T>, limit: usize, bytes: impl Fn(&T) -> usize) -> Self {
        let limit = limit.min(PAGE_ITEMS_MAX);
        let mut items = items.take(limit.saturating_add(1)).collect::<Vec<_>>();
        let fit = fitting(items.iter().take(limit).map(bytes));
        let more = limit > 0 && items.len() > fit;
        items.truncate(fit);
        Self { items, more }
    }
}

/// How many of the first items fit into [`PAGE_BYTES_MAX`]: at least one.
pub fn fitting(sizes: impl Iterator<Item = usize>) -> usize {
    let mut left = PAGE_BYTES_MAX;
    let fits = |(position, size): &(usize, usize)| {
        let fits = *position == 0 || *size <= left;
        left = left.saturating_sub(*size);
        fits
    };
    sizes.enumerate().take_while(fits).count()
}
