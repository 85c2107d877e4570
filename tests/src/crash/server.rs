//! Kills a server in a loop: 32 connections write to tables and queues, and everything that was acknowledged over HTTP must survive.

mod child;
mod load;
mod messages;
pub mod process;
