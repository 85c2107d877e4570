//! `Scoped`: a store restricted to the operations permitted by a token.

use std::any::Any;
use std::fmt;

use table_core::query::{Continuation, Page, Query, Select};
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{EntityKey, Result, TableName, TableStore, Transaction};

use super::grant::TableVerb;
use super::token::SasToken;
use super::verifier::SasVerifier;

/// A store that executes only operations permitted by a token. Created by [`SasVerifier::scoped`].
///
/// Rejected operations fail with the service's error codes (SAS-8, SAS-11, ASAS-5). Examples are `AuthenticationFailed`, `AuthorizationFailure` for another
/// table or key, and `AuthorizationPermissionMismatch`.
///
/// If any operation of a transaction is rejected, nothing is applied. A query returns only entities within the token's range and does not reveal others
/// (SAS-8). A continuation outside the range is rejected.
#[derive(Clone, Debug)]
pub struct Scoped<S> {
    store: S,
    authority: SasVerifier,
    token: SasToken,
}

impl SasVerifier {
    /// Restricts a store to the operations that a token permits. All other operations are rejected with the service's error codes. The token is verified on
    /// each call, so expiry and revocation take effect immediately.
    ///
    /// ```
    /// # pollster::block_on(async {
    /// use std::time::Duration;
    /// use chrono::Utc;
    /// use table_wire::auth::AccountKey;
    /// use table_wire::sas::{SasVerifier, Scoped, TablePermissions, TableSas};
    /// use table_core::{Engine, EntityKey, ErrorCode, TableName, TableStoreExt};
    ///
    /// let key = AccountKey::new("contoso", "a2V5")?;
    /// let engine = Engine::in_memory();
    /// engine.untyped("Employee")?.create_if_missing().await?;
    ///
    /// let sales = TableSas::table(TableName::new("Employee")?).partition("Sales")?.allow(TablePermissions::READ);
    /// let token = sales.valid_for(Utc::now(), Duration::from_secs(60 * 60)).sign(&key)?;
    /// let reader: Scoped<Engine> = SasVerifier::new(key).scoped(engine, &token);
    /// let other = reader.untyped("Employee")?.get(&EntityKey::new("Marketing", "1")?).await;
    /// let refused = other.unwrap_err();
    /// assert_eq!(refused.code(), ErrorCode::AuthorizationFailure); // another partition (SAS-8)
    /// # Ok::<(), table_core::Error>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn scoped<S: TableStore>(&self, store: S, token: &SasToken) -> Scoped<S> {
        Scoped { store, authority: self.clone(), token: token.clone() }
    }
}

impl<S: fmt::Display> fmt::Display for Scoped<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, scoped", self.store)
    }
}

impl<S: TableStore> TableStore for Scoped<S> {
    fn capabilities(&self) -> &Capabilities {
        self.store.capabilities()
    }

    fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.store.attached()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.authority.verify(&self.token)?.table(TableVerb::Create)?;
        self.store.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.authority.verify(&self.token)?.table(TableVerb::Delete)?;
        self.store.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.authority.verify(&self.token)?.table(TableVerb::List)?;
        self.store.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        let grant = self.authority.verify(&self.token)?;
        let allowed = grant.reading(table).and_then(|_| grant.key(key));
        allowed.map_err(|error| error.with_table(table.as_str()))?;
        self.store.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        let range = self.authority.verify(&self.token)?.reading(table);
        let range = range.map_err(|error| error.with_table(table.as_str()))?;
        // The caller's continuations are bound to its original query, not to the restricted one.
        let restricted = range.restrict(query);
        let from = from.map(|from| from.rebind(table, query, &restricted)).transpose()?;
        let mut page = self.store.query(table, &restricted, from.as_ref()).await?;
        page.continuation =
            page.continuation.map(|next| next.rebind(table, &restricted, query)).transpose()?;
        Ok(page)
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let grant = self.authority.verify(&self.token)?;
        let partition_key = transaction.partition_key();
        for (index, operation) in transaction.operations().iter().enumerate() {
            let key = EntityKey { partition_key: partition_key.clone(), row_key: operation.row_key.clone() };
            let allowed = grant.write(table, &key, &operation.kind);
            allowed.map_err(|error| error.with_operation(index).with_table(table.as_str()))?;
        }
        self.store.submit(table, transaction).await
    }
}

#[cfg(test)]
mod tests;
