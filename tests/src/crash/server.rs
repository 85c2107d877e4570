//! Kill -9 of a server in a loop: 32 connections write tables and queues, and what it acknowledged over HTTP must be there.

mod child;
mod load;
mod messages;
pub mod process;
