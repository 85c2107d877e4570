//! Outbox: changes for other partitions, recorded as intents in the same transaction as the original change (PAT-EC-8).
//!
//! # Context
//! After a change, a copy in another partition, a counter in another table or a document in a search index must often be updated. If the program stops after
//! the change but before it has sent a message about this work, the work is lost. To prevent this, the intent is stored as a row in the partition of the
//! change.
//!
//! # Key layout
//! | table | PartitionKey | RowKey | properties |
//! |---|---|---|---|
//! | the changed table | the changed partition | `U+FFFC outbox_` and 32 hexadecimal digits: 16 from the FNV-1a hash of the source's RowKey, and 16 random digits | `Intent`, `Intent1`, …: the text of the intent as Binary · `Version`, `Prompted`, `Attempts`, `Failures`, `NotBefore`, `Wait`: Int64 · `Poisoned`: Boolean · `Claim`, `Error`: String; all properties except the intent are optional, and added on first use |
//! | the target's table | the target's partition | `U+FFFC guard_` and the target's RowKey | see [`guard`] |
//! | `TablesOutbox` | the table's name in lower case, `_` and one of 16 buckets | the partition | `Table`: String; `Quiet`, `Erased`: Boolean; `Until`: Int64, the expiry of its grants in ticks |
//!
//! `Failures` counts the attempts that ended with a permanent error. `Attempts` also counts the attempts started since the last recorded outcome. Workers
//! ignore the row until the time `NotBefore`, in [ticks](table_core::ticks). A worker sets this time when it claims the row under the identifier in `Claim`, or
//! when an attempt has failed and the next one is delayed. `Wait` is the length of the claim or delay, in ticks. If the time until `NotBefore` is much longer
//! than `Wait`, a worker whose clock was ahead has claimed the row, and the row counts as unclaimed. `Prompted` is the time when a sweep last sent a message
//! for the row.
//!
//! The text of an intent is JSON: `{"Version":1,"Source":…,"Steps":[…]}`, and also `SourceVersion` if the intent has a version. A step is
//! `{"Do":"InsertOrReplace","Table":…,"PartitionKey":…, "RowKey":…,"Guarded":true,"Row":…}`. `Do` can also be `InsertOrMerge`, or `DeleteIfExists`, which has
//! no `Row`. `Row` is the encoded row as base64.
//!
//! A step for a handler is `{"Do":"Call","Name":…,"Version":…,"Payload":…}`: a [message](Message) with its name, its version and its JSON. Steps for the
//! handlers of this crate's patterns have no version.
//!
//! `RowKey`s that begin with [`RESERVED`](table_core::key::text::RESERVED) sort after all other keys of their partition. Typed writes and point reads refuse
//! them, and typed queries skip them. Each outbox row is in the partition of its change. The rows are therefore distributed in the same way as the changes, and
//! create no hot spot.
//!
//! # Guarantee
//! A change and its intent are written atomically. Every intent is eventually performed at least once: when a worker receives its message or, if the message
//! was lost, after a [`Sweep`](crate::work::Sweep). Guarded steps may arrive late, twice or out of order without harm: see [`guard`].
//!
//! # Cost
//! An intent costs one more row in the transaction and one message, plus one registry upsert per partition and hour. For the costs of processing an intent, see
//! [`work`](crate::work).
//!
//! # Bounds
//! The JSON of an intent has at most 960 KiB. In it, a step's row is a third larger than usual, because it is encoded as base64. An intent's row is one of the
//! transaction's 100 operations and counts towards its 4 MiB.
//!
//! # When not to
//! If the target is in the same partition as the change, write it in the same transaction.
//! If the work is not triggered by a write, use [`Outbox::enqueue`], which records the intent alone.

pub(crate) mod fault;
pub mod guard;
pub(crate) mod intent;
pub(crate) mod keys;
pub(crate) mod message;
pub(crate) mod notes;
pub(crate) mod place;
pub(crate) mod record;
pub(crate) mod registry;
pub(crate) mod rows;
pub(crate) mod seal;
pub(crate) mod sealed;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod work;

pub use intent::{Intent, Step, TargetWrite};
pub use message::Message;
pub use place::{OUTBOX_PREFIX, POISON_PREFIX};
pub use record::{BacklogCounts, Outbox};
pub use registry::REGISTRY;
