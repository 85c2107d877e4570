//! Outbox: changes for other partitions, recorded as intents in the same transaction as the original change (PAT-EC-8).
//!
//! # Context
//! A copy in another partition, a counter in another table or a document in a search index must be updated after a change. If the program stops after the
//! change but before it has sent a message about it, the message is lost. To prevent this, the intent is stored as a row in the partition of the change.
//!
//! # Key layout
//! | table | PartitionKey | RowKey | properties |
//! |---|---|---|---|
//! | the changed table | the changed partition | `U+FFFC outbox_` and 32 hexadecimal digits: 16 from the FNV-1a hash of the source's RowKey, and 16 random digits | `Intent`, `Intent1`, …: the text of the intent as Binary · `Version`, `Prompted`, `Attempts`, `NotBefore`, `Wait`: Int64 · `Poisoned`: Boolean · `Claim`, `Error`: String; all properties except the intent are optional, and added on first use |
//! | the target's table | the target's partition | `U+FFFC guard_` and the target's RowKey | see [`guard`] |
//! | `TablesOutbox` | the table's name in lower case, `_` and one of 16 buckets | the partition | `Table`: String; `Quiet` or `Erased`: Boolean |
//!
//! `Attempts` counts started attempts. Workers ignore the row until the time `NotBefore`, in [ticks](table_core::ticks). A worker sets this time when it claims
//! the row under the identifier in `Claim`, or when an attempt has failed and the next one is delayed. `Wait` is the length of the claim or delay, in ticks. If
//! the time until `NotBefore` is much longer than `Wait`, the row was claimed by a worker whose clock was ahead, and counts as unclaimed. `Prompted` is the
//! time when a sweep last sent a message for the row.
//!
//! The text of an intent is JSON: `{"Version":1,"Source":…,"Steps":[…]}`, with `SourceVersion` if one was given. A step is
//! `{"Do":"InsertOrReplace","Table":…,"PartitionKey":…, "RowKey":…,"Guarded":true,"Row":…}`. `Do` can also be `InsertOrMerge`, or `DeleteIfExists`, which has
//! no `Row`. `Row` is the encoded row as base64. A step for a handler is `{"Do":"Call","Name":…,"Version":…,"Payload":…}`: a [message](Message) with its name,
//! its version and its JSON. Steps for the handlers of this crate's patterns have no version.
//!
//! `RowKey`s that begin with [`RESERVED`](table_core::key::text::RESERVED) sort after all other keys in their partition. Typed writes and point reads refuse
//! them, and typed queries skip them. Each outbox row is in the partition of its change, so the rows are spread over partitions just as the changes are, and do
//! not create a hot spot.
//!
//! # Guarantee
//! A change and its intent are written atomically. Every intent is eventually performed at least once: as soon as a worker receives its message, or after a
//! [`Sweep`](crate::work::Sweep) if the message was lost. It is harmless if guarded steps arrive late, twice or out of order: see [`guard`].
//!
//! # Cost
//! An intent costs one extra row in the transaction and one message, plus one registry upsert per partition per hour.
//! For the costs of processing an intent, see [`work`](crate::work).
//!
//! # Bounds
//! An intent's JSON is at most 960 KiB long. Base64 encoding increases the size of a step's row by a third. An intent's row is one of the transaction's 100
//! operations and counts towards its 4 MiB.
//!
//! # When not to
//! If the target is in the same partition as the change, write it in the same transaction.
//! If the work is not triggered by a write, use [`Outbox::enqueue`].

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
