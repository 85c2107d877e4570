//! Tests of the differential test itself. It must accept equal stores and detect a single fault.

use std::fmt;

use pollster::block_on;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{Engine, EntityKey, OperationKind, Result, TableName, TableStore, Transaction};

use super::program::program;
use super::{run, smallest};
use crate::ModelStore;

#[test]
fn the_engine_and_the_model_agree() {
    let (engine, model) = (Engine::in_memory(), ModelStore::new());
    for number in 0..300 {
        block_on(run(&engine, &model, &program(number, 14))).unwrap();
    }
}

/// The fault of an [`Odd`] store.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// A merge replaces the stored entity.
    Merge,
    /// The value of `$top` is increased by one.
    Top,
    /// A filter is ignored.
    Filter,
    /// A read reports an existing entity as missing.
    Get,
}

#[derive(Debug)]
struct Odd(Engine, Fault);

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("odd")
    }
}

impl TableStore for Odd {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.0.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.0.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.0.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let found = self.0.get(table, key, select).await?;
        Ok(found.filter(|_| !matches!(self.1, Fault::Get)))
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let mut query = query.clone();
        match self.1 {
            Fault::Top => query.top = query.top.map(|top| top + 1),
            Fault::Filter => query.filter = None,
            Fault::Merge | Fault::Get => {}
        }
        self.0.query(table, &query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let limits = *transaction.limits();
        let (partition, operations) = transaction.into_parts();
        let mut other = Transaction::new(partition, limits)?;
        for mut operation in operations {
            operation.kind = match operation.kind {
                OperationKind::Merge(row, version) if matches!(self.1, Fault::Merge) => {
                    OperationKind::Replace(row, version)
                }
                kind => kind,
            };
            other.push(operation)?;
        }
        self.0.submit(table, other).await
    }
}

#[test]
fn a_fault_is_found_and_reduced_to_few_steps() {
    for fault in [Fault::Merge, Fault::Top, Fault::Filter, Fault::Get] {
        let (engine, odd) = (Engine::in_memory(), Odd(Engine::in_memory(), fault));
        let differs = |steps: &[_]| {
            let run = std::panic::AssertUnwindSafe(|| block_on(run(&engine, &odd, steps)));
            std::panic::catch_unwind(run).unwrap_or_else(|_| Err("a panic".to_owned())).err()
        };
        let found = (0..300).find_map(|number| {
            let steps = program(number, 14);
            differs(&steps).map(|difference| smallest(steps, difference, differs))
        });
        let (steps, difference) = found.unwrap_or_else(|| panic!("{fault:?} was not found"));
        assert!(steps.len() <= 3, "{fault:?}: {difference}, {steps:?}");
    }
}
