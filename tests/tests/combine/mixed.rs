//! A partition with many types: owners, parts, kinds, copies, lists and rows of patterns. Each operation on a type affects exactly the rows of that
//! type, and a row that belongs to no declared type is an error with its key.

mod desk;
mod stray;
mod verbs;
