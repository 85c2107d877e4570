//! The lines of a log. Fields are separated by `;`. If necessary, they are quoted and HTML-encoded (LOG-6).

use std::fmt::Write as _;

use chrono::{DateTime, SecondsFormat, Utc};
use table_core::{Error, Result};

use crate::log_blobs::fault::LogBlobFault;

/// The format version at the start of each line.
pub(super) const VERSION: &str = "1.0";

/// The kind of operation described by a line (LOG-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogKind {
    /// A read operation, written as `read`.
    Read,
    /// A write operation, written as `write`.
    Write,
    /// A delete operation, written as `delete`.
    Delete,
}

impl LogKind {
    /// All kinds of operations, in the order of the metadata property `LogType`.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Delete];

    /// Returns the word that represents this kind in a line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// One line of a log.
///
/// ```
/// use table_patterns::log_blobs::LogLine;
///
/// /// Formats a line for a terminal.
/// fn shown(line: &LogLine) -> String {
///     format!("{} {:?}: {}", line.at.format("%H:%M:%S"), line.kind, line.fields.join(" "))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The time when the line was appended, with tick precision (100 ns).
    pub at: DateTime<Utc>,
    /// The kind of operation described by the line.
    pub kind: LogKind,
    /// The line's unique identifier: the writer's random number and its line counter.
    pub id: String,
    /// The fields passed by the application.
    pub fields: Vec<String>,
}

impl LogLine {
    /// Writes the line to `out`, followed by LF.
    pub(super) fn write(&self, out: &mut String) {
        // Writing to a `String` cannot fail. Seven fractional digits represent a time with the precision of a tick.
        let instant = self.at.to_rfc3339_opts(SecondsFormat::Nanos, true);
        let instant = instant.strip_suffix("00Z").unwrap_or(&instant);
        let _ = write!(out, "{VERSION};{instant}Z;{};{}", self.kind.as_str(), self.id);
        for field in &self.fields {
            out.push(';');
            quote(field, out);
        }
        out.push('\n');
    }

    /// Parses a line without its trailing LF.
    pub(super) fn parse(line: &str) -> Result<Self> {
        let read = || {
            let mut fields = split(line)?.into_iter();
            fields.next().filter(|version| version == VERSION)?;
            let at = fields.next()?.parse().ok()?;
            let kind = LogKind::parse(&fields.next()?)?;
            Some(Self { at, kind, id: fields.next()?, fields: fields.collect() })
        };
        read().ok_or_else(|| Error::of(LogBlobFault::Line(line.to_owned())))
    }
}

fn quote(field: &str, out: &mut String) {
    if !field.contains([';', '"', '&', '<', '>', '\n', '\r']) {
        out.push_str(field);
        return;
    }
    out.push('"');
    for character in field.chars() {
        match character {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Splits a line into its unquoted and decoded fields. Returns `None` if a quoted field is invalid.
fn split(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let after = if let Some(quoted) = rest.strip_prefix('"') {
            let (field, after) = quoted.split_once('"')?;
            fields.push(decode(field)?);
            after
        } else {
            let (field, after) = rest.split_at(rest.find(';').unwrap_or(rest.len()));
            fields.push(field.to_owned());
            after
        };
        match after.strip_prefix(';') {
            Some(after) => rest = after,
            None => return after.is_empty().then_some(fields),
        }
    }
}

fn decode(field: &str) -> Option<String> {
    let mut text = String::with_capacity(field.len());
    let mut parts = field.split('&');
    text.push_str(parts.next()?);
    for part in parts {
        let (entity, after) = part.split_once(';')?;
        text.push(match entity {
            "quot" => '"',
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "#10" => '\n',
            "#13" => '\r',
            _ => return None,
        });
        text.push_str(after);
    }
    Some(text)
}

#[cfg(test)]
mod tests;
