//! The keys in a layout of a workload file. Also the class of a query in that layout.

use std::collections::BTreeMap;
use std::fmt::Write;

use chrono::{DateTime, Utc};
use table_core::query::QueryClass;
use table_core::{Error, Result, ticks};

use crate::fault::WorkloadFault;
use crate::file::described::{Form, Layout, Piece};

/// The number of digits of the largest `u64`.
const MOST_DIGITS: usize = 20;

/// The value drawn for a field in one operation.
#[derive(Clone, Debug)]
pub(super) enum Drawn {
    Number(u64),
    Text(String),
    Time(DateTime<Utc>),
}

/// Returns the key that consists of the pieces (literals and fields). Each field is replaced by its value.
pub(super) fn text(pieces: &[Piece], values: &BTreeMap<String, Drawn>) -> Result<String> {
    let mut key = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => key.push_str(literal),
            Piece::Form(form) => {
                let field = piece.field().unwrap_or_default();
                let value =
                    values.get(field).ok_or_else(|| Error::of(WorkloadFault::NoField(field.to_owned())))?;
                push(&mut key, field, form, value)?;
            }
        }
    }
    Ok(key)
}

fn push(key: &mut String, field: &str, form: &Form, value: &Drawn) -> Result<()> {
    let before = key.len();
    // Writing to a `String` never fails.
    let _ = match (form, value) {
        (Form::Field { digits, .. }, Drawn::Number(number)) => {
            let width = digits.unwrap_or_default();
            if width > MOST_DIGITS {
                let field = field.to_owned();
                return Err(Error::of(WorkloadFault::Digits { field, digits: width, most: MOST_DIGITS }));
            }
            let written = write!(key, "{number:0width$}");
            if width > 0 && key.len() - before > width {
                let (field, number) = (field.to_owned(), *number);
                return Err(Error::of(WorkloadFault::Number { field, number, digits: width }));
            }
            written
        }
        (Form::Field { digits: None, .. }, Drawn::Text(text)) => key.write_str(text),
        (Form::Hour { .. }, Drawn::Time(time)) => write!(key, "{}", time.format("%Y%m%d%H")),
        (Form::Day { .. }, Drawn::Time(time)) => write!(key, "{}", time.format("%Y%m%d")),
        (Form::Ticks { .. }, Drawn::Time(time)) => {
            write!(key, "{:019}", ticks_of(field, *time)?)
        }
        (Form::InvertedTicks { .. }, Drawn::Time(time)) => {
            write!(key, "{:019}", ticks::MAX - ticks_of(field, *time)?)
        }
        _ => {
            return Err(Error::of(WorkloadFault::Form(field.to_owned())));
        }
    };
    Ok(())
}

fn ticks_of(field: &str, time: DateTime<Utc>) -> Result<u64> {
    let ticks = ticks::from_datetime(time).filter(|ticks| *ticks <= ticks::MAX);
    ticks.ok_or_else(|| Error::of(WorkloadFault::Ticks { field: field.to_owned(), time }))
}

/// Returns the pieces of a key that come before the first field without a given value.
pub(super) fn known<'a>(pieces: &'a [Piece], given: &[String]) -> &'a [Piece] {
    let is_unknown =
        |piece: &Piece| piece.field().is_some_and(|field| given.iter().all(|name| name != field));
    let count = pieces.iter().position(is_unknown).unwrap_or(pieces.len());
    pieces.get(..count).unwrap_or_default()
}

/// Returns the class of a query in a layout (CLS-1). `given` lists the fields whose values are known.
pub(super) fn class(layout: &Layout, given: &[String]) -> QueryClass {
    // Returns the number of fields at the start of the key whose values are given, and the total number of fields.
    let leading = |pieces: &[Piece]| {
        let fields: Vec<_> = pieces.iter().filter_map(Piece::field).collect();
        let known = fields.iter().take_while(|field| given.iter().any(|name| name == *field)).count();
        (known, fields.len())
    };
    match (leading(&layout.partition_key), leading(&layout.row_key)) {
        ((known, all), (rows, of)) if known == all && rows == of => QueryClass::Point,
        ((known, all), (rows, _)) if known == all && rows > 0 => QueryClass::Range,
        ((known, all), _) if known == all => QueryClass::PartitionScan,
        ((known, _), _) if known > 0 => QueryClass::PartitionRange,
        _ => QueryClass::TableScan,
    }
}
