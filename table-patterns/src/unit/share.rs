//! The number of operations that writing an entity adds to a unit, known at compile time.

use table_core::entity::Entity;

/// The numbers of operations that writing an entity adds to a [unit](crate::unit). They are computed from the entity's declaration. Implemented for every
/// entity.
///
/// The numbers include the entity, its index rows in the partition, and the row that records changes in other partitions. They exclude operations that depend
/// on the data: the rows of [participants](crate::participant), and the references and holders of [copies](crate::copies).
/// [`UnitOfWork::contributions`](crate::unit::UnitOfWork::contributions) includes all of them.
///
/// A feed adds two operations per unit, or three if the unit changes more than 80 entities with a feed. Payloads of more than 256 KiB in total also add
/// operations.
///
/// With these numbers, a constant assertion can reject a program whose largest change exceeds the transaction limit:
///
/// ```
/// use table_patterns::Entity;
/// use table_patterns::unit::UnitShare;
///
/// #[derive(Entity)]
/// #[entity(table = "Ledger", feed)]
/// #[partition_key(tenant)]
/// #[row_key("entry_", number)]
/// #[index(ByReference, row_key("reference_", escaped(reference), "!", number))]
/// struct Entry { tenant: String, #[digits(8)] number: u32, reference: String }
///
/// #[derive(Entity)]
/// #[entity(table = "Ledger")]
/// #[partition_key(tenant)]
/// #[row_key("posting_", account, "_", entry, "_", line)]
/// struct Posting { tenant: String, #[digits(6)] account: u32, #[digits(8)] entry: u32, #[digits(2)] line: u32, cents: i64 }
///
/// const FEED: usize = 2;
/// const _: () = assert!(Entry::INSERT + 50 * Posting::INSERT + FEED <= 100);
/// assert_eq!((Entry::INSERT, Entry::UPDATE, Posting::INSERT), (2, 3, 1));
/// ```
pub trait UnitShare: Entity {
    /// The maximum number of operations for an insert or a delete.
    const INSERT: usize = share::<Self>(1);
    /// The maximum number of operations for an update, which may move each index row.
    const UPDATE: usize = share::<Self>(2);
}

impl<E: Entity> UnitShare for E {}

/// Returns the number of operations in a write that changes `rows` rows in each index.
const fn share<E: Entity>(rows: usize) -> usize {
    let (mut operations, mut has_remote, mut rest) = (1, false, E::SCHEMA.indexes);
    while let [index, after @ ..] = rest {
        if index.is_same_partition() {
            operations += rows;
        } else {
            has_remote = true;
        }
        rest = after;
    }
    if has_remote { operations + 1 } else { operations }
}
