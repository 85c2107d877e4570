//! Repeatedly kills a server. 32 connections write rows and messages to it. Every write that was acknowledged over HTTP must survive.

mod child;
mod load;
mod messages;
pub mod process;
