//! Tests the typed table and the patterns on the in-memory engine, with one module per subject. All tests are in one
//! binary, because each binary links all packages.

mod adopted;
mod ambiguous;
mod bearer;
mod catalogue;
mod claims;
mod codec;
mod convergence;
mod copies;
mod employee;
mod forms;
mod generations;
mod generics;
mod indexes;
mod integers;
mod kinds;
mod layout;
mod layout_file;
mod lent;
mod levels;
mod lookalikes;
mod outbox;
mod pages;
mod partitions;
mod published;
mod read_from_right;
mod renamed;
mod selections;
mod sets;
mod table;
mod transactions;
mod untyped;
mod whole_seconds;
