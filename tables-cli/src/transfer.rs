//! Moving rows: forms of files, writing in groups, and states from which a killed command resumes.

pub mod checksum;
pub mod compare;
pub mod csv;
pub mod lines;
pub mod progress;
pub mod source;
pub mod state;
pub mod writer;
