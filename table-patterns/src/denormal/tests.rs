//! Copies and their sources, as they lie in the store, beside each other and after deaths.

mod combined;
mod concurrent;
mod deaths;
mod declared;
mod handle;
mod in_unit;
mod kit;
mod layout;
mod model;
mod verbs;
