//! The write path. Each entity write is committed in one transaction, together with the rows that the entity's patterns add.
//!
//! | file | content |
//! |---|---|
//! | `handle.rs` | [`Entities`], the handle to the entities of one table |
//! | `verbs.rs`, `update.rs`, `patch.rs`, `bulk.rs`, `repository.rs` | the verbs |
//! | `contributor.rs` | `Contributor`, the trait through which a pattern adds rows to a write |
//! | `plan.rs` | one entity's write plan, computed without I/O |
//! | `draft.rs`, `siblings.rs` | the transaction builder, which turns planned writes into a batch |
//! | `batch.rs` | one transaction's operations |
//! | `admission.rs` | checks before each attempt that no program with a newer schema forbids the writes |
//! | `commit.rs`, `retries.rs` | one attempt to commit a batch, and repeated attempts |
//! | `read.rs` | reads the stored version on which a write is based |
//! | `turns.rs`, `group.rs` | FIFO scheduling of a partition's units of work, and group commit |
//! | `seen_versions.rs` | the row versions that this process last saw, used to detect writes by other processes |
//!
//! This module does not depend on any pattern. Indexes, lists, feeds, copies, series, wide parts, sequences and participants either implement `Contributor` or
//! add plans to a [unit of work](crate::unit).

mod admission;
mod batch;
mod bulk;
mod commit;
mod contributor;
mod draft;
mod fault;
mod handle;
mod outbox;
mod patch;
mod plan;
mod read;
mod record;
mod refused;
mod repository;
mod retries;
mod seen_versions;
mod siblings;
#[cfg(test)]
mod tests;
mod turns;
mod update;
mod verbs;
mod write;

pub(crate) use admission::AdmitWrites;
pub(crate) use batch::Batch;
pub(crate) use commit::{Conflict, Outcome, Site};
pub(crate) use contributor::{
    Completed, Contribution, Contributor, EntityChange, PendingWrite, ReservedRows, WriteContext,
};
pub(crate) use draft::{Completes, Draft, EntityWrite};
pub(crate) use fault::EntityFault;
pub use handle::Entities;
pub use outbox::{NoOutbox, StepRecorder};
pub(crate) use plan::{
    Author, DerivedRow, EntityPlan, PlannedRow, PreparedRow, REFERENCES, RowPlace, RowWrite, UndoWrite, sent,
    touch,
};
pub(crate) use read::{Current, RACE, read_as};
pub(crate) use record::{ChangeRecord, RecordChanges, Recorded};
pub(crate) use retries::Retries;
pub(crate) use seen_versions::{SeenPartitions, SeenRows};
pub(crate) use siblings::{Sibling, Siblings};
pub(crate) use turns::group::{Group, GroupRead, Joined, Recorder};
pub(crate) use turns::{Turn, Turns};
