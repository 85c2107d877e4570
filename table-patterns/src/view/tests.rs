//! Tests that compare a view with its source: the view is correct after any delivery, crash and rebuild.

mod bounds;
mod concurrent;
mod deaths;
mod kit;
mod lost;
mod model;
mod moves;
mod rebuild;
mod shared;
mod verbs;
