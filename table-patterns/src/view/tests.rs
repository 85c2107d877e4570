//! A view beside its source: right after any delivery, death and rebuild.

mod concurrent;
mod deaths;
mod kit;
mod model;
mod rebuild;
mod shared;
mod verbs;
