//! Messages in the work queue, in version 1 of their JSON format. A message contains the location of intents.

mod fault;

use serde::{Deserialize, Serialize};
use table_core::key::{PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::{Error, Result};

use crate::outbox::place::{OutboxKey, Place};

use fault::WorkFault;

/// The work described by a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Work {
    /// All pending intents in a partition.
    Partition { table: TableName, partition_key: PartitionKey, progress: Progress },
    /// The intent in one outbox row.
    Row(Place),
}

/// The progress of a message whose partition has more rows than one delivery can process. It is recorded in the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The key of the row after which the next delivery starts. `None` if it starts at the first row.
    pub(crate) after: Option<RowKey>,
    /// The earliest time, in ticks, at which a row that was skipped becomes due again.
    pub(crate) later: Option<u64>,
    /// The number of deliveries that ended early, without an error, because they had processed many rows.
    pub(crate) continued: u32,
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
    after: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    later: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continued: Option<u32>,
}

impl Work {
    /// Creates the work for a partition, starting at its first row.
    pub(crate) fn partition(table: &TableName, partition_key: &PartitionKey) -> Self {
        let (table, partition_key) = (table.clone(), partition_key.clone());
        Self::Partition { table, partition_key, progress: Progress::default() }
    }

    pub(crate) const fn place(&self) -> (&TableName, &PartitionKey) {
        match self {
            Self::Partition { table, partition_key, .. } | Self::Row(Place { table, partition_key, .. }) => {
                (table, partition_key)
            }
        }
    }

    /// Returns the progress of earlier deliveries.
    pub(crate) const fn progress(&self) -> &Progress {
        const NONE: &Progress = &Progress { after: None, later: None, continued: 0 };
        match self {
            Self::Partition { progress, .. } => progress,
            Self::Row(_) => NONE,
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

    /// Returns the text of the message.
    pub(crate) fn write(&self) -> Result<String> {
        let (table, partition_key) = self.place();
        let Progress { after, later, continued } = self.progress();
        let text = WorkText {
            version: 1,
            table: table.as_str().to_owned(),
            partition_key: partition_key.as_str().to_owned(),
            row_key: match self {
                Self::Row(place) => Some(place.row_key.as_str().to_owned()),
                Self::Partition { .. } => None,
            },
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
        if let Some(row_key) = text.row_key {
            let row_key = OutboxKey::of(RowKey::new(row_key).map_err(unreadable)?)
                .ok_or_else(|| Error::of(WorkFault::OtherRow))?;
            return Ok(Self::Row(Place { table, partition_key, row_key }));
        }
        let after = text.after.map(RowKey::new).transpose().map_err(unreadable)?;
        // Without a row to start after, the message would stay as it is, and be delivered without end.
        let later = text.later.filter(|_| after.is_some());
        let progress = Progress { after, later, continued: text.continued.unwrap_or(0) };
        Ok(Self::Partition { table, partition_key, progress })
    }
}

/// Escapes JSON characters that queue messages must not contain, because they are sent as XML (QUE-4). Keys may contain such characters.
pub(crate) fn portable(json: &str) -> String {
    json.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff")
}

#[cfg(test)]
mod tests;
