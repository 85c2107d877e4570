//! Runtime support for `#[derive(Wide)]`. Not public API.

use table_core::row::RowWriter;
use table_core::{Result, ValueRef};

use crate::wide::{WideReader, WideWriter};

/// Writes the property of one field.
///
/// # Errors
/// Any error from [`WideWriter::set`].
pub fn put<T>(
    out: &mut WideWriter,
    name: &str,
    value: &T,
    write: fn(&T, &str, &mut RowWriter) -> Result<()>,
) -> Result<()> {
    out.put(name, |row| write(value, name, row))
}

/// Combines the results of several writes. Callers collect the results in an array to avoid one branch per field.
///
/// # Errors
/// The first error among the results.
pub fn all<const COUNT: usize>(written: [Result<()>; COUNT]) -> Result<()> {
    written.into_iter().collect()
}

/// Reads the property of one field.
///
/// # Errors
/// Any error from [`WideReader::get`].
pub fn take<T>(
    properties: &WideReader<'_>,
    name: &str,
    read: fn(Option<ValueRef<'_>>) -> Result<T>,
) -> Result<T> {
    properties.take(name, read)
}

/// A placeholder for the header in a declaration that does not compile. It is never called.
#[must_use]
#[expect(clippy::panic, reason = "a declaration with a mistake does not compile")]
pub fn stub<T>() -> T {
    panic!("the declaration has a mistake")
}

/// Returns the names in a part: the names of its properties and slots.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "runs at compile time: an invalid index does not compile")]
pub const fn part<const COUNT: usize>(runs: &[&[&'static str]]) -> [&'static str; COUNT] {
    let mut names = [""; COUNT];
    let (mut run, mut at) = (0, 0);
    while run < runs.len() {
        let mut place = 0;
        while place < runs[run].len() {
            names[at] = runs[run][place];
            (at, place) = (at + 1, place + 1);
        }
        run += 1;
    }
    names
}

/// Returns the slot names of a field that belong to one part.
#[must_use]
pub const fn cut<'a>(names: &'a [&'static str], from: usize, count: usize) -> &'a [&'static str] {
    names.split_at(from).1.split_at(count).0
}

/// Fails at compile time if the length of an array differs from its field's number of slots.
pub const fn require_slots(values: Option<usize>, slots: usize, message: &str) {
    if let Some(values) = values
        && values != slots
    {
        panic!("{}", message);
    }
}
