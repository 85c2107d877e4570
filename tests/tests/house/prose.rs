//! Plain English in comments, docs and messages.

mod figures;
mod habits;
mod heads;
mod samples;
mod words;
