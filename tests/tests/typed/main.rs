//! Tests of the typed table and the patterns with the engine in memory, one module per subject. They form one test binary, because each binary
//! links all packages.

mod adopted;
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
mod layout;
mod layout_file;
mod lent;
mod levels;
mod outbox;
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
