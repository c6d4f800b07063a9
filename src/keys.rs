//! Rows by idempotency key, in an order that means nothing.
//!
//! Nobody asks for keys in their order, and there may be far more of them than of tasks. So the
//! tree is one of hashes: it compares numbers, where names would have to be fetched and compared
//! byte by byte at each step.
//!
//! **Invariant:** the rows of one hash stand at the numbers from 0 on, without a gap.
//!
//! **Cost:** O(log n) to find, put or remove a row.

use crate::arena::Arena;
use crate::id::TaskId;
use crate::name::Name;
use crate::place::Place;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::marker::PhantomData;

/// The default hasher is no secret: whoever looks for keys of one hash finds a pair in some 2^32
/// tries. Each costs a step of those that meet it, and no answer.
#[derive(Clone, Debug)]
pub struct Keys<T, H = DefaultHasher> {
    /// Of the type that the task indexes have, so that the compiler makes it once: what stands for
    /// a task's id is a row's number.
    places: BTreeMap<Place, TaskId>,
    rows: Arena<(Name, T)>,
    hasher: PhantomData<H>,
}

impl<T, H: Hasher + Default> Keys<T, H> {
    pub fn get(&self, key: &str) -> Option<&T> {
        let (_, position) = self.find(key)?;
        Some(&self.rows[position].1)
    }

    /// Answers the row that was there before.
    pub fn insert(&mut self, key: Name, row: T) -> Option<T> {
        self.put(key, row).1
    }

    /// Also answers where the row lies, until it is removed or put again.
    pub fn put(&mut self, key: Name, row: T) -> (u32, Option<T>) {
        let mut place = Self::first_place(key.as_str());
        let position = self.rows.insert((key, row));
        let number = TaskId::saturating(position.into());
        // An occupied place is rare, and put back: to look first would cost each key a search.
        while let Some(occupant) = self.places.insert(place, number) {
            let former = occupant.get() as u32;
            if self.rows[former].0 == self.rows[position].0 {
                return (position, Some(self.rows.remove(former).1));
            }
            self.places.insert(place, occupant);
            place.number += 1;
        }
        (position, None)
    }

    /// The row that lies there.
    pub fn at(&self, position: u32) -> (&Name, &T) {
        let (key, row) = &self.rows[position];
        (key, row)
    }

    /// The same, as it lies there.
    pub fn row_at(&self, position: u32) -> &(Name, T) {
        &self.rows[position]
    }

    pub fn remove(&mut self, key: &str) -> Option<T> {
        let (place, position) = self.find(key)?;
        let mut last = place;
        while self.places.contains_key(&Place { number: last.number + 1, ..last }) {
            last.number += 1;
        }
        let moved = self.places.remove(&last).expect("it was found");
        if last != place {
            self.places.insert(place, moved);
        }
        Some(self.rows.remove(position).1)
    }

    /// In an order that differs between replicas.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &T)> {
        self.rows.iter().map(|(key, row)| (key, row))
    }

    pub fn clear(&mut self) {
        if self.places.is_empty() {
            return;
        }
        self.places.clear();
        self.rows.clear();
    }

    fn find(&self, key: &str) -> Option<(Place, u32)> {
        if self.places.is_empty() {
            return None;
        }
        let mut place = Self::first_place(key);
        loop {
            let position = self.places.get(&place)?.get() as u32;
            if self.rows[position].0.as_str() == key {
                return Some((place, position));
            }
            place.number += 1;
        }
    }

    fn first_place(key: &str) -> Place {
        let mut hasher = H::default();
        hasher.write(key.as_bytes());
        Place { rank: hasher.finish(), ..Place::default() }
    }
}

impl<T, H> Default for Keys<T, H> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), rows: Arena::default(), hasher: PhantomData }
    }
}

/// Where the rows lie makes no difference.
impl<T: PartialEq, H: Hasher + Default> PartialEq for Keys<T, H> {
    fn eq(&self, other: &Self) -> bool {
        let is_in_other = |(key, row): (&Name, &T)| other.get(key.as_str()) == Some(row);
        self.rows.len() == other.rows.len() && self.iter().all(is_in_other)
    }
}

impl<T: Eq, H: Hasher + Default> Eq for Keys<T, H> {}
