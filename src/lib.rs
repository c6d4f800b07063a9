//! Durable task queues and fenced leases.
#![deny(unsafe_code)]

pub mod accept;
pub mod arena;
pub mod backoff;
pub mod blob;
mod boundaries;
pub mod change;
pub mod check;
pub mod codec;
pub mod copying;
pub mod engine;
pub mod error;
pub mod event;
mod guard;
pub mod id;
pub mod index;
pub mod keys;
pub mod lease;
pub mod limits;
pub mod name;
pub mod ops;
mod ordered;
pub mod place;
pub mod queue;
pub mod removals;
pub mod replicas;
pub mod restoring;
pub mod rights;
pub mod schedule;
pub mod staged;
pub mod state;
pub mod table;
pub mod task;
pub mod timetable;
pub mod touched;
pub mod txn;
pub mod usage;
#[cfg(feature = "wasm")]
#[allow(unsafe_code)]
pub mod wasm;
