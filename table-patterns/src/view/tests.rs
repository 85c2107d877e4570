//! Tests that compare views with their sources after changes in any order, after crashes, and
//! after rebuilds.

mod bounds;
mod concurrent;
mod deaths;
mod foreign;
mod kit;
mod large_sums;
mod lookalikes;
mod lost;
mod model;
mod moves;
mod partitions;
mod rebuild;
mod records;
mod recounts;
mod restored;
mod shared;
mod verbs;
