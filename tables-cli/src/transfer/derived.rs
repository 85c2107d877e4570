//! Derived rows (indexes, copies and feeds) in transfers. A table stays consistent if it is transferred together with all its derived rows. Other transfers are
//! rejected.

use table_core::schema::StoredSchema;
use table_core::table::OUTBOXES;
use table_core::{DynTableStore, EntityKey, TableName};
use table_inspect::derived;

use crate::failure::{Failure, Result};
use crate::transfer::schema::SchemaRows;

/// The partition of the outbox registry that stores the keys for sealing intents. Each store has different keys, with different `RowKey`s.
const SEAL_KEYS: &str = "keys";

/// The end of the message for a rejected transfer.
const HELP: &str = "or pass `--bypass-derived` and rebuild them afterwards";

/// Returns an error if a table's rows are derived from other tables, as stated by `purpose`. Such a table must not be transferred on its own.
///
/// # Errors
/// `Refused`, with the reason, if the rows are derived.
pub fn refuse_alone(purpose: Option<String>) -> Result<()> {
    let refused = |purpose| Failure::Refused(format!("{purpose}; transfer all tables of the store, {HELP}"));
    purpose.map_or(Ok(()), |purpose| Err(refused(purpose)))
}

/// Checks that a table can receive all rows of another table, whose stored schemas are `source`.
///
/// A transfer of an entire store includes the schemas and all derived rows. A transfer of a single table includes only the derived rows in that table. Returns
/// `true` if the table has derived rows. In that case, the target must not keep rows that are missing from the source.
///
/// # Errors
/// `Refused` if the derived rows would be incorrect in the target. Any error from the store.
pub async fn admit(
    source: &SchemaRows,
    (target, table): (&DynTableStore, &TableName),
    is_whole_store: bool,
) -> Result<bool> {
    if derived::is_registry(table) && is_whole_store {
        return Ok(false);
    }
    let stored = SchemaRows::read(target, table).await?;
    let (schemas, own) = (source.schemas(), stored.schemas());
    let has_derived = schemas.iter().chain(&own).any(|schema| !derived::declared(schema).is_empty());
    if is_whole_store {
        return Ok(has_derived);
    }
    refuse_alone(derived::purpose(target, table).await?)?;
    for schema in schemas.iter().chain(&own) {
        let remote = derived::remote(schema).join(", ");
        if !remote.is_empty() {
            return Err(Failure::Refused(format!(
                "{} of table {table} declares {remote}, which are stored in other tables or partitions too; transfer all tables of the store, {HELP}",
                schema.entity
            )));
        }
    }
    for schema in &own {
        let is_of = |other: &StoredSchema| other.entity == schema.entity && other.indexes == schema.indexes;
        let declared = derived::declared(schema).join(", ");
        if !declared.is_empty() && !schemas.iter().any(is_of) {
            return Err(Failure::Refused(format!(
                "{} of table {table} declares {declared}; plain rows would leave these wrong, because the source does not have their rows. Write \
                 through a program with the declaration, {HELP}",
                schema.entity
            )));
        }
    }
    if let Some((entity, part)) = source.unfinished(&stored) {
        return Err(Failure::Refused(format!(
            "{part} of {entity} is unfinished in the source and complete in table {table} of the target; finish its backfill first, {HELP}"
        )));
    }
    Ok(has_derived)
}

/// The tables that exist only in the target. Their registrations are kept when the target's registration tables are made equal to the source's.
#[derive(Clone, Debug, Default)]
pub struct OtherTables(Vec<TableName>);

impl OtherTables {
    /// Returns the tables in `target` but not in `source`.
    #[must_use]
    pub fn new(source: &[TableName], target: Vec<TableName>) -> Self {
        let is_other = |name: &TableName| !source.iter().any(|found| found.folded() == name.folded());
        Self(target.into_iter().filter(is_other).collect())
    }

    /// Returns `true` if a row must be kept: it registers a schema, an outbox or a feed of a listed table, or it contains a key for sealing intents and the
    /// list is not empty.
    #[must_use]
    pub fn keep(&self, table: &TableName, key: &EntityKey) -> bool {
        let partition = key.partition_key.as_str();
        if partition == SEAL_KEYS && OUTBOXES.eq_ignore_ascii_case(table.as_str()) {
            return !self.0.is_empty();
        }
        let is_of = |name: &TableName| {
            let rest = partition.strip_prefix(name.folded());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        derived::is_registry(table) && self.0.iter().any(is_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_core::table::{FEEDS, LAYOUTS};

    #[test]
    fn registrations_of_tables_that_only_the_target_has_are_kept() {
        let [company, orders] = ["Company", "Orders"].map(|name| TableName::new(name).unwrap());
        let others = OtherTables::new(std::slice::from_ref(&company), vec![company.clone(), orders.clone()]);
        let keeps =
            |table: &TableName, partition: &str| others.keep(table, &EntityKey::new(partition, "r").unwrap());
        for registry in [LAYOUTS, OUTBOXES, FEEDS].map(|name| TableName::new(name).unwrap()) {
            assert!(keeps(&registry, "orders") && keeps(&registry, "orders_07"), "{registry}");
            assert!(!keeps(&registry, "company") && !keeps(&registry, "ordersold_07"), "{registry}");
        }
        assert!(!keeps(&orders, "orders"), "rows of a table are not registrations");
    }
}
