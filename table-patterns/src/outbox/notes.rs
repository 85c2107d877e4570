//! Notes in outbox rows. Workers and sweeps add them to record claims, failed attempts and sent messages.

use table_core::etag::IfMatch;
use table_core::operation::{Operation, OperationKind};
use table_core::row::{self, Row, RowWriter};
use table_core::{Result, ValueRef};

use crate::outbox::rows::{
    ATTEMPTS, CLAIM, ERROR, FAILURES, NOT_BEFORE, PROMPTED, Pending, VERSION, WAIT, number,
};

/// A note that a worker or a sweep adds to an outbox row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Note<'a> {
    /// A sweep has sent a message for the row at the given time.
    Prompted(u64),
    /// A worker has claimed the row until the time `until`. Contains the claim's identifier and the number of attempts that count towards the poison limit.
    Claimed { by: &'a str, attempts: u32, until: u64, wait: u64 },
    /// An attempt has failed. Contains the number of failures, and the earliest time of the next attempt. The attempts started before it no longer count: the
    /// worker has survived this one. If `error` is `None`, the row keeps its last error.
    Failed { error: Option<&'a str>, failures: u32, until: u64, wait: u64 },
}

impl Pending {
    /// Returns the operation that adds a note to the row. The operation fails if another worker has changed the row in the meantime.
    pub(crate) fn note(&self, note: Note<'_>) -> Result<Operation> {
        let mut writer = RowWriter::with_capacity(6);
        // IMPORTANT: writing the note changes the row's Timestamp, so the version is stored as a property. Without it, the intent's steps would appear newer
        // than they are.
        writer.property(VERSION, number(self.version));
        match note {
            Note::Prompted(ticks) => writer.property(PROMPTED, number(ticks)),
            Note::Claimed { by, attempts, until, wait } => {
                writer.property(CLAIM, ValueRef::String(by));
                writer.property(ATTEMPTS, number(attempts.into()));
                writer.property(NOT_BEFORE, number(until));
                writer.property(WAIT, number(wait));
            }
            Note::Failed { error, failures, until, wait } => {
                writer.property(CLAIM, ValueRef::String(""));
                if let Some(error) = error {
                    writer.property(ERROR, ValueRef::String(error));
                }
                writer.property(ATTEMPTS, number(failures.into()));
                writer.property(FAILURES, number(failures.into()));
                writer.property(NOT_BEFORE, number(until));
                writer.property(WAIT, number(wait));
            }
        }
        let (note, if_match) = (writer.finish(), IfMatch::ETag(self.etag.clone()));
        let kind = if self.has_space {
            OperationKind::Merge(note, if_match)
        } else {
            OperationKind::Replace(row::merge(self.noted()?.view(), note.view())?, if_match)
        };
        Ok(Operation { row_key: self.place.row_key.to_row_key(), kind })
    }

    /// Returns the row with its notes. Properties that other programs have added are omitted.
    fn noted(&self) -> Result<Row> {
        let mut writer = RowWriter::with_capacity(5);
        let numbers = [
            (PROMPTED, self.prompted),
            (FAILURES, Some(self.failures.into())),
            (NOT_BEFORE, Some(self.not_before)),
            (WAIT, Some(self.wait)),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                writer.property(name, number(value));
            }
        }
        if let Some(claim) = &self.claim {
            writer.property(CLAIM, ValueRef::String(claim));
        }
        row::merge(self.row(self.attempts).view(), writer.finish().view())
    }
}

/// Returns an intent's row as it was recorded, without the notes that workers and sweeps have added.
pub(crate) fn without_notes(row: &Row) -> Result<Row> {
    let mut writer = RowWriter::with_capacity(row.view().len());
    for property in row.view().properties() {
        let property = property?;
        if ![PROMPTED, ATTEMPTS, FAILURES, NOT_BEFORE, WAIT, CLAIM, ERROR].contains(&property.name) {
            writer.property(property.name, property.value);
        }
    }
    Ok(writer.finish())
}
