//! Prevents two entity types from writing index entries under the same keys of one table.
//!
//! A *claim* records that an entity type owns certain index keys. All claims to the keys of a table are stored in one row of [`LAYOUTS`], in the partition for
//! that table. The claims end when the table is deleted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table_core::entity::Entity;
use table_core::etag::{ETag, IfMatch};
use table_core::key::EntityKey;
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, Query, Select};
use table_core::retry::Retry;
use table_core::row::{Row, RowWriter};
use table_core::schema::{EntitySchema, IndexSchema, KeyPiece};
use table_core::store::{StoredRow, TableStore};
use table_core::table::LAYOUTS;
use table_core::{Error, ErrorCode, Result, ValueRef};

use crate::converge::{self, upsert};
use crate::failure::Failure;
use crate::index::fault::IndexFault;

/// The `RowKey` of the row that records which index owns which keys in a table.
const ROW_KEY: &str = "\u{FFFC}owners";
/// The property that stores the claims.
const OWNERS: &str = "Owners";
/// Marks the claims as questionable: a program has found them, but their table may not exist.
const QUESTIONED: &str = "Questioned";
/// The name of the claims in conflict errors.
const RACE: &str = "the owners of a table";

/// A claim to all index keys that begin with the literals in `partition_key` and `row_key`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Claim {
    /// The names of the entity type and of its table.
    entity: String,
    partition_key: String,
    row_key: String,
}

impl Claim {
    /// Returns `true` if the claims overlap and belong to different entity types.
    fn clashes(&self, other: &Self) -> bool {
        let meet = |one: &str, two: &str| one.starts_with(two) || two.starts_with(one);
        self.entity != other.entity
            && meet(&self.partition_key, &other.partition_key)
            && meet(&self.row_key, &other.row_key)
    }
}

/// The claims to a table's keys, by the names of the entity type and the index.
type Claims = BTreeMap<String, Claim>;

/// Returns an entity type's claims to the keys of its indexes. This function is not generic, because code that collects into a map compiles slowly.
fn claims_of(schema: &EntitySchema, of: &TableName, indexes: &[&IndexSchema]) -> Claims {
    let literal = |pieces: &[KeyPiece]| match pieces {
        [KeyPiece::Literal(literal), ..] => (*literal).to_owned(),
        _ => String::new(),
    };
    let claims = indexes.iter().map(|index| {
        let claim = Claim {
            entity: format!("{} in {}", schema.entity, of.folded()),
            partition_key: literal(index.partition_key.unwrap_or(schema.partition_key)),
            row_key: literal(index.row_key),
        };
        (format!("{}.{}", schema.entity, index.name), claim)
    });
    claims.collect()
}

/// Returns the name under which a claim is stored. If an entity type of the same name in another table already uses this name, returns a longer one.
fn name_in(claims: &Claims, name: &str, claim: &Claim) -> String {
    match claims.get(name) {
        Some(known) if known.entity != claim.entity => format!("{name} of {}", claim.entity),
        _ => name.to_owned(),
    }
}

/// The claims found for a table name, and their version. If they were found before the table was created, they may belong to an earlier table with that name.
#[derive(Debug, Default)]
struct Found {
    claims: Claims,
    /// `true` if a program may be about to delete the claims.
    are_questioned: bool,
    etag: Option<ETag>,
}

/// Reads the claims to the keys of a table.
///
/// # Errors
/// `Corrupted` if the claims cannot be read; any error from the store.
async fn find(store: &impl TableStore, table: &TableName) -> Result<Found> {
    let (layouts, key) = place(table)?;
    match store.get(&layouts, &key, &Select::All).await {
        Ok(Some(StoredRow { row, etag })) => {
            let claims = read(&row).map_err(|error| error.with_table(LAYOUTS))?;
            let are_questioned = row.view().find(QUESTIONED, &mut 0)?.is_some();
            Ok(Found { claims, are_questioned, etag: Some(etag) })
        }
        Err(error) if !error.is_table_not_found() => Err(error),
        _ => Ok(Found::default()),
    }
}

/// Returns the table and the key of the row that stores the claims to a table's keys.
fn place(table: &TableName) -> Result<(TableName, EntityKey)> {
    Ok((TableName::new(LAYOUTS)?, EntityKey::new(table.folded(), ROW_KEY)?))
}

