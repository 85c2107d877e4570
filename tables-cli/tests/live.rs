//! Tests `check` and `repair` on a store in use, where a program may write between any two requests. They must find and repair the same defects as in an idle
//! store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt;
use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    DynTableStore, Engine, EntityKey, IfMatch, Result, TableEntity, TableName, TableStore, Transaction,
};
use table_inspect::kind::Kinds;
use table_patterns::{Entities, Entity, EntityStore as _, TableStoreExt};
use tables_cli::check::{CheckedIndex, Fault, Repaired, check_copies, repair_copy};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", crate = table_patterns)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
    age: i32,
}

/// The number of entities changed by the program. All other entities keep their values and their defects.
const CHANGING: u32 = 60;
const PAGE: usize = 40;

fn employee(id: u32, random: &mut StdRng) -> Employee {
    let email = format!("n{id}_{}@contoso.com", random.random_range(0..3));
    Employee { department: "Sales".to_owned(), id, email, age: random.random_range(0..100) }
}

/// A store in which a program changes some entities before each request.
#[derive(Debug)]
struct Live {
    engine: Engine,
    employees: Entities<Employee, Engine>,
    random: Mutex<StdRng>,
}

impl Live {
    async fn change(&self) {
        let changed: Vec<_> = {
            let mut random = self.random.lock().unwrap();
            let any = |_| {
                let id = random.random_range(0..CHANGING);
                employee(id, &mut random)
            };
            (0..20).map(any).collect()
        };
        for employee in changed {
            self.employees.insert_or_replace(&employee).await.unwrap();
        }
    }
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store")
    }
}

impl TableStore for Live {
    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.engine.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.engine.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.engine.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.change().await;
        self.engine.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.change().await;
        let query = Query { top: Some(query.top.map_or(PAGE, |top| top.min(PAGE))), ..query.clone() };
        self.engine.query(table, &query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.change().await;
        self.engine.submit(table, transaction).await
    }
}

/// Returns the `RowKey` and the kind of each defect in an index.
async fn faults(checked: CheckedIndex<'_>) -> Vec<(String, Fault)> {
    let mut faults = Vec::new();
    let found = check_copies(checked, async |finding| {
        faults.push((finding.key.row_key.as_str().to_owned(), finding.fault));
        Ok(())
    });
    found.await.unwrap();
    faults
}

#[tokio::test]
async fn a_program_that_writes_during_a_check_or_a_repair_causes_no_fault() {
    let (name, mut random) = (TableName::new("Company").unwrap(), StdRng::seed_from_u64(1));
    for seed in 0..3 {
        let engine = Engine::in_memory();
        let employees = engine.entities::<Employee>().create_if_missing().await.unwrap();
        let mut emails = Vec::new();
        for id in 0..CHANGING + 5 {
            let employee = employee(id, &mut random);
            employees.insert(&employee).await.unwrap();
            emails.push(employee.email);
        }
        let quiet = DynTableStore::new(engine.clone());
        let schemas = table_inspect::keys::schemas_of_rows(&quiet, &name).await.unwrap();
        let (kinds, schema) = (Kinds::new("Company", &schemas), &schemas[0].1);
        let (table, index, kinds) = (&name, &schema.indexes[0], &kinds);
        let random = Mutex::new(StdRng::seed_from_u64(seed));
        let live = DynTableStore::new(Arc::new(Live { engine: engine.clone(), employees, random }));
        let [of_live, of_quiet] =
            [&live, &quiet].map(|store| CheckedIndex { store, table, schema, index, kinds });
        assert_eq!(faults(of_live).await, []);

        // Deletes the index row of an entity not changed by the program, and adds incorrect index rows for entities changed by it.
        let rows = engine.untyped("Company").unwrap();
        let index_row = |email: &str| EntityKey::new("Sales", format!("email_{email}")).unwrap();
        let missing = &emails[CHANGING as usize];
        rows.delete(&index_row(missing), IfMatch::Any).await.unwrap();
        assert_eq!(faults(of_live).await, [(format!("email_{missing}"), Fault::Missing)]);
        for id in 0..CHANGING {
            let row = TableEntity::from(index_row(&format!("n{id}_9@contoso.com"))).with("Id", i64::from(id));
            rows.insert(&row).await.unwrap();
        }
        let mut left = Vec::new();
        let repaired = check_copies(of_live, async |finding| {
            if repair_copy(of_live, &finding).await? == Repaired::Left {
                left.push(finding);
            }
            Ok(())
        });
        repaired.await.unwrap();
        assert_eq!(left, []);
        assert_eq!(faults(of_quiet).await, []);

        // A program writes to an entity after the check of its index row and before the repair.
        rows.delete(&index_row(missing), IfMatch::Any).await.unwrap();
        let mut findings = Vec::new();
        let found = check_copies(of_quiet, async |finding| {
            findings.push(finding);
            Ok(())
        });
        found.await.unwrap();
        let written = findings[0].entity.as_ref().unwrap().clone().with("Age", 200);
        rows.insert_or_merge(&written).await.unwrap();
        for outcome in [Repaired::Done, Repaired::Unneeded] {
            assert_eq!(repair_copy(of_quiet, &findings[0]).await.unwrap(), outcome);
        }
        assert_eq!(faults(of_quiet).await, []);
    }
}
