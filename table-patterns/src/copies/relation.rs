//! Type-erased relations between copied entities (sources) and entities that hold copies (holders), so one handle can have relations with several Rust types.

use std::fmt;

use table_core::entity::{Entity, FromEntity};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::EntityRef;
use table_core::row::{Row, rewrite};
use table_core::schema::EntitySchema;
use table_core::{Error, Result};

use crate::copies::fault::CopyFault;
use crate::copies::plan::{HolderContext, plan_holder};
use crate::copies::side::Is;
use crate::copies::{CopyRelation, OnDelete};
use crate::entities::EntityPlan;

/// A type-erased relation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relation {
    pub(super) name: &'static str,
    source_table: &'static str,
    /// Computes a holder's new row from its source, or from `None` if the source has been deleted.
    pub(super) refresh: fn(&EntityKey, EntityRef<'_>, Option<EntityRef<'_>>) -> Result<Refreshed>,
    /// The functions for writing the holder.
    pub(super) holder: HolderType,
}

impl Relation {
    const fn of<D: CopyRelation>() -> Self {
        let holder = HolderType::of::<D::Holder>();
        Self { name: D::NAME, source_table: D::Source::SCHEMA.table, refresh: refresh::<D>, holder }
    }

    /// Returns the name of the sources' table.
    pub(super) fn source_table(&self) -> Result<TableName> {
        TableName::new(self.source_table)
    }
}

/// A relation as declared by its source.
pub struct Outgoing<E> {
    pub(super) relation: Relation,
    /// The holders' schema.
    pub(super) holders: &'static EntitySchema,
    pub(super) on_delete: OnDelete,
    /// Returns `true` if the copied values differ between two states of a source.
    pub(super) changes: fn(&E, &E) -> bool,
    /// Returns `true` if a holder refers to a source.
    pub(super) refers: fn(EntityRef<'_>, &EntityKey) -> Result<bool>,
}

/// A type-erased holder type. Every write to a holder maintains all patterns declared on the holder's struct.
#[derive(Clone, Copy, Debug)]
pub(super) struct HolderType {
    /// `true` if the holder type declares a feed, which records each change.
    pub(super) feed: bool,
    /// Plans the write that changes a holder from its stored row to a new row.
    pub(super) plan: PlanHolder,
}

type PlanHolder =
    fn(&HolderContext<'_>, (&TableName, &EntityKey), OperationKind, [&Row; 2]) -> Result<EntityPlan>;

impl HolderType {
    const fn of<H: Entity>() -> Self {
        Self { feed: H::FEED, plan: plan_holder::<H> }
    }
}

/// The result of computing a holder's row from its source.
pub(super) enum Refreshed {
    /// The holder refers to another source, or to none.
    Elsewhere,
    /// The row already matches its source.
    Same,
    /// The holder's new row.
    Changed(Row),
}

impl<E> fmt::Debug for Outgoing<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Outgoing").field(&self.relation.name).finish()
    }
}

impl<E> Outgoing<E> {
    /// Creates the relation `D` as declared by its source.
    #[must_use]
    pub const fn of<D: CopyRelation>() -> Self
    where
        D::Source: Is<E>,
    {
        Self {
            relation: Relation::of::<D>(),
            holders: D::Holder::SCHEMA,
            on_delete: D::ON_DELETE,
            changes: |before, after| D::copied(Is::of(before)) != D::copied(Is::of(after)),
            refers: |holder, source| {
                Ok(key_of::<D>(&D::Holder::from_entity(holder)?)?.as_ref() == Some(source))
            },
        }
    }
}

fn refresh<D: CopyRelation>(
    source_key: &EntityKey,
    stored: EntityRef<'_>,
    source: Option<EntityRef<'_>>,
) -> Result<Refreshed> {
    let mut holder = D::Holder::from_entity(stored)?;
    if key_of::<D>(&holder)?.as_ref() != Some(source_key) {
        return Ok(Refreshed::Elsewhere);
    }
    let before = holder.to_row()?;
    match source {
        Some(source) => D::set(&mut holder, D::copied(&D::Source::from_entity(source)?)),
        None => clear::<D>(&mut holder)?,
    }
    check_key(&holder, stored)?;
    let after = holder.to_row()?;
    if after == before {
        return Ok(Refreshed::Same);
    }
    // Undeclared properties are preserved.
    Ok(Refreshed::Changed(rewrite(stored.row, before.view(), after.view())?))
}

fn key_of<D: CopyRelation>(holder: &D::Holder) -> Result<Option<EntityKey>> {
    D::reference(holder).map(table_core::Selection::into_key).transpose()
}

fn clear<D: CopyRelation>(holder: &mut D::Holder) -> Result<()> {
    D::clear(holder);
    if D::reference(holder).is_none() {
        return Ok(());
    }
    Err(Error::of(CopyFault::Cleared(D::NAME)))
}

fn check_key<H: Entity>(holder: &H, stored: EntityRef<'_>) -> Result<()> {
    let key = holder.key_of()?;
    if key.partition_key.as_str() == stored.partition_key && key.row_key.as_str() == stored.row_key {
        return Ok(());
    }
    Err(Error::of(CopyFault::CopiedKey).with_key(stored.partition_key, stored.row_key))
}

/// A relation as declared by its holder.
pub struct Incoming<H> {
    pub(super) relation: Relation,
    pub(super) on_delete: OnDelete,
    /// Returns the key of the source referenced by a holder.
    pub(super) reference: fn(&H) -> Result<Option<EntityKey>>,
    /// Sets a holder's copied values from its source.
    pub(super) set: fn(&mut H, EntityRef<'_>) -> Result<()>,
    /// Removes the reference and the copied values from a holder.
    pub(super) clear: fn(&mut H) -> Result<()>,
}

impl<H> fmt::Debug for Incoming<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Incoming").field(&self.relation.name).finish()
    }
}

impl<H> Incoming<H> {
    /// Creates the relation `D` as declared by its holder.
    #[must_use]
    pub const fn of<D: CopyRelation>() -> Self
    where
        D::Holder: Is<H>,
    {
        Self {
            relation: Relation::of::<D>(),
            on_delete: D::ON_DELETE,
            reference: |holder| key_of::<D>(Is::of(holder)),
            set: |holder, source| {
                D::set(Is::of_mut(holder), D::copied(&D::Source::from_entity(source)?));
                Ok(())
            },
            clear: |holder| clear::<D>(Is::of_mut(holder)),
        }
    }
}
