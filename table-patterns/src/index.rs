//! Secondary indexes: an entity and its index rows, written together (PAT-INTRA, PAT-INTER, PAT-IX).
//!
//! # Context
//! The service has one index, on the two keys (DQ-9). Every other look-up is an entity more: a copy under another key, or a list of
//! keys under a value. `#[index(…)]` and `#[index_entity(…)]` declare them; an [`Entities`](crate::Entities) keeps them right through every
//! insert, replace, merge, patch, upsert, delete, [update](crate::Entities::update), [transaction](crate::Entities::transaction) and
//! [bulk load](crate::Entities::bulk).
//!
//! # Key layout
//! | where | PartitionKey | RowKey | properties |
//! |---|---|---|---|
//! | copy, same partition | `Sales` | `email_jonesj@contoso.com` | `EmployeeId`, and all that is kept |
//! | copy, other partition | `email_Sales` | `jonesj@contoso.com` | the same |
//! | copy, other table | as declared | as declared | the same |
//! | list, same partition | `Sales` | `lastname_Jones` | `EmployeeIDs`: `["000152","000223"]` |
//! | list elsewhere | `lastname_Jones` | `all` | `EmployeeDetails`: `[["000152","Sales"]]`, the parts of the `RowKey` first |
//! | guard of a copy or list elsewhere | the same | `U+FFFC guard_` and its `RowKey` | the newest change of each entity that was settled there: see [`guard`](crate::outbox::guard) |
//! | list in a blob | the same | the same | `EmployeeDetailsBlob`: name, length and checksum of the blob |
//!
//! A list that outgrows 64 KiB goes on in `EmployeeIDs1`, `EmployeeIDs2`, … (PAT-IX-4). A list without members is not a row. A blob
//! holds the pairs, sorted, a line each: `["Sales","000152"]` under a line with the version and one with the key of the list. Its
//! name is that key, legal everywhere and different for any two values, `indexes/lists/lastnames/=4Aones/all/…`, and new with each
//! change: a blob never changes, so that every store will do, also one that cannot write on a condition. The published layout has `Sales` / `Jones`; here a literal stands before the value, because `Jones` and an entity's `000152` in one
//! partition could not be told apart (T066), and a value that may hold anything is `escaped` (PAT-IX-7).
//!
//! # Guarantee
//! - In its partition, an index changes in the entity group transaction of its entity: never one without the other (PAT-INTRA-4),
//!   whichever process dies when. Entities read before are conditions by their `ETag`s; what others wrote meanwhile is read again, with
//!   growing waits and a bound ([`Retry`](table_core::retry::Retry)). No member of a list is lost (PAT-IX-1, PAT-IX-2).
//! - A value of a `unique` index in the partition belongs to one entity; the second gets a
//!   [`UniqueViolation`](crate::ErrorCode::UniqueViolation) that names the first (PAT-INTRA-5).
//! - Elsewhere it is consistent in the end (PAT-INTER-3): the change is recorded in the transaction by a [`StepRecorder`](crate::entities::StepRecorder), and each
//!   record ends in [`settle`](crate::Entities::settle), which asks the entity what is true now: late, twice and in any order. What is written is what the recorded change left, under a
//!   guard that knows the newest change settled there: a worker that slept, or read an old answer, is refused (`docs/convergence.md`). Reads say
//!   so in their type: [`Eventual`] does not dereference, and is [verified](Eventual::verify) (PAT-INTER-5). Two entities of one
//!   value are found when the second is settled, and its record becomes poison for a person to decide.
//! - A list in a blob ([`ListBlobs`], PAT-IX option 1) has the promise of its entity, which names the blob: in the partition it is in
//!   step, elsewhere it is behind. The new blob is whole before the entity names it on the condition of its `ETag`; what is not
//!   named, from before a change or after a crash, is [collected](crate::Entities::collect_orphaned_lists) a grace period later. A
//!   reader that was overtaken by that begins again.
//! - An index answers only when it is whole: [`IndexState`]. A new one over old rows is *building* until its
//!   [backfill](crate::Entities::backfill) is done. [`check`](crate::Entities::check) finds what another tool broke.
//! - A backfill and a repair write together what entities of a partition lack, each entity under the version that it was found at.
//!   Where a live writer was faster with one of them, that transaction is refused whole, and they are looked at one by one.
//! - All writers must know the index, by the same design: one that does not leaves it behind, and only a check will find it.
//!
//! # Cost
//! | verb | requests | operations of the transaction |
//! |---|---|---|
//! | insert | 1; a get for each list in the partition | 1, 1 a copy, 1 a list, 1 for the record of what is elsewhere |
//! | replace, merge, patch, upsert, delete | 2, and a get for each list that changes | 1, 1 or 2 a copy that changes, the same for lists |
//! | update of an entity read before | 1, and a get for each list that changes | the same |
//! | get through an index | 1 | |
//! | look-up through a list | 1 and 1 for each member (PAT-IX-3), [a page](crate::Entities::get_page_by_index) of them at a time if wanted; 1 for its blob | |
//! | change of a list in a blob | 1 get and 1 put of the blob more | the same |
//! | settling one index of one change | 1 get, 2 gets for each key, and 1 transaction for those of one partition | for each key 1 for the guard, 1 for the entry if it changes |
//! | backfill, check | a get for each entity and index, and for each row of the index, 16 at a time | |
//! | backfill and repair of an index in the partition | 1 for as many entities as fit in 100 operations and 4 MiB, 16 at a time | 1 an entity, 1 a copy, 1 a list |
//! | the same elsewhere | a settling an entity that lacks its row, 16 at a time | |
//!
//! A copy has the bytes of what it keeps; `include(…)` makes it smaller (PAT-INTRA-6). Each change of a list writes all of it.
//! Measured beside a plain insert of 16 writers: two copies in the same transaction cost about 1.8 times as much.
//! A backfill of 20,000 rows with their copies in the partition went at 42 thousand a second with each transaction synced, at 67
//! thousand with none.
//!
//! # Bounds
//! - Copies, lists and records count against the 100 operations and 4 MiB of a transaction (PAT-INTRA-8).
//! - A list holds `at_most` keys, and what one entity holds: 1 MiB. Beyond that
//!   [`IndexListFull`](crate::ErrorCode::IndexListFull), or, with [`ListBlobs`], a blob (PAT-IX-4); nothing is ever cut. Its rate of
//!   change is that of one entity (PAT-IX-6). A blob is held in memory, and each change leaves the one before until it is collected.
//! - A backfill and a repair write the entities that they index, whose `ETag`s change; conditions on older ones fail.
//! - A guard stays when its entry goes, and a `RowKey` elsewhere has at most 505 UTF-16 code units: [`collect_guards`](crate::outbox::guard::collect_guards) deletes
//!   those that nothing has touched for days.
//! - Rows of an earlier layout of an index, under keys that the present one cannot make, are not found and stay.
//!
//! # When not to
//! - Where the value is in the key already: a range or a prefix needs no index.
//! - A list where a value has thousands of entities, or many writers at once: declare copies, whose keys end in the entity's own.
//!   A blob makes room for such a list, but each change still writes all of it.
//! - Copies in the partition where it is hot already: they multiply its load; put them elsewhere and accept the delay.

mod backfill;
mod changes;
mod check;
mod contributor;
mod copy;
mod eventual;
pub(crate) mod fault;
mod finding;
#[cfg(test)]
mod fixture;
mod list;
mod lookup;
#[cfg(feature = "blobs")]
mod orphans;
mod pace;
mod read;
pub(crate) mod relay;
mod remote;
mod settle;
mod state;
mod sweep;
#[cfg(test)]
mod tests;

pub use backfill::{Backfill, BackfillProgress};
pub use changes::{Change, ChangeKind, changes};
pub use check::{IndexCheck, IndexReport};
pub(crate) use contributor::Indexes;
pub use eventual::{Eventual, EventualQuery};
pub use fault::UniqueViolation;
pub use finding::{Finding, FindingKind};
#[cfg(feature = "blobs")]
pub use list::ListBlobs;
#[cfg(not(feature = "blobs"))]
pub(crate) use list::ListBlobs;
pub use lookup::ListPage;
pub use remote::{Derived, Left, RemoteChange};
pub use state::IndexState;
pub use sweep::Phase;
