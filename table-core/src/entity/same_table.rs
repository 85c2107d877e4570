//! Types that represent tables. They are used to check at compile time that a transaction writes to one table only (EGT-1).

use crate::entity::ToEntity;

/// A table named in a schema. `NUMBER` is the [`table_number`] of the table's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedTable<const NUMBER: u64> {}

/// The table of a type without a schema, which can be stored in any table.
///
/// ```
/// use table_core::entity::AnyTable;
/// use table_core::{EntityKey, Result, ToEntity, row::Row};
///
/// /// A row that is copied unchanged.
/// struct Copied(EntityKey, Row);
///
/// impl ToEntity for Copied {
///     type Table = AnyTable;
///
///     fn entity_key(&self) -> Result<EntityKey> {
///         Ok(self.0.clone())
///     }
///
///     fn entity_row(&self) -> Result<Row> {
///         Ok(self.1.clone())
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyTable {}

/// A relation between two table types. Implemented if both may represent the same table.
pub trait SameTable<T> {}

impl<const NUMBER: u64> SameTable<Self> for NamedTable<NUMBER> {}
impl<const NUMBER: u64> SameTable<AnyTable> for NamedTable<NUMBER> {}
impl<T> SameTable<T> for AnyTable {}

/// An entity that a transaction on the table of `E` can write. Either both types are stored in the same table, or one of them has no schema.
///
/// ```
/// use table_core::entity::SharesTable;
/// use table_core::table::EntityTransaction;
/// use table_core::{Result, TableStore, ToEntity};
///
/// /// Adds an entity of any type in the same table.
/// fn add<M, E, S>(transaction: &mut EntityTransaction<E, S>, entity: &M) -> Result<()>
/// where
///     M: ToEntity + SharesTable<E>,
///     E: ToEntity,
///     S: TableStore,
/// {
///     transaction.insert(entity).map(drop)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "[T216] a transaction on the table of `{E}` cannot write `{Self}`, which is stored in another table",
    label = "`{Self}` and `{E}` name different tables",
    note = "a transaction is on one table and one partition (EGT-1); write it with `store.table::<{Self}>().insert(…)`",
    note = "several types can share a table: write `#[entity(table = \"…\")]` with one name on both"
)]
pub trait SharesTable<E> {}

#[diagnostic::do_not_recommend]
impl<M: ToEntity, E: ToEntity> SharesTable<E> for M where M::Table: SameTable<E::Table> {}

/// Returns a hash of a table's name, which identifies the table in const generic arguments. As in the service, names that differ only in case are equal, so
/// they have the same hash (TBL-2).
#[must_use]
pub const fn table_number(name: &str) -> u64 {
    let (mut hash, mut rest) = (0xcbf2_9ce4_8422_2325, name.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        hash ^= byte.to_ascii_lowercase() as u64;
        hash = hash.wrapping_mul(0x0100_0000_01b3);
        rest = after;
    }
    hash
}

#[cfg(test)]
mod tests {
    use table_store::fnv::fnv1a64;

    use super::table_number;

    #[test]
    fn tbl_2_names_that_differ_in_case_have_one_number() {
        assert_eq!(table_number("Company"), table_number("COMPANY"));
        assert_eq!(table_number("Company"), fnv1a64(b"company"));
        assert_ne!(table_number("Company"), table_number("Reviews"));
    }
}
