//! Tests of other programs' containers: their items are read and changed through a mapping, and unmapped members are kept.

mod adopted;
mod filters;
mod together;
