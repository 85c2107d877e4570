//! Determines the outcome of a write whose response was lost (CON-11). The write identifier in the stored entities tells whether it was applied.

use table_core::query::Select;
use table_core::store::{AmbiguousWrite, Committed};
use table_core::{EntityKey, Error, ErrorCode, OperationKind, Result, TableName, Transaction};
use tokio::time::Instant;

use crate::client::AzureTables;
use crate::operation_id;

impl AzureTables {
    /// Determines the outcome of a write that failed with an [ambiguous](Error::is_ambiguous) error.
    ///
    /// Returns the `ETag`s if the write was applied, or `None` if the outcome is unknown. Call it, for example, once the network is available again.
    ///
    /// The client compares the identifier of the write with the one stored in the entities. [`Options::operation_ids`](crate::Options::operation_ids) enables
    /// these identifiers. Without an identifier, the outcome is always unknown. `None` does not mean that the write was not applied, because a later write may
    /// have replaced it.
    ///
    /// ```no_run
    /// # async fn run(tables: table_azure::AzureTables, error: table_core::Error) -> table_core::Result<()> {
    /// if error.is_ambiguous() && tables.outcome_of(&error).await?.is_some() {
    ///     println!("it was written after all");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `InvalidInput` if the error does not come from an ambiguous write to this kind of store.
    /// - Any error from reading the entities.
    pub async fn outcome_of(&self, error: &Error) -> Result<Option<Committed>> {
        let (Some(sent), Some(table)) = (AmbiguousWrite::of(error), error.table()) else {
            let message =
                "the error is not from a write with a lost response; pass an error that is ambiguous";
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("CON-11"));
        };
        let (table, sent) = (TableName::new(table)?, sent.transaction().clone());
        self.run(|client| async move {
            let by = client.pipeline().deadline();
            client.evidence(&table, &sent, by).await.map_err(|error| error.with_table(table.as_str()))
        })
        .await
    }

    /// Determines the outcome of a write that may have been applied, whatever the response to its last attempt was.
    pub(crate) async fn resolve(
        &self,
        table: &TableName,
        sent: Transaction,
        last: Error,
        by: Instant,
    ) -> Result<Committed> {
        match self.evidence(table, &sent, by).await {
            Ok(Some(committed)) => return Ok(committed),
            Ok(None) => {}
            Err(error) => {
                tracing::debug!(target: "table_azure", %error, "the outcome of a write with a lost response cannot be read");
            }
        }
        Err(AmbiguousWrite::new(sent, last).into_error())
    }

    /// Returns the `ETag`s of a transaction if all the entities that it wrote still contain its identifier. Deleted entities are not checked, because a
    /// transaction is atomic (EGT-9).
    ///
    /// Otherwise, the outcome is unknown. If an entity contains a different identifier, this write may have been replaced by a later one, or may never have
    /// been applied. The outcome is also unknown if the transaction only deletes entities, or if the client did not add an identifier.
    async fn evidence(
        &self,
        table: &TableName,
        sent: &Transaction,
        by: Instant,
    ) -> Result<Option<Committed>> {
        if !sent.is_identified() {
            return Ok(None);
        }
        let mut committed = Committed::with_capacity(sent.operations().len());
        for operation in sent.operations() {
            if matches!(operation.kind, OperationKind::Delete(_)) {
                committed.push(None);
                continue;
            }
            let Some(id) =
                operation.kind.row().map(|row| operation_id::of(row.view())).transpose()?.flatten()
            else {
                return Ok(None);
            };
            let key = EntityKey::new(sent.partition_key().as_str(), operation.row_key.as_str())?;
            match self.read_entity(table, &key, &Select::All, by).await? {
                Some(found) if operation_id::of(found.row.view())? == Some(id) => {
                    committed.push(Some(found.etag));
                }
                _ => return Ok(None),
            }
        }
        Ok(committed.iter().any(Option::is_some).then_some(committed))
    }
}
