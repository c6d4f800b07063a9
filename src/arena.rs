//! Rows by number, in pages.
//!
//! A list of millions of rows that doubles needs three times its room while it is moved. Pages are
//! never moved; one whose last row goes away gives its memory back, and the numbers of vacant rows
//! are given out again.
//!
//! **Cost:** O(1) to put, find or remove a row.

use std::ops::{Index, IndexMut};

/// A power of two: the number of a row is that of its page and its place there.
const PAGE_ROWS: usize = 256;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub struct Arena<T> {
    pages: Vec<Page<T>>,
    /// The pages with room, each once.
    open: Vec<u32>,
    len: usize,
}

#[derive(Clone, Debug)]
struct Page<T> {
    rows: Vec<Place<T>>,
    first_vacant: u32,
    taken: u32,
    is_open: bool,
}

#[derive(Clone, Debug)]
enum Place<T> {
    Taken(T),
    /// The next vacant one of the page.
    Vacant(u32),
}

impl<T> Arena<T> {
    /// Answers the number of the row, until it is removed.
    pub fn insert(&mut self, row: T) -> u32 {
        let number = self.open_page();
        let page = &mut self.pages[number as usize];
        let place = match page.first_vacant {
            NONE => {
                page.rows.push(Place::Taken(row));
                page.rows.len() - 1
            }
            vacant => {
                let place = &mut page.rows[vacant as usize];
                if let Place::Vacant(next) = std::mem::replace(place, Place::Taken(row)) {
                    page.first_vacant = next;
                }
                vacant as usize
            }
        };
        page.taken += 1;
        if page.taken as usize == PAGE_ROWS {
            page.is_open = false;
            self.open.pop();
        }
        self.len += 1;
        number * PAGE_ROWS as u32 + place as u32
    }

    /// The page that the next row goes to.
    fn open_page(&mut self) -> u32 {
        if let Some(number) = self.open.last() {
            return *number;
        }
        let number = u32::try_from(self.pages.len()).expect("fewer pages than 2^32");
        assert!(number < NONE / PAGE_ROWS as u32, "fewer rows than 2^32");
        self.pages.push(Page { rows: Vec::new(), first_vacant: NONE, taken: 0, is_open: true });
        self.open.push(number);
        number
    }

    /// The row must be there.
    pub fn remove(&mut self, number: u32) -> T {
        let (at, place) = split(number);
        let page = &mut self.pages[at];
        let vacant = Place::Vacant(page.first_vacant);
        let Place::Taken(row) = std::mem::replace(&mut page.rows[place], vacant) else {
            panic!("a row is removed once")
        };
        page.first_vacant = place as u32;
        page.taken -= 1;
        if page.taken == 0 {
            (page.rows, page.first_vacant) = (Vec::new(), NONE);
        }
        if !std::mem::replace(&mut page.is_open, true) {
            self.open.push(at as u32);
        }
        self.len -= 1;
        row
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Keeps its room for as many rows as a page has.
    pub fn clear(&mut self) {
        self.pages.truncate(1);
        self.open.clear();
        for page in &mut self.pages {
            page.rows.clear();
            (page.first_vacant, page.taken, page.is_open) = (NONE, 0, true);
            self.open.push(0);
        }
        self.len = 0;
    }

    pub fn iter(&self) -> Iter<'_, T> {
        Iter { pages: self.pages.iter(), rows: [].iter(), left: self.len }
    }
}

fn split(number: u32) -> (usize, usize) {
    (number as usize / PAGE_ROWS, number as usize % PAGE_ROWS)
}

impl<T> Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        let (page, place) = split(number);
        match &self.pages[page].rows[place] {
            Place::Taken(row) => row,
            Place::Vacant(_) => panic!("a row that is read is there"),
        }
    }
}

impl<T> IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        let (page, place) = split(number);
        match &mut self.pages[page].rows[place] {
            Place::Taken(row) => row,
            Place::Vacant(_) => panic!("a row that is written is there"),
        }
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), open: Vec::new(), len: 0 }
    }
}

/// The rows of an [`Arena`], by their numbers.
#[derive(Clone, Debug)]
pub struct Iter<'a, T> {
    pages: std::slice::Iter<'a, Page<T>>,
    rows: std::slice::Iter<'a, Place<T>>,
    left: usize,
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            match self.rows.next() {
                Some(Place::Taken(row)) => {
                    self.left -= 1;
                    return Some(row);
                }
                Some(Place::Vacant(_)) => {}
                None => self.rows = self.pages.next()?.rows.iter(),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}
