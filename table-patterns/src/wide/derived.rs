//! Runtime of `#[derive(Wide)]`. Not an API.

use table_core::error::Result;
use table_core::row::RowWriter;
use table_core::value::ValueRef;

use crate::wide::{WideReader, WideWriter};

/// Writes a property: one call for each field.
///
/// # Errors
/// Those of [`WideWriter::set`].
pub fn put<T>(
    out: &mut WideWriter,
    name: &str,
    value: &T,
    write: fn(&T, &str, &mut RowWriter) -> Result<()>,
) -> Result<()> {
    out.put(name, |row| write(value, name, row))
}

/// The first error of all writes, which are made one after another: no branch for each field.
///
/// # Errors
/// That one.
pub fn all<const COUNT: usize>(written: [Result<()>; COUNT]) -> Result<()> {
    written.into_iter().collect()
}

/// Reads a property: one call for each field.
///
/// # Errors
/// Those of [`WideReader::get`].
pub fn take<T>(
    properties: &WideReader<'_>,
    name: &str,
    read: fn(Option<ValueRef<'_>>) -> Result<T>,
) -> Result<T> {
    properties.take(name, read)
}

/// What stands for a header after a mistake: it is never called.
#[must_use]
#[expect(clippy::panic, reason = "a declaration with a mistake does not compile")]
pub fn stub<T>() -> T {
    panic!("the declaration has a mistake")
}

/// The names of a part, from the names of its properties and slots.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "runs while it compiles: a wrong place does not compile")]
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

/// Those slots that are in one part.
#[must_use]
pub const fn cut<'a>(names: &'a [&'static str], from: usize, count: usize) -> &'a [&'static str] {
    names.split_at(from).1.split_at(count).0
}

/// That an array has as many values as there are slots.
pub const fn require_slots(values: Option<usize>, slots: usize, message: &str) {
    if let Some(values) = values
        && values != slots
    {
        panic!("{}", message);
    }
}
