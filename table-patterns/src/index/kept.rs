//! What patterns that read other entities add to the write of one: copies given and held.

use std::any::Any;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use table_core::entity::Entity;
use table_core::error::Result;
use table_core::key::EntityKey;
use table_core::operation::OperationKind;
use table_core::row::{self, Row};

use crate::index::batch::{Batch, Write};
use crate::index::in_unit::InUnit;
use crate::index::remote::RemoteChange;
use crate::participant::Beside;
use crate::work::handler::Delivery;

/// What keeps the copies of entities `E` in the writes of handles `H`.
pub(crate) trait Keeper<E, H>: Send + Sync {
    /// Completes the write of an entity. Asked once for each attempt.
    fn keep<'a>(&'a self, handle: &'a H, asked: Asked) -> BoxFuture<'a, Result<KeptWrite>>;

    /// Brings copies in line that follow from a recorded change; how many entities were written.
    fn settle<'a>(
        &'a self,
        handle: &'a H,
        change: &'a RemoteChange,
        call: Option<Delivery<'a>>,
    ) -> BoxFuture<'a, Result<usize>>;

    /// The same once the table of a handle was opened.
    fn opened(&self, handle: &H) -> Arc<dyn Keeper<E, H>>;

    /// Itself, for the pattern that made it.
    fn as_any(&self) -> &dyn Any;
}

/// A change of an entity, and what copies add to it.
#[derive(Debug)]
pub(crate) struct Kept {
    /// All properties that the entity is to have; `None` for one that is deleted. What it copies is set in it.
    pub(crate) new: Option<Row>,
    /// Whether other entities may be written in this transaction: not once that was too much for one.
    pub(crate) together: bool,
    /// The other entities of the unit that it is in.
    pub(crate) unit: Arc<InUnit>,
    pub(crate) rows: Vec<Beside>,
    pub(crate) remote: Vec<RemoteChange>,
    pub(crate) others: Vec<Other>,
}

/// The write of another entity in the same transaction.
#[derive(Clone, Debug)]
pub(crate) struct Other {
    pub(crate) write: Write,
    /// Adds it to a batch, with what its struct declares.
    pub(crate) push: fn(&mut Batch, Write) -> Result<()>,
}

impl Other {
    /// Adds it to a batch.
    pub(crate) fn push(self, batch: &mut Batch) -> Result<()> {
        (self.push)(batch, self.write)
    }
}

impl Kept {
    /// The change that an operation makes to what is stored.
    pub(crate) fn of(asked: &Asked) -> Result<Self> {
        let Asked { kind, stored, together, unit, .. } = asked;
        let new = match (kind, stored) {
            (OperationKind::Delete(_), _) => None,
            (OperationKind::Merge(row, _) | OperationKind::InsertOrMerge(row), Some(stored)) => {
                Some(row::merge(stored.view(), row.view())?)
            }
            (kind, _) => kind.row().cloned(),
        };
        let (together, unit) = (*together, Arc::clone(unit));
        Ok(Self { new, together, unit, rows: Vec::new(), remote: Vec::new(), others: Vec::new() })
    }

    /// The operation that writes all that the entity is to have.
    pub(crate) fn operation(&self, kind: OperationKind) -> OperationKind {
        match (kind, self.new.clone()) {
            (OperationKind::Insert(_), Some(row)) => OperationKind::Insert(row),
            (OperationKind::Replace(_, if_match) | OperationKind::Merge(_, if_match), Some(row)) => {
                OperationKind::Replace(row, if_match)
            }
            (kind, _) => kind,
        }
    }
}

/// The write of an entity with copies, before these are known.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) key: EntityKey,
    pub(crate) kind: OperationKind,
    /// All that is stored.
    pub(crate) stored: Option<Row>,
    /// Whether other entities may be written in the same transaction.
    pub(crate) together: bool,
    /// The other entities of the unit that it is in.
    pub(crate) unit: Arc<InUnit>,
}

/// The same with them.
#[derive(Debug)]
pub(crate) struct KeptWrite {
    pub(crate) own: Write,
    pub(crate) others: Vec<Other>,
    /// The properties that the entity has by its copies.
    pub(crate) row: Option<Row>,
}

impl KeptWrite {
    /// Adds all of it to a batch.
    pub(crate) fn push<E: Entity>(self, batch: &mut Batch) -> Result<()> {
        batch.push::<E>(self.own)?;
        self.others.into_iter().try_for_each(|other| other.push(batch))
    }
}
