//! Messages in the work queue, in version 1 of their JSON format. A message contains either the location of intents or an intent itself.

mod fault;

use serde::{Deserialize, Serialize};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::queue::check::TEXT_BYTES;
use table_core::{Error, Result};

use crate::outbox::intent::Intent;
use crate::outbox::place::{OutboxKey, Place};
use crate::outbox::text;

use fault::WorkFault;

/// The maximum size of an intent in a queue message, in bytes.
const INLINE: usize = 40 * 1024;
/// The maximum size of a message with an intent when it is sent, in bytes. The rest of a queue message (QUE-6) is reserved for the seal, the number of
/// attempts, and an error of 1,000 characters, each of which may take six bytes in JSON.
const MESSAGE: usize = TEXT_BYTES - 8 * 1024;

/// The work described by a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Work {
    /// All pending intents in a partition.
    Partition { table: TableName, partition_key: PartitionKey, progress: Progress },
    /// The intent in one outbox row.
    Row(Place),
    /// The JSON of an intent that the message itself contains. The JSON is kept unchanged, because the seal covers it. It is parsed only after an attempt has
    /// been counted, like the JSON in an outbox row.
    Inline { table: TableName, partition_key: PartitionKey, text: String, seal: Option<String>, tried: Tried },
}

/// The progress of a message whose partition has more rows than one delivery can process. It is recorded in the message. Earlier releases ignore it and start
/// at the first row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The key of the row after which the next delivery starts. `None` if it starts at the first row.
    pub(crate) after: Option<RowKey>,
    /// The earliest time, in ticks, at which a row that was skipped becomes due again.
    pub(crate) later: Option<u64>,
    /// The number of deliveries that ended early, without an error, because they had processed many rows.
    pub(crate) continued: u32,
}

/// The previous attempts to process an intent that a message contains. They are recorded in the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tried {
    /// The number of started attempts.
    pub(crate) attempts: u32,
    /// The error of the last attempt.
    pub(crate) error: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct WorkText {
    version: u32,
    table: String,
    partition_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    row_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    later: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    continued: Option<u32>,
}

impl Work {
    /// Creates the work for a partition, starting at its first row.
    pub(crate) fn partition(table: &TableName, partition_key: &PartitionKey) -> Self {
        let (table, partition_key) = (table.clone(), partition_key.clone());
        Self::Partition { table, partition_key, progress: Progress::default() }
    }

    pub(crate) fn inline(table: &TableName, partition_key: &PartitionKey, intent: &Intent) -> Result<Self> {
        intent.check()?;
        if intent.is_guarded() && intent.given_version().is_none() {
            return Err(Error::of(WorkFault::NoVersion));
        }
        let text = text::write(intent)?;
        let bytes = text.len();
        if bytes > INLINE {
            return Err(Error::of(WorkFault::TooLarge { bytes, most: INLINE }));
        }
        let (table, partition_key) = (table.clone(), partition_key.clone());
        let work = Self::Inline { table, partition_key, text, seal: None, tried: Tried::default() };
        // The message contains the intent as a JSON string, in which each quotation mark takes two bytes.
        let bytes = work.write()?.len();
        if bytes > MESSAGE {
            return Err(Error::of(WorkFault::LargeMessage { bytes, most: MESSAGE }));
        }
        Ok(work)
    }

    pub(crate) const fn place(&self) -> (&TableName, &PartitionKey) {
        match self {
            Self::Partition { table, partition_key, .. }
            | Self::Row(Place { table, partition_key, .. })
            | Self::Inline { table, partition_key, .. } => (table, partition_key),
        }
    }

    /// Returns the progress of earlier deliveries.
    pub(crate) const fn progress(&self) -> &Progress {
        const NONE: &Progress = &Progress { after: None, later: None, continued: 0 };
        match self {
            Self::Partition { progress, .. } => progress,
            Self::Row(_) | Self::Inline { .. } => NONE,
        }
    }

