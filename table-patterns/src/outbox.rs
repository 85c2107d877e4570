//! Outbox: intended changes elsewhere, recorded in the transaction of the change (PAT-EC-8).
//!
//! # Context
//! A copy in another partition, a counter in another table, a document in a search index are to follow a change. A message put after
//! the change is lost if the program stops between the two. So the intent is a row of the partition that changes.
//!
//! # Key layout
//! | table | PartitionKey | RowKey | properties |
//! |---|---|---|---|
//! | the change's | the change's | `U+FFFC outbox_` and 32 hexadecimal digits: 16 of the FNV-1a hash of the source's RowKey, 16 of chance | `Intent`, `Intent1`, …: the text of the intent as Binary · `Version`, `Prompted`, `Attempts`, `NotBefore`: Int64 · `Poisoned`: Boolean · `Claim`, `Error`: String; all but the first only once something was noted |
//! | a target's | the target's | `U+FFFC guard_` and the target's RowKey | see [`guard`] |
//! | `TablesOutbox` | the table's name in lower case, `_` and a bucket of 16 | the partition | `Table`: String |
//!
//! `Attempts` counts the attempts that were begun. Until `NotBefore`, in [ticks](table_core::ticks), workers leave the row alone: one of them has it
//! under the identifier in `Claim`, or an attempt failed and the next one waits. `Prompted` is when a sweep last put a message for it.
//!
//! The text of an intent is JSON: `{"Version":1,"Source":…,"Steps":[…]}`, with `SourceVersion` if one was given. A step is `{"Do":"InsertOrReplace","Table":…,"PartitionKey":…,
//! "RowKey":…,"Guarded":true,"Row":…}`, likewise `InsertOrMerge`, and `DeleteIfExists` without `Row`, which is base64 of the encoded row; or
//! `{"Do":"Call","Name":…,"Version":…,"Payload":…}`: a [message](Message) with its name, its version and its JSON text; the steps of patterns have no version.
//!
//! `RowKey`s that begin with [`RESERVED`](table_core::key::text::RESERVED) are the last of their partition; typed writes refuse them, and typed
//! reads leave them out. The rows lie where the changes are, so the outbox is as spread as they are, and no hot spot.
//!
//! # Guarantee
//! The change and its intent are written both or neither. Every intent is done at least once, in the end: by a message at once, and
//! by a [`Sweep`](crate::work::Sweep) if that was lost. Steps that arrive late, twice or out of order do no harm: [`guard`].
//!
//! # Cost
//! One row more in the transaction, of the intent's text; one upsert an hour and partition for the registry; one message. Workers: see
//! [`work`](crate::work).
//!
//! # Bounds
//! The text of an intent is at most 960 KiB, a row of a step counting four thirds of its bytes. An intent is one operation of the transaction's 100
//! and counts against its 4 MiB.
//!
//! # When not to
//! Where the target is in the partition of the change: write it in the transaction. Where no write triggers the work:
//! [`Outbox::enqueue`].

pub(crate) mod fault;
pub mod guard;
pub(crate) mod intent;
pub(crate) mod keys;
pub(crate) mod message;
pub(crate) mod record;
pub(crate) mod registry;
pub(crate) mod rows;
pub(crate) mod seal;
mod sealed;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod work;

pub use intent::{Intent, Step, TargetWrite};
pub use message::Message;
pub use record::{BacklogCounts, Outbox};
pub use registry::REGISTRY;
pub use rows::{OUTBOX_PREFIX, POISON_PREFIX};
