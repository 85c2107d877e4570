//! The history of a run: the calls of all clients and their results, in real-time order.

use std::fmt;

use table_core::ErrorCode;

/// The content of an entity: two numbers, each of which may be missing.
pub type Content = [Option<i32>; 2];

/// One write to a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Insert an entity.
    Insert(Content),
    /// Replace an entity that has this `ETag`. `None` accepts any version.
    Replace(Content, Option<String>),
    /// Merge into an entity that has this `ETag`. `None` accepts any version.
    Merge(Content, Option<String>),
    /// Insert an entity, or replace it.
    InsertOrReplace(Content),
    /// Insert an entity, or merge into it.
    InsertOrMerge(Content),
    /// Delete an entity that has this `ETag`. `None` accepts any version.
    Delete(Option<String>),
}

/// A change to one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The number of the row.
    pub row: usize,
    /// The change to that row.
    pub change: Change,
}

/// A call made by a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Read a row.
    Get(usize),
    /// Write rows atomically. If there are several rows, one unit of work writes them.
    Write(Vec<Write>),
    /// Increment a counter.
    Add(usize, i64),
    /// Read a counter.
    Count(usize),
}

/// The outcome of a call, as its caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The row was read. The value is its content and `ETag`, or `None` if the row does not exist.
    Found(Option<(Content, String)>),
    /// The writes were applied. For each write, the value contains the new `ETag`. It contains `None` for a delete, or if the `ETag` is unknown.
    Written(Vec<Option<String>>),
    /// The counter was read or incremented, and has this value.
    Counted(i64),
    /// The call was refused and had no effect.
    Refused(ErrorCode),
    /// The call may have taken effect.
    Ambiguous,
}

/// A call and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The number of the client.
    pub client: usize,
    /// The call.
    pub call: Call,
    /// The number of the event that began the call.
    pub began: usize,
    /// The number of the event at which the client received the outcome.
    pub ended: usize,
    /// The outcome.
    pub outcome: Outcome,
    /// The number of times the account received this call's write.
    pub arrivals: usize,
}

/// All calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The records of all calls, in the order they began.
    pub records: Vec<Record>,
}

fn version(f: &mut fmt::Formatter<'_>, condition: Option<&String>) -> fmt::Result {
    match condition {
        Some(etag) => write!(f, " if {}", short(etag)),
        None => Ok(()),
    }
}

/// Returns the part of an `ETag` that distinguishes versions.
fn short(etag: &str) -> &str {
    etag.split_once('T').map_or(etag, |(_, time)| time.trim_end_matches(['\'', '"', 'Z']))
}

struct Shown<'a>(&'a Content);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: Option<i32>| value.map_or("-".to_owned(), |value| value.to_string());
        write!(f, "[{} {}]", show(self.0[0]), show(self.0[1]))
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row;
        match &self.change {
            Change::Insert(content) => write!(f, "insert {row} {}", Shown(content)),
            Change::InsertOrReplace(content) => write!(f, "insert-or-replace {row} {}", Shown(content)),
            Change::InsertOrMerge(content) => write!(f, "insert-or-merge {row} {}", Shown(content)),
            Change::Replace(content, condition) => {
                write!(f, "replace {row} {}", Shown(content))?;
                version(f, condition.as_ref())
            }
            Change::Merge(content, condition) => {
                write!(f, "merge {row} {}", Shown(content))?;
                version(f, condition.as_ref())
            }
            Change::Delete(condition) => {
                write!(f, "delete {row}")?;
                version(f, condition.as_ref())
            }
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>4} to {:>4}  client {}  ", self.began, self.ended, self.client)?;
        match &self.call {
            Call::Get(row) => write!(f, "get {row}")?,
            Call::Add(counter, by) => write!(f, "add {by} to counter {counter}")?,
            Call::Count(counter) => write!(f, "count {counter}")?,
            Call::Write(writes) => {
                for (index, write) in writes.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{write}")?;
                }
            }
        }
        f.write_str(" -> ")?;
        match &self.outcome {
            Outcome::Found(None) => f.write_str("nothing")?,
            Outcome::Found(Some((content, etag))) => write!(f, "{} {}", Shown(content), short(etag))?,
            Outcome::Written(etags) => {
                f.write_str("done")?;
                for etag in etags.iter().flatten() {
                    write!(f, " {}", short(etag))?;
                }
            }
            Outcome::Counted(count) => write!(f, "{count}")?,
            Outcome::Refused(code) => write!(f, "refused: {code}")?,
            Outcome::Ambiguous => f.write_str("ambiguous")?,
        }
        if self.arrivals > 1 { write!(f, " (arrived {} times)", self.arrivals) } else { Ok(()) }
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.records.iter().try_for_each(|record| writeln!(f, "{record}"))
    }
}
