//! Rows by place, in their order.
//!
//! The rows lie in an arena and the tree holds where. It is a tree of the type that the task
//! indexes have, so that the compiler makes it once; what stands there for a task's id is a row's
//! number.
//!
//! **Cost:** O(log n) to find, put or remove a row.

use crate::arena::Arena;
use crate::id::TaskId;
use crate::place::Place;
use std::collections::{BTreeMap, btree_map};

#[derive(Clone, Debug)]
pub struct Ordered<T> {
    places: BTreeMap<Place, TaskId>,
    rows: Arena<T>,
}

impl<T> Ordered<T> {
    pub fn get(&self, place: Place) -> Option<&T> {
        self.places.get(&place).map(|row| &self.rows[row.get() as u32])
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        let row = self.places.get(&place)?;
        Some(&mut self.rows[row.get() as u32])
    }

    /// Answers the row that was there before.
    pub fn insert(&mut self, place: Place, row: T) -> Option<T> {
        let row = TaskId::saturating(self.rows.insert(row).into());
        let former = self.places.insert(place, row)?;
        Some(self.rows.remove(former.get() as u32))
    }

    pub fn remove(&mut self, place: Place) -> Option<T> {
        let row = self.places.remove(&place)?;
        Some(self.rows.remove(row.get() as u32))
    }

    pub fn first(&self) -> Option<Place> {
        self.places.first_key_value().map(|(place, _)| *place)
    }

    pub fn iter(&self) -> Iter<'_, T> {
        Iter { places: self.places.iter(), rows: &self.rows }
    }
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), rows: Arena::default() }
    }
}

impl<T> FromIterator<(Place, T)> for Ordered<T> {
    fn from_iter<I: IntoIterator<Item = (Place, T)>>(rows: I) -> Self {
        let mut ordered = Self::default();
        rows.into_iter().for_each(|(place, row)| drop(ordered.insert(place, row)));
        ordered
    }
}

/// Where the rows lie makes no difference.
impl<T: PartialEq> PartialEq for Ordered<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Ordered<T> {}

/// The rows of an [`Ordered`].
#[derive(Clone, Debug)]
pub struct Iter<'a, T> {
    places: btree_map::Iter<'a, Place, TaskId>,
    rows: &'a Arena<T>,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = (Place, &'a T);

    fn next(&mut self) -> Option<Self::Item> {
        let (place, row) = self.places.next()?;
        Some((*place, &self.rows[row.get() as u32]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}
