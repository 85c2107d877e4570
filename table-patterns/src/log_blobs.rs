//! Log data in blobs named by time (PAT-ANTI-2).
//!
//! # Context
//! Log lines: written all the time, read seldom, by time range. In a table either one partition takes every write, or every read
//! asks all partitions. As lines of blobs whose names are hours they cost a request a block, and are found by a prefix.
//!
//! # Key layout
//! | blob | metadata |
//! |---|---|
//! | `queue/2014/07/31/1800/000001.log`: service, date, hour, counter (LOG-2) | `StartTime`, `EndTime`, `LogType`, `LogVersion` (LOG-4) |
//!
//! Lines end with LF, fields with `;` (LOG-6): version, instant, kind, id, and those of the line. A field that holds `;`, a quote,
//! an angle bracket, an ampersand or a line break is quoted and HTML-encoded, and read back as it was.
//!
//! # Guarantee
//! - A line that was flushed is read once, also where the answer of a flush was lost and its block was written again, unchanged: lines
//!   have ids (LOG-6). Writers of several processes share a service without losing blobs to each other: a name is taken, never
//!   overwritten.
//! - Lines that are not flushed are in memory, and lost with the process. How many is [the caller's to set](LogWriter::flush_at):
//!   a block for each line costs a request each, a large block risks more.
//! - A line is in the folder of its own hour or the next one: a block spans at most an hour and lies in the hour of its last
//!   line (LOG-3), however late it is flushed. So a read of an interval looks one hour further (LOG-5) and misses nothing.
//!
//! # Cost
//! A request a block, and one listing when a writer meets a new hour. A read is one listing an hour and one request a blob;
//! content is skipped where the metadata says that no line fits.
//!
//! # Bounds
//! 1,000,000 blobs an hour and service. Stores without metadata (a local folder) work: there every content is read.
//!
//! # When not to
//! Where single entries are looked up by a key, or the newest are read often: [a log tail](crate::log_tail).
//!
//! ```
//! use std::sync::Arc;
//! use table_patterns::blob::object_store::memory::InMemory;
//! use table_patterns::log_blobs::{LogKind, LogReader, LogWriter};
//!
//! # pollster::block_on(async {
//! let blobs = Arc::new(InMemory::new());
//! let before = table_patterns::ticks::now();
//! let mut log = LogWriter::new(blobs.clone(), "queue")?.flush_at(64 * 1024);
//! log.append(LogKind::Write, ["PutMessage", "a;b"])?;
//! log.flush_if_due().await?; // nothing yet: the block is small and young
//! log.flush().await?;
//!
//! let end = table_patterns::ticks::now() + chrono::Duration::seconds(1);
//! let lines = LogReader::new(blobs, "queue")?.collect(before, end, &[LogKind::Write]).await?;
//! assert_eq!(lines[0].fields, ["PutMessage", "a;b"]);
//! # Ok::<(), table_patterns::Error>(())
//! # }).unwrap();
//! ```

mod fault;
mod line;
mod name;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use line::{LogKind, LogLine};
pub use reader::LogReader;
pub use writer::LogWriter;
