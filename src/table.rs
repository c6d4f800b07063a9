//! Rows by name, in name order.
//!
//! The rows lie in a slab and the tree holds their places, so that tables of all kinds share one
//! tree: what it costs to compile a `BTreeMap` for each is several kilobytes, every time.
//!
//! **Cost:** O(log n) to find, put or remove a row.

use crate::name::Name;
use slab::Slab;
use std::collections::BTreeMap;
use std::ops::Bound;

#[derive(Clone, Debug)]
pub struct Table<T> {
    places: BTreeMap<Name, u32>,
    rows: Slab<T>,
}

impl<T> Table<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        self.places.get(name).map(|place| &self.rows[*place as usize])
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Answers the row that was there before.
    pub fn insert(&mut self, name: Name, row: T) -> Option<T> {
        let vacant = u32::try_from(self.rows.vacant_key()).expect("fewer rows than 2^32");
        let place = *self.places.entry(name).or_insert(vacant);
        if place == vacant {
            self.rows.insert(row);
            return None;
        }
        Some(std::mem::replace(&mut self.rows[place as usize], row))
    }

    pub fn remove(&mut self, name: &str) -> Option<T> {
        let place = self.places.remove(name)?;
        Some(self.rows.remove(place as usize))
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn clear(&mut self) {
        if self.is_empty() {
            return;
        }
        self.places.clear();
        self.rows.clear();
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &T)> {
        self.places.iter().map(|(name, place)| (name, &self.rows[*place as usize]))
    }

    pub fn range<'a>(
        &'a self,
        names: (Bound<&str>, Bound<&str>),
    ) -> impl Iterator<Item = (&'a Name, &'a T)> + use<'a, T> {
        let places = self.places.range::<str, _>(names);
        places.map(|(name, place)| (name, &self.rows[*place as usize]))
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), rows: Slab::new() }
    }
}

/// The last of those with the same name stays.
impl<T> FromIterator<(Name, T)> for Table<T> {
    fn from_iter<I: IntoIterator<Item = (Name, T)>>(rows: I) -> Self {
        let mut table = Self::default();
        rows.into_iter().for_each(|(name, row)| drop(table.insert(name, row)));
        table
    }
}

/// Where the rows lie makes no difference.
impl<T: PartialEq> PartialEq for Table<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Table<T> {}
