//! Stores the result of the latest read of the stored schema. Also tracks the wait until older programs have read that schema.

use std::sync::Arc;
use std::time::Instant;

use crate::store::WriteLease;

/// The version of a stored schema. It changes whenever another schema is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SchemaVersion {
    /// The number of schemas stored so far. It restarts at 1 if the table is deleted.
    pub(super) generation: u64,
    /// The time when the schema replaced its predecessor.
    pub(super) since: Option<u64>,
}

/// The result of the latest read of the stored schema.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The sequence number of the read.
    pub(super) read: u64,
    /// The lease within which writes may start, or `None` if the next write must read the stored schema again.
    lease: Option<WriteLease>,
    /// The value of the process's `SchemaNotes` counter before the read.
    noted: u64,
    /// The version of the handle's schema last announced to the other handles in the process.
    pub(super) announced: Option<SchemaVersion>,
    /// The wait required before the next write, or `None` if the stored schema requires none.
    settling: Option<Settling>,
    /// The properties of the stored schema missing from the handle's schema.
    pub(super) lacks: Arc<[String]>,
    /// The properties in `lacks`, and the properties declared only by earlier schemas.
    pub(super) others: Arc<[String]>,
}

/// A wait before the first write. It gives older programs time to read the stored schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settling {
    schema: SchemaVersion,
    /// The time when this process learned that the schema had been stored.
    pub(super) since: Instant,
    is_over: bool,
}

impl Known {
    /// Returns the lease if it has not ended. `noted` is the current value of the process's `SchemaNotes` counter. The lease ends when this value changes.
    pub(super) fn lease(&self, noted: u64) -> Option<WriteLease> {
        self.lease.clone().filter(|lease| self.noted == noted && lease.is_fresh())
    }

    /// Sets the lease obtained by a read. `noted` is the value of the process's `SchemaNotes` counter before that read.
    pub(super) fn set_lease(&mut self, noted: u64, lease: Option<WriteLease>) {
        (self.noted, self.lease) = (noted, lease);
    }

    pub(super) fn note_properties(&mut self, lacks: Vec<String>, removed: Vec<String>) {
        self.others = lacks.iter().cloned().chain(removed).collect();
        self.lacks = lacks.into();
    }

    /// Records that older programs may not have read the stored schema, so the next write must wait. Each schema version causes only one wait.
    pub(super) fn note_settling(&mut self, schema: SchemaVersion) {
        if self.settling.is_none_or(|settling| settling.schema != schema) {
            self.settling = Some(Settling { schema, since: Instant::now(), is_over: false });
        }
    }

    /// Returns the wait required before the next write, or `None` if none is required.
    pub(super) fn settling(&self) -> Option<Settling> {
        self.settling.filter(|settling| !settling.is_over)
    }

    /// Sets whether a wait is over. Returns `true` if this changed the state. Does nothing if the current wait belongs to another version of the schema.
    pub(super) fn set_over(&mut self, waited: Settling, is_over: bool) -> bool {
        match &mut self.settling {
            Some(settling) if settling.schema == waited.schema => {
                std::mem::replace(&mut settling.is_over, is_over) != is_over
            }
            _ => false,
        }
    }
}
