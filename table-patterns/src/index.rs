//! Secondary indexes: an entity and its index rows, written together (PAT-INTRA, PAT-INTER, PAT-IX).
//!
//! # Context
//! The service indexes only the two keys (DQ-9). Any other lookup needs an extra row: a copy under another key, or a list with the keys of all entities that
//! share a value. Declare them with `#[index(…)]` and `#[index_entity(…)]`. [`Entities`](crate::Entities) maintains them in every insert, replace, merge,
//! patch, upsert, delete, [update](crate::Entities::update), [transaction](crate::Entities::transaction) and [bulk load](crate::Entities::bulk).
//!
//! # Key layout
//! | where | PartitionKey | RowKey | properties |
//! |---|---|---|---|
//! | copy, same partition | `Sales` | `email_jonesj@contoso.com` | `EmployeeId`, and the included properties |
//! | copy, other partition | `email_Sales` | `jonesj@contoso.com` | as in the same partition |
//! | copy, other table | as declared | as declared | as in the same partition |
//! | list, same partition | `Sales` | `lastname_Jones` | `EmployeeIDs`: `["000152","000223"]` |
//! | list, other partition | `lastname_Jones` | `all` | `EmployeeDetails`: `[["000152","Sales"]]`, the part of the `RowKey` first |
//! | list of whole keys, same partition | `Sales` | `lastname_Jones` | `EmployeeKeys`: `["empid_000152","empid_000223"]` |
//! | list of whole keys, other partition | `lastname_Jones` | `all` | `EmployeeKeys`: `[["Sales","empid_000152"]]` |
//! | guard of a remote copy or list | the partition of the copy or list | `U+FFFC guard_` and the `RowKey` of the copy or list | the newest settled change to each entity: see [`guard`](crate::outbox::guard) |
//! | list in a blob | as for other lists | as for other lists | `EmployeeDetailsBlob`: name, length and checksum of the blob |
//!
//! A list contains whole keys in two cases: if the entity's `PartitionKey` or `RowKey` has several parts that the list's key lacks, or if one of these parts is
//! not stored as a string. The order of the struct's fields therefore never affects a stored list.
//!
//! A list that outgrows 64 KiB continues in `EmployeeIDs1`, `EmployeeIDs2`, … (PAT-IX-4). An empty list has no row.
//!
//! A list blob contains a version line, a line with the list's key, and the sorted pairs, one per line: `["Sales","000152"]`. The blob's name encodes the
//! list's key, is unique, and is valid in every blob store: `indexes/lists/lastnames/=4Aones/all/…`. Each change writes a new blob, and blobs never change. Any
//! object store therefore works, even without conditional writes.
//!
//! The published pattern uses the keys `Sales` / `Jones`. Here, a literal precedes the value. Otherwise, the `Jones` of a list could not be distinguished from
//! the `000152` of an entity in the same partition (T066). A value that may contain any character is `escaped` (PAT-IX-7).
//!
//! # Guarantee
//! - In the same partition, an index changes in the entity group transaction of its entity. Neither changes without the other (PAT-INTRA-4), even if a process
//!   crashes. Each write is conditional on the versions of the entities that were read. If a concurrent writer has changed a row, the write is retried with
//!   backoff, up to a retry limit ([`Retry`](table_core::retry::Retry)). No member of a list is lost (PAT-IX-1, PAT-IX-2).
//! - Each value of a `unique` index in the partition belongs to at most one entity. Writing a second entity with that value fails with a
//!   [`UniqueViolation`](crate::ErrorCode::UniqueViolation), which contains the key of the first entity (PAT-INTRA-5).
//! - A remote index is eventually consistent (PAT-INTER-3). A [`StepRecorder`](crate::entities::StepRecorder) records the change in the transaction. For each
//!   record, [`settle`](crate::Entities::settle) then reads the current entity and corrects its index entry. It may run late, twice, or out of order. A guard
//!   row in the partition of the index entry contains the newest change settled there. Each write of the entry is conditional on the guard. A late write of a
//!   suspended worker, or of one that read stale data, is therefore refused (`docs/convergence.md`).
//! - Results of a remote index have the type [`Eventual`], which does not dereference and can be [verified](Eventual::verify) (PAT-INTER-5).
//! - If two entities have the same unique value in a remote index, settling the second one detects this. The change is retried with increasing backoff until
//!   one of the entities releases the value. A [check](crate::Entities::check) reports both entities.
//! - A list in a blob ([`ListBlobs`], PAT-IX option 1) has the consistency of the index entity that refers to the blob. It is consistent within the partition,
//!   and eventually consistent in other partitions. The new blob is complete before the entity refers to it, and the write of the entity is conditional on its
//!   `ETag`. Blobs that a change or a crash leaves unreferenced are [collected](crate::Entities::collect_orphaned_lists) after a grace period. If a blob is
//!   collected before a reader has read it, the reader rereads the index entity.
//! - An index is used only when it is complete (see [`IndexState`]). A new index of an existing table is *building* until its
//!   [backfill](crate::Entities::backfill) completes. Until the backfill begins, programs of an older release may write without the index.
//!   [`check`](crate::Entities::check) finds inconsistencies that other tools have caused.
//! - Backfills and repairs combine the missing index rows of several entities in a partition into one transaction, conditional on the versions that were read.
//!   If a concurrent writer has changed one of these entities, the transaction is refused, and its entities are processed one by one.
//! - All writers must open the table (`create_if_missing`). A writer that neither opens the table nor declares the index leaves the index stale, and only a
//!   check detects this.
//!
//! # Cost
//! | verb | requests | operations in the transaction |
//! |---|---|---|
//! | insert | 1; a get for each list in the partition | 1, 1 per copy, 1 per list, 1 for the record of remote changes |
//! | replace, merge, patch, upsert, delete | 2, and a get for each list that changes | 1, and 1 or 2 for each copy or list that changes |
//! | update of an entity read before | 1, or 2 if a property is removed, and a get for each list that changes | as for replace |
//! | get through an index | 1 | |
//! | lookup through a list | 1, and 1 for each member (PAT-IX-3), optionally [by pages](crate::Entities::get_page_by_index); 1 more for a list in a blob | |
//! | change to a list in a blob | in addition, 1 get and 1 put of the blob | as for other lists |
//! | settling one change in one index | 1 get, 2 gets for each key, and 1 transaction for the keys of each partition | for each key 1 for the guard, 1 for the entry if it changes |
//! | backfill, check | a get for each entity and index, and for each row of the index, 16 at a time | |
//! | backfill and repair of an index in the same partition | 1 transaction for as many entities as fit in 100 operations and 4 MiB, 16 transactions at a time | 1 per entity, 1 per copy, 1 per list |
//! | backfill and repair of a remote index | settles each entity whose row is missing, 16 at a time | |
//!
//! A copy is as large as its included properties; `include(…)` makes it smaller (PAT-INTRA-6). Each change to a list writes the entire list. With 16 writers,
//! an insert with two copies in the same transaction costs about 1.8 times as much as a plain insert. A backfill of 20,000 rows with copies in the same
//! partition processed 42,000 rows per second when every transaction was synced, and 67,000 when none was.
//!
//! # Bounds
//! - Copies, lists and records count towards the 100 operations and 4 MiB of a transaction (PAT-INTRA-8).
//! - A list holds at most `at_most` keys, and no more than fit into one entity of 1 MiB. A longer list results in
//!   [`IndexListFull`](crate::ErrorCode::IndexListFull) or, with [`ListBlobs`], moves to a blob (PAT-IX-4). Lists are never truncated. How often a list can
//!   change is limited by the write throughput of one entity (PAT-IX-6). A blob is held in memory while it is read or written. Each change leaves the previous
//!   blob behind until it is collected.
//! - Backfills and repairs also write the indexed entities. This changes the `ETag`s of the entities, so writes conditional on older `ETag`s fail.
//! - The `RowKey` of a remote index entry has at most 505 UTF-16 code units. The guard of an entry remains after the entry has been deleted.
//!   [`collect_all_guards`](crate::outbox::guard::collect_all_guards) deletes guards that have not changed for days.
//! - The keys of remote entries belong to one entity type of one table. If another type declares the same keys, it is refused when it opens its table. These
//!   keys are reserved in [`LAYOUTS`](table_core::table::LAYOUTS) until the index's table is deleted. The keys of index rows in the entities' partitions are
//!   not reserved. If the types belong to one [set](table_core::set), the compiler checks that these keys differ. If types share a table without a set, ensure
//!   this yourself.
//! - An index never replaces a row that is not one of its entries, such as an entity of another type. The write is refused (`EntityMismatch`, PAT-HET-2). Such
//!   rows are recognised by their properties. If they occupy keys of the index, a repair deletes them, unless they are entities of the indexed type.
//! - If a value would make a declared index key begin with U+FFFC, it is refused (`OutOfRangeInput`, PAT-EC-8).
//! - If the layout of an index changes, index rows whose keys the new layout cannot produce are neither found nor deleted.
//!
//! # When not to
//! - If the value is already in the key, use a range or a prefix. This needs no index.
//! - If thousands of entities share a value, or many writers change them concurrently, declare copies instead of a list, with keys that end with the entity's
//!   key. A blob has room for a long list, but each change still writes the entire list.
//! - Avoid copies in a partition that is already hot, because they multiply its load. Put them into another partition and accept the delay.

