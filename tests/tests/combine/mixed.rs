//! Tests of a partition that contains many types: entities, their parts, types that differ only in their stored kind, copies, index lists, and rows of
//! patterns. Each operation on a type must affect exactly the rows of that type. A row that belongs to no declared type causes an error with its key.

mod desk;
mod stray;
mod verbs;
