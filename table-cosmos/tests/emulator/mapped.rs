//! Tests of another program's containers: its items are read and changed through a mapping, and their unmapped members are kept.

mod adopted;
mod filters;
mod together;