/// Returns an error if an entity type's claims clash with existing claims to the keys of a table. Called before any table is created, so a refusal leaves no
/// new table behind. If another program adds claims later, [`claim`] detects the clash.
///
/// If the table does not exist or is being deleted, the claims belong to an earlier table with this name, and are deleted. This happens before the new table is
/// created. Afterwards, old claims could not be distinguished from claims to the new table.
///
/// The claims are first marked as questionable. The existence of the table is then checked again. If another program has created the table in the meantime and
/// [claims](claim) its keys, it removes the mark, and the deletion fails.
///
/// # Errors
/// - `SchemaMismatch`, with both names, if another entity type has claimed some of the keys.
/// - `Corrupted` if the claims cannot be read; any error from the store that does not tell whether the table exists.
pub(crate) async fn check<E: Entity>(
    (store, retry): (&impl TableStore, &Retry),
    (of, table): (&TableName, &TableName),
    indexes: &[&IndexSchema],
) -> Result<()> {
    let (own, (layouts, key)) = (claims_of(E::SCHEMA, of, indexes), place(table)?);
    let mut race = retry.start(RACE);
    loop {
        let Found { claims, are_questioned, etag: Some(etag) } = find(store, table).await? else {
            return Ok(());
        };
        if exists(store, table).await? {
            let accepted = accept(table, &own, &claims);
            // The claims may be outdated: another program may since have deleted them and created the table. The result is final only if the claims have not
            // changed.
            if accepted.is_ok() || find(store, table).await?.etag == Some(etag) {
                return accepted;
            }
        } else {
            // IMPORTANT: claims are deleted only if they were marked before the table was found missing. If a program then creates the table and claims its
            // keys, it finds the mark and removes it.
            let change = if are_questioned {
                OperationKind::Delete(IfMatch::ETag(etag))
            } else {
                OperationKind::Replace(write(&claims, true)?, IfMatch::ETag(etag))
            };
            let change = [(key.row_key.clone(), change)];
            if converge::is_won(converge::submit(store, &layouts, &key.partition_key, change).await)? {
                if are_questioned {
                    return Ok(());
                }
                continue;
            }
        }
        race.retry(None).await.map_err(|error| error.with_table(table.as_str()))?;
    }
}

/// Returns `false` if a table does not exist or is being deleted. Returns `true` even if the first row of the table cannot be read, because a program must be
/// able to open the table to repair it.
///
/// # Errors
/// Any error that does not tell whether the table exists, such as `ServerBusy`.
async fn exists(store: &impl TableStore, table: &TableName) -> Result<bool> {
    let query = Query { top: Some(1), ..Query::new(KeyRange::ALL) };
    match store.query(table, &query, None).await {
        Err(error) if error.is_table_not_found() || error.code() == ErrorCode::TableBeingDeleted => Ok(false),
        Err(error) if Failure::of(&error) != Failure::Lasting => Err(error),
        _ => Ok(true),
    }
}

/// Checks that no claim of an entity type overlaps with a claim of another type.
///
/// # Errors
/// `SchemaMismatch`, with both names.
fn accept(table: &TableName, own: &Claims, claims: &Claims) -> Result<()> {
    for (name, claim) in own {
        if let Some((owner, _)) = claims.iter().find(|(_, other)| claim.clashes(other)) {
            let fault = IndexFault::Claimed { owner: owner.clone(), index: name.clone() };
            return Err(Error::of(fault).with_table(table.as_str()));
        }
    }
    Ok(())
}

/// Claims the keys of an entity type's indexes in `table`. The table must exist.
///
/// # Errors
/// - `SchemaMismatch`, with both names, if another entity type has claimed some of the keys.
/// - `Corrupted` if the claims cannot be read; any error from the store.
pub(crate) async fn claim<E: Entity>(
    (store, retry): (&impl TableStore, &Retry),
    (of, table): (&TableName, &TableName),
    indexes: &[&IndexSchema],
) -> Result<()> {
    let (own, (layouts, key)) = (claims_of(E::SCHEMA, of, indexes), place(table)?);
    let mut race = retry.start(RACE);
    loop {
        // IMPORTANT: the claims are read after the table has been created, because another program may have deleted the claims that were found before.
        let Found { mut claims, are_questioned, etag } = find(store, table).await?;
        accept(table, &own, &claims)?;
        let named: Claims =
            own.iter().map(|(name, claim)| (name_in(&claims, name, claim), claim.clone())).collect();
        if !are_questioned && named.iter().all(|(name, claim)| claims.get(name) == Some(claim)) {
            return Ok(());
        }
        claims.extend(named);
        let write = (key.row_key.clone(), upsert(write(&claims, false)?, etag));
        if converge::is_won(converge::submit(store, &layouts, &key.partition_key, [write]).await)? {
            return Ok(());
        }
        race.retry(None).await.map_err(|error| error.with_table(table.as_str()))?;
    }
}

fn read(row: &Row) -> Result<Claims> {
    match row.view().find(OWNERS, &mut 0)? {
        Some(ValueRef::String(text)) => {
            serde_json::from_str(text).map_err(|error| Error::of(IndexFault::Owners(Some(error))))
        }
        _ => Err(Error::of(IndexFault::Owners(None))),
    }
}

fn write(claims: &Claims, are_questioned: bool) -> Result<Row> {
    let text = serde_json::to_string(claims).map_err(|error| Error::of(IndexFault::Owners(Some(error))))?;
    let mut writer = RowWriter::with_capacity(2);
    writer.property(OWNERS, ValueRef::String(&text));
    if are_questioned {
        writer.property(QUESTIONED, ValueRef::Boolean(true));
    }
    Ok(writer.finish())
}
