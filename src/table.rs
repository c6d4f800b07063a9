//! Rows by name, in name order.
//!
//! The rows lie in an arena and the tree holds their places, so that tables of all kinds share one
//! tree: what it costs to compile a `BTreeMap` for each is several kilobytes, every time.
//!
//! **Cost:** O(log n) to find, put or remove a row.

use crate::arena::Arena;
use crate::name::Name;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;

#[derive(Clone, Debug)]
pub struct Table<T> {
    places: BTreeMap<Name, u32>,
    rows: Arena<T>,
}

impl<T> Table<T> {
    pub fn get(&self, name: &str) -> Option<&T> {
        self.places.get(name).map(|place| &self.rows[*place])
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Answers the row that was there before.
    pub fn insert(&mut self, name: Name, row: T) -> Option<T> {
        match self.places.entry(name) {
            Entry::Occupied(place) => Some(std::mem::replace(&mut self.rows[*place.get()], row)),
            Entry::Vacant(place) => {
                place.insert(self.rows.insert(row));
                None
            }
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<T> {
        let place = self.places.remove(name)?;
        Some(self.rows.remove(place))
    }

    pub fn first(&self) -> Option<&Name> {
        self.places.first_key_value().map(|(name, _)| name)
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
        self.places.iter().map(|(name, place)| (name, &self.rows[*place]))
    }

    /// The rows behind a name, in name order.
    pub fn after(&self, name: Option<Name>) -> impl Iterator<Item = (Name, &T)> {
        let start = name.map_or(Bound::Unbounded, Bound::Excluded);
        let places = self.places.range::<Name, _>((start, Bound::Unbounded));
        places.map(|(name, place)| (name.clone(), &self.rows[*place]))
    }

    pub fn range<'a>(
        &'a self,
        names: (Bound<&str>, Bound<&str>),
    ) -> impl Iterator<Item = (&'a Name, &'a T)> + use<'a, T> {
        let places = self.places.range::<str, _>(names);
        places.map(|(name, place)| (name, &self.rows[*place]))
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), rows: Arena::default() }
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
