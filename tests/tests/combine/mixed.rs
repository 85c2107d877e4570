//! Tests a partition with many types: entities, their parts, types that differ only in their stored kind, copies, index lists, and the rows of patterns. An
//! operation on a type must affect exactly the rows of that type. If it finds a row that belongs to no declared type, it must fail with an error that contains
//! the row's key.

mod desk;
mod stray;
mod verbs;