mod backfill;
mod changes;
mod check;
mod contributor;
mod copy;
mod copy_owner;
mod eventual;
pub(crate) mod fault;
mod finding;
#[cfg(test)]
mod fixture;
mod list;
mod lookup;
mod mark;
#[cfg(feature = "blobs")]
mod orphans;
mod owners;
mod pace;
mod pass;
mod read;
mod rebuild;
pub(crate) mod relay;
mod remote;
mod remote_removal;
mod reserved;
mod settle;
mod state;
mod sweep;
#[cfg(test)]
mod tests;
mod whole;
mod within;

pub use backfill::{Backfill, BackfillProgress};
pub use check::{IndexCheck, IndexReport};
pub(crate) use contributor::Indexes;
pub use eventual::{Eventual, EventualQuery};
pub use fault::UniqueViolation;
pub use finding::{Finding, FindingKind};
#[cfg(feature = "blobs")]
pub use list::ListBlobs;
#[cfg(not(feature = "blobs"))]
pub(crate) use list::ListBlobs;
#[cfg(feature = "blobs")]
pub use lookup::ListPage;
pub(crate) use remote::PATH;
pub use remote::{Derived, EntryFingerprint, RemoteChange};
pub(crate) use remote_removal::{EntriesLeft, remote as remote_indexes};
pub use state::IndexState;
pub(crate) use state::{States, note};
pub use sweep::Phase;
