//! A view beside its source: right after any delivery, death and rebuild.

mod bounds;
mod concurrent;
mod deaths;
mod kit;
mod model;
mod rebuild;
mod shared;
mod verbs;
