//! Backups of any store. A backup consists of generations, in a folder or under a prefix of an object store. Each generation can be restored entirely or in
//! part.
//!
//! # Layout of a backup folder
//! | file | content |
//! |---|---|
//! | `BACKUPS` | format version and the name of the store; marks the folder |
//! | `generations/20261125T210509.123Z.json` | one [generation](generation::Generation): its tables, its layers, and their checksums |
//! | `rows/Company-20261125T210509.123Z-GUID.rows` | a [`layer`]: all rows of a table, or the changes since the previous generation |
//! | `files/0000000042.rows` | a file of an embedded engine, shared by the generations that contain it |
//! | `working.json` | the progress of an unfinished generation |
//! | `VIEWS`, `view-…` | only in a folder: temporary folders of commands that read engine files, and the file that these commands lock |
//! | `locks/00000000000000000042` | only in an object store: the lock of the command that writes the backup |
//!
//! In an object store, each file in `rows` and `files` is a sequence of objects of at most about 8 MiB, named by their offsets in the file.
//!
//! A folder of the embedded engine is backed up as a consistent snapshot of its files. Any other store is backed up row by row: its rows are read in key order
//! and compared with the previous generation, and only the differences, including deletions, are written.
//!
//! # Guarantee
//! - A generation is listed only after all its files are durable. Killing a backup leaves earlier generations unchanged. The next backup continues where the
//!   killed one stopped, or starts over if another generation has been completed since then.
//! - Checksums cover every byte. Corrupted rows are reported with their file and position, and are never restored.
//! - A backup from an untrusted source cannot read or change files outside its folder, because recorded file names that are paths are rejected.
//! - If a command loses the lock on an object store, it cannot change the layers of the command that took over the lock, because each new layer has a unique
//!   name.
//! - Removing a generation never changes other generations, because a layer is deleted only when no generation refers to it.

pub mod capture;
mod file_name;
pub mod files;
pub mod generation;
#[cfg(test)]
mod hostile_tests;
mod instant;
pub mod layer;
pub mod merged;
#[cfg(test)]
#[cfg(feature = "object-store")]
mod object_tests;
#[cfg(test)]
mod omitted_tests;
pub mod opened;
#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod rate_tests;
pub mod repository;
pub mod restore;
pub mod retention;
mod sealed;
pub mod storage;
#[cfg(test)]
#[cfg(feature = "object-store")]
mod takeover_tests;
#[cfg(test)]
mod tests;
pub mod verify;
#[cfg(test)]
mod verify_tests;
pub mod view;
mod work;

pub use generation::{Contents, Generation};
pub use repository::Repository;