    /// Returns the work for the next delivery. It starts after the row `after`. If `after` is `None`, it starts at the first row. `later` is the earliest time
    /// at which a skipped row becomes due again.
    pub(crate) fn next(&self, after: Option<RowKey>, later: Option<u64>) -> Self {
        let (table, partition_key) = self.place();
        let continued = self.progress().continued.saturating_add(after.is_some().into());
        let progress = Progress { later: later.filter(|_| after.is_some()), after, continued };
        Self::Partition { table: table.clone(), partition_key: partition_key.clone(), progress }
    }

    /// Returns the number of deliveries of the message. Deliveries that ended early because they had processed many rows do not count.
    pub(crate) fn deliveries(&self, dequeue_count: u32) -> u32 {
        dequeue_count.saturating_sub(self.progress().continued)
    }

    /// Returns the text of the message. If the text would be too long, omits the error.
    pub(crate) fn write(&self) -> Result<String> {
        let text = self.text(true)?;
        // Messages sent by earlier releases may leave no space for an error.
        if text.len() <= TEXT_BYTES { Ok(text) } else { self.text(false) }
    }

    fn text(&self, has_error: bool) -> Result<String> {
        let (table, partition_key) = self.place();
        let (tried, seal) = match self {
            Self::Inline { tried, seal, .. } => (tried.clone(), seal.clone()),
            _ => (Tried::default(), None),
        };
        let Progress { after, later, continued } = self.progress();
        let text = WorkText {
            version: 1,
            table: table.as_str().to_owned(),
            partition_key: partition_key.as_str().to_owned(),
            row_key: match self {
                Self::Row(place) => Some(place.row_key.as_str().to_owned()),
                _ => None,
            },
            intent: match self {
                Self::Inline { text, .. } => Some(text.clone()),
                _ => None,
            },
            seal,
            attempts: (tried.attempts > 0).then_some(tried.attempts),
            error: tried.error.filter(|_| has_error),
            after: after.as_ref().map(|after| after.as_str().to_owned()),
            later: *later,
            continued: (*continued > 0).then_some(*continued),
        };
        serde_json::to_string(&text)
            .map(|text| portable(&text))
            .map_err(|error| Error::of(WorkFault::Unwritable(error)))
    }

    /// # Errors
    /// `FormatTooNew` if the message's version is later than this program supports; `Corrupted` if the JSON is invalid or contains an invalid name.
    pub(crate) fn read(message: &str) -> Result<Self> {
        let text: WorkText =
            serde_json::from_str(message).map_err(|error| Error::of(WorkFault::Unreadable(error)))?;
        if text.version > 1 {
            return Err(Error::of(WorkFault::TooNew(text.version)));
        }
        let unreadable = |error: Error| Error::of(WorkFault::Place(error));
        let table = TableName::new(&text.table).map_err(unreadable)?;
        let partition_key = PartitionKey::new(text.partition_key).map_err(unreadable)?;
        Ok(match (text.row_key, text.intent) {
            (Some(row_key), _) => {
                let row_key = OutboxKey::of(RowKey::new(row_key).map_err(unreadable)?)
                    .ok_or_else(|| Error::of(WorkFault::OtherRow))?;
                Self::Row(Place { table, partition_key, row_key })
            }
            (None, Some(json)) => {
                let tried = Tried { attempts: text.attempts.unwrap_or(0), error: text.error };
                Self::Inline { table, partition_key, text: json, seal: text.seal, tried }
            }
            (None, None) => {
                let after = text.after.map(RowKey::new).transpose().map_err(unreadable)?;
                let progress = Progress { after, later: text.later, continued: text.continued.unwrap_or(0) };
                Self::Partition { table, partition_key, progress }
            }
        })
    }
}

/// Escapes JSON characters that queue messages must not contain, because they are sent as XML (QUE-4). Keys may contain such characters.
pub(crate) fn portable(json: &str) -> String {
    json.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff")
}

#[cfg(test)]
mod tests;
