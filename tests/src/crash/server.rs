//! Repeatedly kills a server: 32 connections write to tables and queues, and all data that was acknowledged over HTTP must survive.

mod child;
mod load;
mod messages;
pub mod process;
