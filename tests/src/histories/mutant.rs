//! Clients with deliberate faults. The check of the recorded history must detect each fault.

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;

use table_azure::testing::{Delivery, Wire, WireAnswer, WireRequest};
use table_azure::{AzureTables, ServiceError};
use table_core::query::{Continuation, Page, Query, Select};
use table_core::row::RowView;
use table_core::store::{AmbiguousWrite, Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    EntityKey, Error, Operation, OperationKind, Result, TableName, TableStore, Transaction, ValueRef,
};
use table_wire::batch::{NewResponse, write_responses};

/// A fault in a client's handling of lost responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// Assumes that a write was applied if the stored entity has the same content.
    EqualContent,
    /// Assumes that a write was applied if the stored entity has any operation ID. The ID may belong to a different write.
    AnyIdentifier,
    /// Treats a rejection as final even if it follows a lost response.
    RefusalStands,
    /// If the response to a deletion was lost, treats a later 404 as the success of the deletion.
    GoneIsDeleted,
    /// Treats any response from the service as a definite rejection, even one with a 5xx status.
    FailureIsRefusal,
    /// Treats a batch whose response was truncated as applied.
    CutBatchIsDone,
    /// Sends ordinary reads to the secondary.
    StaleReads,
}

impl Mutant {
    /// All client faults.
    pub const ALL: [Self; 7] = [
        Self::EqualContent,
        Self::AnyIdentifier,
        Self::RefusalStands,
        Self::GoneIsDeleted,
        Self::FailureIsRefusal,
        Self::CutBatchIsDone,
        Self::StaleReads,
    ];

    /// If the fault is in the connection ([`CutBatchIsDone`](Self::CutBatchIsDone)), wraps the connection `wire`. Otherwise, returns `wire` unchanged.
    pub(super) fn wire(fault: Option<Self>, wire: Arc<dyn Wire>) -> Arc<dyn Wire> {
        if fault == Some(Self::CutBatchIsDone) { Arc::new(WholeBatches(wire)) } else { wire }
    }
}

/// The property that stores the operation ID of a write in `table-azure`.
const IDENTIFIER: &str = "OperationId";

/// A client that may have a fault.
#[derive(Clone, Debug)]
pub struct MutantStore {
    tables: AzureTables,
    fault: Option<Mutant>,
}

impl MutantStore {
    pub(super) const fn new(tables: AzureTables, fault: Option<Mutant>) -> Self {
        Self { tables, fault }
    }

    /// Resolves an ambiguous write as the faulty client would.
    async fn decide(&self, table: &TableName, error: Error) -> Result<Committed> {
        let (Some(sent), Some(last)) = (AmbiguousWrite::of(&error), error.last_response()) else {
            return Err(error);
        };
        let status = last.source().and_then(|source| source.downcast_ref()).map(ServiceError::status);
        match self.fault {
            Some(Mutant::RefusalStands) if status.is_some_and(|status| status < 500) => Err(last.clone()),
            Some(Mutant::FailureIsRefusal) if status.is_some() => Err(last.clone()),
            Some(Mutant::GoneIsDeleted)
                if last.is_not_found()
                    && matches!(
                        sent.transaction().operations(),
                        [Operation { kind: OperationKind::Delete(_), .. }]
                    ) =>
            {
                Ok(vec![None])
            }
            Some(Mutant::EqualContent | Mutant::AnyIdentifier) => {
                self.evidence(table, sent.transaction()).await?.ok_or(error)
            }
            _ => Err(error),
        }
    }

    /// Returns the `ETag`s of the stored entities, if the faulty client would mistake them for its own. Otherwise, returns `None`.
    async fn evidence(&self, table: &TableName, sent: &Transaction) -> Result<Option<Committed>> {
        let mut committed = Committed::new();
        for operation in sent.operations() {
            let key = EntityKey::new(sent.partition_key().as_str(), operation.row_key.as_str())?;
            let found = match operation.kind.row() {
                Some(_) => self.tables.get(table, &key, &Select::All).await?,
                None => None,
            };
            let Some(found) = found.filter(|found| self.is_evidence(found.row.view(), operation)) else {
                return Ok(None);
            };
            committed.push(Some(found.etag));
        }
        Ok(Some(committed))
    }

    fn is_evidence(&self, stored: RowView<'_>, sent: &Operation) -> bool {
        let find = |name: &str| stored.find(name, &mut 0).ok().flatten();
        if self.fault == Some(Mutant::AnyIdentifier) {
            return matches!(find(IDENTIFIER), Some(ValueRef::Guid(_)));
        }
        sent.kind.row().is_some_and(|row| {
            let mut properties = row.view().properties().flatten();
            properties
                .all(|property| property.name == IDENTIFIER || find(property.name) == Some(property.value))
        })
    }
}

impl fmt::Display for MutantStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tables.fmt(f)
    }
}

impl TableStore for MutantStore {
    fn capabilities(&self) -> &Capabilities {
        self.tables.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.tables.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.tables.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.tables.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        if self.fault == Some(Mutant::StaleReads) {
            return self.tables.secondary_reads()?.get(table, key, select).await;
        }
        self.tables.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.tables.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        match self.tables.submit(table, transaction).await {
            Err(error) if error.is_ambiguous() => self.decide(table, error).await,
            result => result,
        }
    }
}

/// A connection that replaces each truncated batch response with one in which all operations succeed.
#[derive(Debug)]
struct WholeBatches(Arc<dyn Wire>);

impl Wire for WholeBatches {
    fn send(&self, request: WireRequest) -> Delivery {
        let is_batch = request.url.ends_with("/$batch");
        let operations = String::from_utf8_lossy(&request.body).matches(" HTTP/1.1\r\n").count();
        let answer = self.0.send(request);
        Box::pin(async move {
            let answer = answer.await?;
            if !is_batch || answer.status != 202 || answer.body.ends_with(b"--\r\n") {
                return Ok(answer);
            }
            let done = NewResponse { status: 204, headers: Vec::new(), body: String::new() };
            Ok(WireAnswer {
                status: 202,
                headers: vec![("content-type", "multipart/mixed; boundary=batchresponse_1".to_owned())],
                body: write_responses("1", &vec![done; operations]).into_bytes(),
            })
        })
    }
}
