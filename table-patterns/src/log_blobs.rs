//! Log data in blobs named by time (PAT-ANTI-2).
//!
//! # Context
//! Log lines are written continuously and rarely read, and each read selects a time range. In a table, either all writes go to one partition, or every read
//! queries all partitions. In blobs that are named by hour, a write costs one request per block of lines, and a name prefix finds the lines.
//!
//! # Key layout
//! | blob | metadata |
//! |---|---|
//! | `queue/2014/07/31/1800/000001.log`: service, date, hour, counter (LOG-2) | `StartTime`, `EndTime`, `LogType`, `LogVersion` (LOG-4) |
//!
//! Lines end with LF, and fields are separated by `;` (LOG-6). The fields are the version, the time, the kind, the id, and the application's fields. A field
//! that contains `;`, a quotation mark, an angle bracket, an ampersand or a line break is quoted and HTML-encoded. It is decoded when it is read.
//!
//! # Guarantee
//! - Each flushed line is read exactly once. If the response to a flush is lost, the same block is written again, and readers recognise its lines by their ids
//!   (LOG-6). Several processes can log for the same service, because blobs are only created and never overwritten.
//! - Lines that have not been flushed are in memory, and are lost if the process ends. [The caller determines](LogWriter::flush_at) the block size. Smaller
//!   blocks cost more requests; with larger blocks, a crash loses more lines.
//! - A line is in the folder of its hour or of the next hour. A block spans at most an hour and is stored under the hour of its last line (LOG-3), regardless
//!   of the time of the flush. A read of an interval therefore includes one more hour (LOG-5), and misses no line.
//!
//! # Cost
//! A write costs one request per block, and one listing when a writer begins an hour. If other writers have added one blob for the service since the writer's
//! last blob, a block costs one more request. If they have added several, it costs a few more, including a listing of the hour. A read costs one listing per
//! hour and one request per blob. If the metadata of a blob shows that it contains no matching line, its content is skipped.
//!
//! # Bounds
//! If one hour of a service has 1,000,000 blobs or more, their counters have more than six digits. Older programs skip blobs with such counters and cannot
//! write to that hour, so update writers first. Stores without metadata, such as a local folder, are supported, but reads then download every blob.
//!
//! # When not to
//! If single entries are read by key, or if the newest entries are read often, use [a log tail](crate::log_tail).
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
//! log.flush_if_due().await?; // nothing is due yet: the block is small and young
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
