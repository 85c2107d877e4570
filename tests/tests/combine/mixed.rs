//! A partition of many types: owners, parts, kinds, copies, lists and rows that patterns keep. Each verb of a type gets that type's rows
//! exactly; a row that no declared type explains is an error with its key.

mod desk;
mod stray;
mod verbs;
