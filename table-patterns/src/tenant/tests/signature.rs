//! Tests tenants with a credential for the registered tables only, such as a table SAS, which cannot read the stored schemas.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use chrono::{TimeZone, Utc};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage, TableStore};
use table_core::transaction::Transaction;
use table_core::{Error, ErrorCode, Result};

use super::kit::{Audit, World, export, import, some_steps};
use super::schemas::{assert_complete, assert_refused, assert_widened, of, v1, v2, with_old_rows};
use crate::EntityStore;
use crate::periods::PeriodTables;
use crate::tenant::Tenant;

/// Returns `true` if a credential permits requests to a table, or to a partition of a table.
type Permits = Arc<dyn Fn(&TableName, Option<&str>) -> bool + Send + Sync>;

/// A store that refuses some requests with a code.
#[derive(Clone)]
struct Signed<S> {
    inner: S,
    permits: Permits,
    code: ErrorCode,
}

impl<S> Signed<S> {
    /// Returns a store that permits only requests to one table.
    fn to_table(inner: S, table: &'static str, code: ErrorCode) -> Self {
        Self { inner, permits: Arc::new(move |name, _| name.as_str() == table), code }
    }

    fn check(&self, table: &TableName, partition_key: Option<&str>) -> Result<()> {
        if (self.permits)(table, partition_key) {
            return Ok(());
        }
        Err(Error::new(self.code, "the credential does not permit the request"))
    }
}

impl<S> fmt::Debug for Signed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signed").field("code", &self.code).finish_non_exhaustive()
    }
}

impl<S> fmt::Display for Signed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store with a signature")
    }
}

impl<S: TableStore> TableStore for Signed<S> {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.inner.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.check(table, None)?;
        self.inner.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.check(table, None)?;
        self.inner.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.inner.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        self.check(table, Some(key.partition_key.as_str()))?;
        self.inner.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.check(table, None)?;
        self.inner.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        self.check(table, Some(transaction.partition_key().as_str()))?;
        self.inner.submit(table, transaction).await
    }
}

const REFUSALS: [ErrorCode; 2] =
    [ErrorCode::AuthorizationFailure, ErrorCode::AuthorizationPermissionMismatch];

#[test]
fn pat_intra_5_an_export_with_a_table_signature_is_complete_after_its_import() {
    for code in REFUSALS {
        let (store, _) = with_old_rows(["a", "b", "c"]);
        let docs = Signed::to_table(store, "Docs", code).entities::<v1::Doc>();
        let tenant = of(&docs, v1::Doc::partition("contoso"));
        assert_eq!(block_on(tenant.count()).unwrap().entities["Doc"], 3);
        let text = export(&tenant);
        assert_refused(&text);
        assert_widened(&text);
        let to = block_on(Engine::in_memory().entities::<v2::Doc>().create_if_missing()).unwrap();
        import(&of(&to, v2::Doc::partition("contoso")), &text).unwrap();
        assert_complete(&to);
        let to = block_on(Engine::in_memory().entities::<v1::Doc>().create_if_missing()).unwrap();
        let copied = block_on(tenant.copy_to(&of(&to, v1::Doc::partition("contoso")))).unwrap();
        assert_eq!(copied.rows, 3);
    }
}

/// Tests a program that declares indexes which are still being built. Its credential does not permit reading the indexes' states.
#[test]
fn pat_intra_5_an_export_with_a_table_signature_during_a_backfill_is_complete_after_its_import() {
    for code in REFUSALS {
        let (store, _) = with_old_rows(["a", "b", "c"]);
        block_on(store.entities::<v2::Doc>().create_if_missing()).unwrap();
        let docs = Signed::to_table(store, "Docs", code).entities::<v2::Doc>();
        let text = export(&of(&docs, v2::Doc::partition("contoso")));
        let to = block_on(Engine::in_memory().entities::<v2::Doc>().create_if_missing()).unwrap();
        import(&of(&to, v2::Doc::partition("contoso")), &text).unwrap();
        assert_complete(&to);
    }
}

/// Tests that functions that need other tables are refused and change nothing.
#[test]
fn an_erasure_and_an_import_with_a_table_signature_are_refused() {
    for code in REFUSALS {
        let (store, opened) = with_old_rows(["a", "b", "c"]);
        let docs = Signed::to_table(store, "Docs", code).entities::<v1::Doc>();
        let tenant = of(&docs, v1::Doc::partition("contoso"));
        assert_eq!(block_on(tenant.erase()).unwrap_err().code(), code);
        assert_eq!(block_on(tenant.remaining()).unwrap_err().code(), code);
        let text = export(&of(&opened, v1::Doc::partition("contoso")));
        let mut import = tenant.import().resume();
        assert_eq!(block_on(import.push(&text)).unwrap_err().code(), code);
        assert_eq!(block_on(tenant.count()).unwrap().rows(), 3);
    }
}

#[test]
fn another_error_of_a_stored_schema_stops_an_export() {
    let (store, _) = with_old_rows(["a", "b", "c"]);
    for code in [ErrorCode::ServerBusy, ErrorCode::AuthenticationFailed] {
        let docs = Signed::to_table(store.clone(), "Docs", code).entities::<v1::Doc>();
        let tenant = of(&docs, v1::Doc::partition("contoso"));
        assert_eq!(block_on(tenant.export().step()).unwrap_err().code(), code);
    }
}

/// Tests a type with one table per period if the credential does not permit reading the schema in one of the tables.
#[test]
fn an_export_contains_the_declared_schema_in_place_of_one_that_cannot_be_read() {
    let world = World::after(&some_steps());
    let at = Utc.with_ymd_and_hms(2020, 1, 1, 0, 0, 0).unwrap();
    block_on(world.audit.insert(&Audit { tenant: "contoso".into(), at, number: 9 })).unwrap();
    let header = |is_refused: bool| {
        let permits = move |table: &TableName, partition_key: Option<&str>| {
            !is_refused
                || table.as_str() != table_core::table::LAYOUTS
                || !partition_key.is_some_and(|partition_key| partition_key.ends_with("2020"))
        };
        let store = Signed {
            inner: world.store.clone(),
            permits: Arc::new(permits),
            code: ErrorCode::AuthorizationFailure,
        };
        let audit = PeriodTables::<Audit, _>::new(store);
        let tenant = Tenant::new().with_entities(&world.tickets, super::kit::Ticket::partition("contoso"));
        let tenant = tenant.unwrap().with_entities(&world.agents, super::kit::Agent::partition("contoso"));
        let tenant = tenant.unwrap().with_periods(&audit, Audit::partition("contoso")).unwrap();
        block_on(tenant.export().step()).unwrap().unwrap()
    };
    let (whole, cut) = (header(false), header(true));
    assert!(whole.contains("entity Audit") && whole.contains("entity Ticket"), "{whole}");
    // The type has no indexes, so none is pending, and its declared schema is equal to the stored ones.
    assert_eq!(cut, whole);
}
