//! Tests a partition with many types: entities, their parts, types that differ only in their stored kind, copies, index
//! lists, and rows of patterns. Each operation on a type must affect exactly that type's rows. If it finds a row of no
//! declared type, it must fail with an error that contains the row's key.

mod desk;
mod stray;
mod verbs;
