//! The store as one process of the convergence tests sees it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::embedded::Engine;
use table_core::query::{Continuation, Page, Query, Select};
use table_core::row::RowWriter;
use table_core::store::{Capabilities, Committed, StoredRow, TablePage};
use table_core::{
    EntityKey, Error, ErrorCode, IfMatch, Operation, OperationKind, Result, TableName, TableStore,
    Transaction,
};
use table_patterns::outbox::guard::GUARD_PREFIX;
use table_patterns::view::VIEW_PREFIX;

/// The condition of the convergence proof that the protocol under test violates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Without {
    Nothing,
    /// Writes the guard rows of an index, which record the state of its entries, without checking that they are unchanged.
    Guards,
    /// Writes guard rows that do not record generations.
    Generations,
    /// Writes entities that contain copied properties without checking that they are unchanged.
    Holders,
    /// Writes a view's records of each entity's contribution to its totals, without checking that they are unchanged.
    Records,
}

/// Determines how the responses that a process receives differ from the stored rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answers {
    True,
    /// The responses to some applied transactions are lost.
    Lost,
    /// Some reads of entities return an earlier state.
    Old,
}

/// All states that reads have returned, for each entity.
pub(super) type Answered = Arc<Mutex<HashMap<EntityKey, Vec<Option<StoredRow>>>>>;

/// The store as seen by one process: some responses are incorrect, and one condition of the proof is violated.
#[derive(Clone)]
pub(super) struct Weak {
    engine: Engine,
    capabilities: Capabilities,
    without: Without,
    answered: Answered,
    answers: Answers,
    /// The random number generator that chooses the incorrect responses.
    chance: Arc<Mutex<StdRng>>,
}

impl fmt::Debug for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Weak").finish_non_exhaustive()
    }
}

impl fmt::Display for Weak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("weak")
    }
}

impl Weak {
    /// Creates a store over an engine. `has_checks` determines whether the store supports checks, as the engine does. `seed` chooses the incorrect responses.
    pub(super) fn new(
        engine: &Engine,
        has_checks: bool,
        without: Without,
        (answers, answered): (Answers, Answered),
        seed: u64,
    ) -> Self {
        let mut capabilities = engine.capabilities().clone();
        capabilities.checks = has_checks;
        let chance = Arc::new(Mutex::new(StdRng::seed_from_u64(seed)));
        Self { engine: engine.clone(), capabilities, without, answered, answers, chance }
    }

    fn is(&self, answers: Answers, often: f64) -> bool {
        self.answers == answers && self.chance.lock().unwrap().random_bool(often)
    }

    fn weakened(&self, table: &TableName, operation: &Operation) -> OperationKind {
        let (kind, row_key) = (operation.kind.clone(), operation.row_key.as_str());
        let is_weak = match self.without {
            Without::Nothing => false,
            Without::Guards | Without::Generations => row_key.starts_with(GUARD_PREFIX),
            Without::Holders => table.as_str() == "Projects" && !operation.row_key.is_reserved(),
            Without::Records => row_key.starts_with(&format!("{VIEW_PREFIX}by_")),
        };
        let nothing = || RowWriter::with_capacity(0).finish();
        match (self.without, kind) {
            (_, kind) if !is_weak => kind,
            (Without::Generations, OperationKind::Insert(_)) => OperationKind::Insert(nothing()),
            (Without::Generations, OperationKind::Replace(_, if_match)) => {
                OperationKind::Replace(nothing(), if_match)
            }
            (_, OperationKind::Insert(row) | OperationKind::Replace(row, _)) => {
                OperationKind::InsertOrReplace(row)
            }
            (_, OperationKind::Merge(row, _)) => OperationKind::Merge(row, IfMatch::Any),
            (_, kind) => kind,
        }
    }
}

impl TableStore for Weak {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
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
        let found = self.engine.get(table, key, select).await?;
        if table.as_str() != "Company" || key.row_key.is_reserved() {
            return Ok(found);
        }
        let mut answered = self.answered.lock().unwrap();
        let answered = answered.entry(key.clone()).or_insert_with(|| vec![None]);
        answered.push(found.clone());
        if self.is(Answers::Old, 0.4) {
            let at = self.chance.lock().unwrap().random_range(0..answered.len());
            return Ok(answered[at].clone());
        }
        Ok(found)
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        self.engine.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        let mut weakened = Transaction::new(transaction.partition_key().clone(), self.capabilities().limits)?;
        for operation in transaction.operations() {
            let is_check = matches!(operation.kind, OperationKind::Check(_));
            assert!(self.capabilities.checks || !is_check, "the store supports no checks");
            let kind = self.weakened(table, operation);
            weakened.push(Operation { row_key: operation.row_key.clone(), kind })?;
        }
        let committed = self.engine.submit(table, weakened).await?;
        if self.is(Answers::Lost, 0.1) {
            return Err(Error::new(ErrorCode::OperationTimedOut, "the answer is lost"));
        }
        Ok(committed)
    }
}
