//! Tests that comments, documentation and messages are in plain English.

mod figures;
mod habits;
mod heads;
mod samples;
mod words;
