//! The position of a migration. Its string representation can be stored.

use std::fmt;
use std::str::FromStr;

use table_core::name::TableName;
use table_core::query::Continuation;
use table_core::{Error, Result};

use crate::migrate::fault::PositionFault;

/// The position of a migration: the number of rows copied from a table, and the next row.
///
/// The string representation (`Display`, [`FromStr`]) consists of the table, the number of rows and the point where the copy resumes, separated by `:`. This
/// point is `start`, `end` or a [`Continuation`]. If the copy lacks rows, `+` and their number follow the number of rows.
///
/// ```
/// use table_patterns::migrate::MigrationPosition;
///
/// let position: MigrationPosition = "Airports:0:start".parse()?;
/// assert_eq!((position.rows(), position.is_end()), (0, false));
/// assert_eq!(position.to_string(), "Airports:0:start");
/// assert!("Airports".parse::<MigrationPosition>().is_err());
/// # Ok::<(), table_patterns::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationPosition {
    pub(super) table: TableName,
    rows: u64,
    skipped: u64,
    pub(super) place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Start,
    Next(Continuation),
    End,
}

impl MigrationPosition {
    pub(super) const fn start(table: TableName) -> Self {
        Self { table, rows: 0, skipped: 0, place: Place::Start }
    }

    pub(super) fn advance(&mut self, (rows, skipped): (usize, u64), next: Option<Continuation>) {
        self.rows = self.rows.saturating_add(u64::try_from(rows).unwrap_or(u64::MAX));
        self.skipped = self.skipped.saturating_add(skipped);
        self.place = next.map_or(Place::End, Place::Next);
    }

    /// Returns the number of copied rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of source rows that the copy lacks, because the source [cannot represent](table_core::query::Page::skipped) them.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns `true` if the copy has reached the end of the table.
    #[must_use]
    pub const fn is_end(&self) -> bool {
        matches!(self.place, Place::End)
    }
}

impl fmt::Display for MigrationPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.table, self.rows)?;
        if self.skipped > 0 {
            write!(f, "+{}", self.skipped)?;
        }
        f.write_str(":")?;
        match &self.place {
            Place::Start => f.write_str("start"),
            Place::Next(continuation) => continuation.fmt(f),
            Place::End => f.write_str("end"),
        }
    }
}

impl FromStr for MigrationPosition {
    type Err = Error;

    /// # Errors
    /// `InvalidInput` if the text is not the string representation of a position.
    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once(':').and_then(|(table, rest)| Some((table, rest.split_once(':')?)));
        let number = |text: &str| text.parse().map_err(|_| Error::of(PositionFault::Text));
        let Some((table, (counts, place))) = parts else {
            return Err(Error::of(PositionFault::Text));
        };
        let (rows, skipped) = match counts.split_once('+') {
            Some((rows, skipped)) => (number(rows)?, number(skipped)?),
            None => (number(counts)?, 0),
        };
        let place = match place {
            "start" => Place::Start,
            "end" => Place::End,
            token => Place::Next(token.parse()?),
        };
        Ok(Self { table: TableName::new(table)?, rows, skipped, place })
    }
}
