//! The typed table and the patterns on the engine in memory, one module a subject. One binary, because each is linked anew with all packages.

mod adopted;
mod catalogue;
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
mod lent;
mod levels;
mod lock;
mod outbox;
mod partitions;
mod published;
mod read_from_right;
mod selections;
mod sets;
mod table;
mod transactions;
mod untyped;
mod whole_seconds;
