//! Repeatedly kills a server to which 32 connections write rows and messages. Everything acknowledged over HTTP must survive.

mod child;
mod load;
mod messages;
pub mod process;
