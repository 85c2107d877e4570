//! A view compared with its source: correct after any delivery, crash and rebuild.

mod bounds;
mod concurrent;
mod deaths;
mod kit;
mod model;
mod rebuild;
mod shared;
mod verbs;
