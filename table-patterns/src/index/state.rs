//! The state of an index: building or ready. It is recorded with the stored schema.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::entity::Entity;
use table_core::schema::{IndexSchema, StoredProperty, StoredSchema, compare_schemas};
use table_core::store::TableStore;
use table_core::table::{SchemaRecord, Table};
use table_core::{Error, Result};

use crate::index::fault::IndexFault;

/// The state of an index. An index is maintained in every state, but used for reads only if it is ready.
///
/// ```
/// use table_patterns::index::IndexState;
///
/// /// Returns the action that an operator should take for an index.
/// fn remedy(state: IndexState) -> &'static str {
///     match state {
///         IndexState::Building => "run its backfill to the end",
///         IndexState::Ready => "nothing",
///     }
/// }
/// assert_eq!(remedy(IndexState::Ready), "nothing");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexState {
    /// The index was declared for an existing table, and its backfill has not completed. Until the backfill begins, programs of an older release may write
    /// without the index.
    Building,
    /// The index is complete and used for reads.
    Ready,
}

impl fmt::Display for IndexState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Building => "building",
            Self::Ready => "ready",
        })
    }
}

/// Returns the string that identifies an index in the stored schema, for example in the list of pending parts.
pub(crate) fn note(index: &str) -> String {
    format!("index {index}")
}

/// Returns the state of an index in the stored schema, for programs with the schema of `E`. If the stored schema declares the index so differently that these
/// programs would miss entities or properties, the index is *building* for them.
pub(crate) fn noted<E: Entity>(layout: &SchemaRecord, index: &str) -> IndexState {
    let is_ready = is_stored(layout, index)
        && !layout.pending.contains(&note(index))
        && is_readable_by::<E>(layout, index);
    if is_ready { IndexState::Ready } else { IndexState::Building }
}

/// Returns `true` if the stored schema contains an index. Otherwise, programs with the stored schema do not maintain the index.
pub(crate) fn is_stored(layout: &SchemaRecord, index: &str) -> bool {
    layout.schema.indexes.iter().any(|stored| stored.name == index)
}

/// Returns `true` if programs with the stored schema and programs with the schema of `E` store the same rows for an index. Replacing either schema with the
/// other then requires no backfill of the index, and both read the same properties. Only under this condition may a program with the schema of `E` build the
/// index.
pub(crate) fn is_declared_by<E: Entity>(layout: &SchemaRecord, index: &str) -> bool {
    let declared = StoredSchema::of(E::SCHEMA);
    let is_retyped = |stored: &StoredProperty| {
        declared.properties.iter().any(|own| own.name == stored.name && own.edm != stored.edm)
    };
    is_stored(layout, index)
        && !requires(&layout.schema, &declared, index)
        && !requires(&declared, &layout.schema, index)
        && !layout.schema.properties.iter().any(is_retyped)
}

/// Returns `true` if an index that is complete under the stored schema gives programs with the schema of `E` all entities and properties. The stored schema may
/// declare more properties or accept more values.
fn is_readable_by<E: Entity>(layout: &SchemaRecord, index: &str) -> bool {
    is_readable(&layout.schema, &StoredSchema::of(E::SCHEMA), index)
}

fn is_readable(stored: &StoredSchema, declared: &StoredSchema, index: &str) -> bool {
    if !requires(stored, declared, index) {
        return true;
    }
    if requires(declared, stored, index) {
        return false;
    }
    // For every value that this program's keys accept, the stored schema produces the same key. The keys need no further comparison.
    let mut stored = stored.clone();
    let own = declared.indexes.iter().find(|own| own.name == index);
    let known = stored.indexes.iter_mut().find(|known| known.name == index);
    if let (Some(own), Some(known)) = (own, known) {
        known.partition_key.clone_from(&own.partition_key);
        known.row_key.clone_from(&own.row_key);
    }
    !requires(&stored, declared, index)
}

/// Returns `true` if an index must be rebuilt when the schema `new` replaces `old`.
fn requires(old: &StoredSchema, new: &StoredSchema, index: &str) -> bool {
    let note = note(index);
    compare_schemas(old, new).changes.iter().any(|change| change.pending.as_ref() == Some(&note))
}

/// One flag per index of an entity type. It is `true` if the handle has found the index ready, and stays `true` until the states are reread. While a flag is
/// `false`, each use of the index reads the stored state.
#[derive(Debug)]
pub(crate) struct States(Vec<AtomicBool>);

/// The states for a handle without indexes.
pub(crate) static NO_STATES: States = States(Vec::new());

impl States {
    pub(crate) fn new<E: Entity>() -> Self {
        Self(E::INDEXES.iter().map(|_| AtomicBool::new(false)).collect())
    }

    /// Creates the index states. An index is ready if `is_ready` returns `true` for its name.
    pub(crate) fn of_ready<E: Entity>(is_ready: impl Fn(&str) -> bool) -> Self {
        Self(E::INDEXES.iter().map(|index| AtomicBool::new(is_ready(index.schema().name))).collect())
    }

    fn place<E: Entity>(&self, index: &IndexSchema) -> Option<&AtomicBool> {
        let at = E::INDEXES.iter().position(|known| known.schema().name == index.name)?;
        self.0.get(at)
    }

    pub(crate) fn is_ready<E: Entity>(&self, index: &IndexSchema) -> bool {
        self.place::<E>(index).is_some_and(|state| state.load(Ordering::Relaxed))
    }

    pub(crate) fn learn<E: Entity>(&self, layout: &SchemaRecord) {
        for index in E::INDEXES {
            if let Some(place) = self.place::<E>(index.schema()) {
                place.store(noted::<E>(layout, index.schema().name) == IndexState::Ready, Ordering::Relaxed);
            }
        }
    }
}

/// Reads the states of all indexes from the stored schema. Remembers them in `states`.
///
/// # Errors
/// `IndexNotReady` if no schema is stored. The content of the indexes is then unknown.
pub(crate) async fn load<E: Entity, S: TableStore>(
    table: &Table<E, S>,
    states: &States,
) -> Result<SchemaRecord> {
    let Some(layout) = table.schema_record().await? else {
        return Err(Error::of(IndexFault::NoDesign).with_table(table.name()?.as_str()));
    };
    states.learn::<E>(&layout);
    Ok(layout)
}

/// Returns the error for a read through an index that is not ready according to the stored schema. Returns `None` if the index is ready.
pub(crate) fn not_ready<E: Entity>(layout: &SchemaRecord, index: &str) -> Option<Error> {
    let name = index.to_owned();
    let fault = match noted::<E>(layout, index) {
        _ if !is_stored(layout, index) => IndexFault::NotStored(name),
        IndexState::Ready => return None,
        IndexState::Building if !is_readable_by::<E>(layout, index) => IndexFault::StoredDifferently(name),
        IndexState::Building if layout.is_announced(index) => IndexFault::Announced(name),
        IndexState::Building => IndexFault::Building(name),
    };
    Some(Error::of(fault))
}

#[cfg(test)]
mod tests;
