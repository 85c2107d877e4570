//! Tests of other programs' containers. Items are read and changed through a mapping, and unmapped members are kept.

mod adopted;
mod filters;
mod releases;
mod together;
