//! Tests that comments, documentation and messages are written in plain English.

mod figures;
mod habits;
mod heads;
mod samples;
mod words;
