//! The JSON format of a workload file.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use table_core::{Error, Result};

use crate::fault::WorkloadFault;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Described {
    pub(super) name: String,
    /// The name of the table. A report names its partitions `table/PartitionKey`. A container for this table receives their load.
    pub(super) table: Option<String>,
    #[serde(default)]
    pub(super) seed: u64,
    #[serde(default = "a_minute")]
    pub(super) seconds: u32,
    /// The start time of the workload in RFC 3339 format. The default is the Unix epoch.
    pub(super) start: Option<String>,
    /// The number of entities in the table.
    #[serde(default)]
    pub(super) entities: u64,
    pub(super) fields: BTreeMap<String, Field>,
    pub(super) layouts: Vec<Layout>,
    pub(super) patterns: Vec<Pattern>,
}

const fn a_minute() -> u32 {
    60
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Field {
    Uniform(u64),
    Zipf { values: u64, exponent: f64 },
    Constant(u64),
    Sequence,
    Texts(Vec<String>),
    Time,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layout {
    pub(super) name: String,
    pub(super) partition_key: Vec<Piece>,
    pub(super) row_key: Vec<Piece>,
    #[serde(default)]
    pub(super) entities_a_partition: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Piece {
    Literal(String),
    Form(Form),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, untagged)]
pub(super) enum Form {
    Field { field: String, digits: Option<usize> },
    Hour { hour: String },
    Day { day: String },
    Ticks { ticks: String },
    InvertedTicks { inverted_ticks: String },
}

impl Piece {
    /// Returns the name of the field used by this piece, or `None` for a literal.
    pub(super) fn field(&self) -> Option<&str> {
        match self {
            Self::Literal(_) => None,
            Self::Form(form) => Some(match form {
                Form::Field { field, .. }
                | Form::Hour { hour: field }
                | Form::Day { day: field }
                | Form::Ticks { ticks: field }
                | Form::InvertedTicks { inverted_ticks: field } => field,
            }),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pattern {
    pub(super) name: String,
    pub(super) per_second: f64,
    pub(super) write: Option<Write>,
    pub(super) read: Option<Read>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    /// The size of one entity in bytes.
    pub(super) bytes: u64,
    /// The number of additional entities written in the same partition (PAT-INTRA-8).
    #[serde(default)]
    pub(super) copies: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    pub(super) given: Vec<String>,
    pub(super) rows: u64,
    /// The size of one entity in bytes.
    pub(super) bytes: u64,
}

impl Described {
    pub(super) fn check(&self) -> Result<()> {
        for layout in &self.layouts {
            let pieces = layout.partition_key.iter().chain(&layout.row_key);
            for field in pieces.filter_map(Piece::field) {
                self.check_field(field, "layout", &layout.name)?;
            }
        }
        for pattern in &self.patterns {
            if pattern.read.is_some() == pattern.write.is_some() {
                return Err(Error::of(WorkloadFault::Kind(pattern.name.clone())));
            }
            for field in pattern.read.iter().flat_map(|read| &read.given) {
                self.check_field(field, "pattern", &pattern.name)?;
            }
        }
        self.started().map(drop)
    }

    fn check_field(&self, field: &str, place: &'static str, name: &str) -> Result<()> {
        if self.fields.contains_key(field) {
            return Ok(());
        }
        let (name, field) = (name.to_owned(), field.to_owned());
        Err(Error::of(WorkloadFault::UnknownField { place, name, field }))
    }

    pub(super) fn started(&self) -> Result<DateTime<Utc>> {
        let Some(text) = &self.start else { return Ok(DateTime::UNIX_EPOCH) };
        let parsed = DateTime::parse_from_rfc3339(text)
            .map_err(|error| Error::of(WorkloadFault::Start { text: text.clone(), source: error }))?;
        Ok(parsed.to_utc())
    }
}
