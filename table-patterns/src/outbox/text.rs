//! The JSON format of intents, version 1. Rows are encoded as base64 of their bytes (`docs/format.md`, "Row").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::row::Row;
use table_core::{Error, Result};

use crate::outbox::fault::OutboxFault;
use crate::outbox::intent::{Intent, Step, TargetWrite};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct IntentText {
    version: u32,
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_version: Option<u64>,
    steps: Vec<StepText>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "Do", rename_all_fields = "PascalCase")]
enum StepText {
    InsertOrReplace {
        #[serde(flatten)]
        at: At,
        row: String,
    },
    InsertOrMerge {
        #[serde(flatten)]
        at: At,
        row: String,
    },
    DeleteIfExists {
        #[serde(flatten)]
        at: At,
    },
    Call {
        name: String,
        #[serde(default, skip_serializing_if = "is_zero")]
        version: u32,
        payload: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct At {
    table: String,
    partition_key: String,
    row_key: String,
    guarded: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
const fn is_zero(version: &u32) -> bool {
    *version == 0
}

/// Encodes an intent as JSON.
pub(crate) fn write(intent: &Intent) -> Result<String> {
    let steps = intent.steps().iter().map(|step| match step {
        Step::Write { table, key, write, guarded } => {
            let at = At {
                table: table.as_str().to_owned(),
                partition_key: key.partition_key.as_str().to_owned(),
                row_key: key.row_key.as_str().to_owned(),
                guarded: *guarded,
            };
            match write {
                TargetWrite::InsertOrReplace(row) => {
                    StepText::InsertOrReplace { at, row: STANDARD.encode(row.as_bytes()) }
                }
                TargetWrite::InsertOrMerge(row) => {
                    StepText::InsertOrMerge { at, row: STANDARD.encode(row.as_bytes()) }
                }
                TargetWrite::DeleteIfExists => StepText::DeleteIfExists { at },
            }
        }
        Step::Call { name, version, payload } => {
            StepText::Call { name: name.clone(), version: *version, payload: payload.clone() }
        }
    });
    let source = intent.source().as_str().to_owned();
    let text = IntentText {
        version: VERSION,
        source,
        source_version: intent.given_version(),
        steps: steps.collect(),
    };
    serde_json::to_string(&text).map_err(|error| Error::of(OutboxFault::UnwritableIntent(error)))
}

/// Parses the JSON of an intent.
///
/// # Errors
/// `FormatTooNew` if the intent's version is later than this program supports; `Corrupted` if the JSON is not a valid intent, for example because it contains
/// an invalid name.
pub(crate) fn read(text: &str) -> Result<Intent> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Version {
        version: u32,
    }
    let broken = |error| Error::of(OutboxFault::Intent(error));
    let Version { version } = serde_json::from_str(text).map_err(broken)?;
    if version > VERSION {
        return Err(Error::of(OutboxFault::NewerIntent { version, known: VERSION }));
    }
    let text: IntentText = serde_json::from_str(text).map_err(broken)?;
    let mut intent = Intent::of(RowKey::new(text.source).map_err(invalid)?);
    if let Some(version) = text.source_version {
        intent = intent.version(version);
    }
    for step in text.steps {
        intent = intent.step(match step {
            StepText::InsertOrReplace { at, row } => {
                at.write(TargetWrite::InsertOrReplace(read_row(&row)?))?
            }
            StepText::InsertOrMerge { at, row } => at.write(TargetWrite::InsertOrMerge(read_row(&row)?))?,
            StepText::DeleteIfExists { at } => at.write(TargetWrite::DeleteIfExists)?,
            StepText::Call { name, version, payload } => Step::Call { name, version, payload },
        });
    }
    Ok(intent)
}

impl At {
    fn write(self, write: TargetWrite) -> Result<Step> {
        let key = EntityKey::new(self.partition_key, self.row_key).map_err(invalid)?;
        let table = TableName::new(&self.table).map_err(invalid)?;
        Ok(Step::Write { table, key, write, guarded: self.guarded })
    }
}

fn invalid(error: Error) -> Error {
    Error::of(OutboxFault::Name(error))
}

fn read_row(text: &str) -> Result<Row> {
    let bytes = STANDARD.decode(text).map_err(|error| Error::of(OutboxFault::Row(error)))?;
    let row = Row::from_bytes(bytes.into());
    row.view().check_version()?;
    Ok(row)
}

#[cfg(test)]
mod tests;
