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
mod missing;
mod model;
mod moves;
mod odd_errors;
mod partitions;
mod rebuild;
mod records;
mod recounts;
mod recreated;
mod reports;
mod restored;
mod shared;
mod switches;
mod unordered;
mod verbs;
