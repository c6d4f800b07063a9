//! Names of schedules by the boundary that they wait for.
//!
//! **Invariant:** no boundary without a name; the names of one stand in their order.
//!
//! **Cost:** O(log n) per change, and a move in memory for the names that wait for the same one.

use crate::id::Instant;
use crate::name::Name;
use crate::ordered::{Iter, Ordered};
use crate::place::Place;
use std::slice;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boundaries(Ordered<Vec<Name>>);

impl Boundaries {
    pub fn insert(&mut self, at: Instant, name: Name) {
        let place = Place::first(at);
        let Some(names) = self.0.get_mut(place) else {
            self.0.insert(place, vec![name]);
            return;
        };
        if let Err(position) = names.binary_search(&name) {
            names.insert(position, name);
        }
    }

    pub fn remove(&mut self, at: Instant, name: &Name) {
        let place = Place::first(at);
        let Some(names) = self.0.get_mut(place) else { return };
        if let Ok(position) = names.binary_search(name) {
            names.remove(position);
        }
        if names.is_empty() {
            self.0.remove(place);
        }
    }

    pub fn first(&self) -> Option<Instant> {
        self.0.first().map(|place| place.at)
    }

    /// The earliest first.
    pub fn iter(&self) -> Names<'_> {
        Names { boundaries: self.0.iter(), at: Instant::default(), rest: [].iter() }
    }
}

/// The names of [`Boundaries`]: a type of its own and no chain of adapters, which each caller would
/// compile anew.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    boundaries: Iter<'a, Vec<Name>>,
    at: Instant,
    /// Of those that wait for `at`.
    rest: slice::Iter<'a, Name>,
}

impl<'a> Iterator for Names<'a> {
    type Item = (Instant, &'a Name);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(name) = self.rest.next() {
                return Some((self.at, name));
            }
            let (place, names) = self.boundaries.next()?;
            (self.at, self.rest) = (place.at, names.iter());
        }
    }
}
