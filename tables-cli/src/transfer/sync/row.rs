//! Reads and writes single rows of a synchronisation.

use table_core::query::{EntityRef, Select};
use table_core::{
    DynTableStore, EntityKey, Error, FromEntity, IfMatch, TableEntity, TableName, TableStore as _,
    Transaction,
};

use crate::failure::{Failure, Result};
use crate::transfer::change::{Change, Mode};
use crate::transfer::compare::Compared;
use crate::transfer::stored::{self, Stored};

/// Reads a row by its key.
pub(super) async fn read(
    store: &DynTableStore,
    name: &TableName,
    key: &EntityKey,
) -> Result<Option<TableEntity>> {
    let Some(stored) = store.get(name, key, &Select::All).await? else { return Ok(None) };
    let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), stored.row.view());
    Ok(Some(TableEntity::from_entity(entity)?))
}

/// Compares a row with the source again, because the source may have been written to since the row's page was read. A row that the target lacks is not read
/// again: it is inserted, which fails if a program has inserted it in the meantime. If the source contains the row but cannot represent it as an entity, the row
/// in the target is kept. `omits` is `true` if the source has omitted rows.
pub(super) async fn read_again(
    source: &DynTableStore,
    name: &TableName,
    compared: Compared,
    omits: bool,
) -> Result<Compared> {
    let target = match compared {
        Compared::Same(_) | Compared::Missing(_) => return Ok(compared),
        Compared::Changed { target, .. } | Compared::Extra(target) => target,
    };
    Ok(match stored::read(source, name, target.key(), omits).await? {
        Stored::Missing => Compared::Extra(target),
        Stored::Entity(source) => Compared::both(source, target),
        Stored::Unreadable => Compared::Same(target),
    })
}

/// Returns the change that makes the target equal to the source, conditional on the target version that was compared. Returns `None` if they are equal.
pub(super) fn change(compared: Compared) -> Option<Change> {
    let version = |target: &TableEntity| target.etag().cloned().map_or(IfMatch::Any, IfMatch::ETag);
    match compared {
        Compared::Same(_) => None,
        Compared::Missing(entity) => Some(Change::Write(entity)),
        Compared::Changed { source, target } => {
            let version = version(&target);
            Some(Change::Replace(source, version))
        }
        Compared::Extra(target) => Some(Change::Delete(target.key().clone(), version(&target))),
    }
}

/// Writes a difference. Returns `false` if a program has changed the target row since it was compared.
pub(super) async fn write(target: &DynTableStore, name: &TableName, compared: Compared) -> Result<bool> {
    let partition_key = compared.key().partition_key.clone();
    let Some(change) = change(compared) else { return Ok(true) };
    let refused = |error: Error| {
        if error.is_invalid_input() {
            Failure::Refused(format!("{target} refuses a row: {error}"))
        } else {
            error.into()
        }
    };
    let mut transaction = Transaction::new(partition_key, target.capabilities().limits)?;
    transaction.push(change.operation(Mode::Insert).map_err(refused)?).map_err(refused)?;
    match target.submit(name, transaction).await {
        Ok(_) => Ok(true),
        Err(error) if error.is_table_not_found() => Err(error.into()),
        Err(error) if error.is_conflict() || error.is_already_exists() || error.is_not_found() => Ok(false),
        Err(error) => Err(refused(error)),
    }
}
