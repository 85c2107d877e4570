//! Decides whether a schema may replace the stored one, and determines the resulting pending work.

use table_store::{Error, Result};

use crate::mixed::is_reserved;
use crate::name::TableName;
use crate::query::{KeyRange, Query, Select, TextRange};
use crate::schema::{StoredPiece, StoredSchema};
use crate::store::{Exclusive, TableStore};
use crate::table::fault::TableFault;
use crate::table::layout::proposal::Proposal;
use crate::table::layout::record::SchemaRecord;
use crate::table::layout::renamed;
use crate::table::layout::unknown::{Stored, unknown_parts};
use crate::table::request;

/// The next step in storing a schema.
pub(super) enum Next {
    /// This schema, or a newer compatible schema, is already stored. No further step is needed.
    Stored(Stored),
    First(Box<SchemaRecord>),
    /// A new schema must replace the stored schema. Contains the new and the stored record.
    Follows(Box<SchemaRecord>, Box<SchemaRecord>),
}

/// Compares a schema with the stored one, and returns the next step.
///
/// # Errors
/// `SchemaMismatch` if the program may not use the table and the caller has passed no reason in `accepted`.
pub(super) async fn next<S: TableStore>(
    store: &S,
    table: &TableName,
    proposal: &Proposal<'_>,
    accepted: Option<&str>,
) -> Result<Next> {
    let &Proposal { design, is_new, .. } = proposal;
    let Some(stored) = proposal.stored.clone().filter(|_| !is_new) else {
        let mut layout = SchemaRecord::new(design.clone());
        let derived = derived_parts(design);
        let may_be_renamed = !is_new && accepted.is_none();
        let renamed = if may_be_renamed { renamed::find(store, table, design).await? } else { None };
        let matters = renamed.is_some() || (!derived.is_empty() && !is_new);
        if matters && !is_empty(store, table, &own_rows(design)).await? {
            if let Some(fault) = renamed {
                return Err(Error::of(fault).with_table(table.as_str()));
            }
            layout.pending = derived;
        }
        layout.accepted = accepted.map(|reason| reason.to_owned() + " (first schema stored)");
        return Ok(Next::First(Box::new(layout)));
    };
    if stored.schema == *design && accepted.is_none() {
        return Ok(Next::Stored(Stored::own(&stored, Some(stored.etag.clone()))));
    }
    let evolution = stored.compare(design);
    let is_older = stored.supersedes(design);
    if (is_older || !evolution.compatibility().is_allowed()) && accepted.is_none() {
        let refusal = match is_older.then(|| unknown_parts(&stored, design, table)) {
            Some(Ok(unknown)) => {
                let removed = stored.removed_properties();
                return Ok(Next::Stored(Stored { unknown, removed, ..Stored::default() }));
            }
            Some(Err(error)) => error,
            None => {
                let (entity, evolution) = (design.entity.clone(), evolution.clone());
                Error::of(TableFault::Layout { entity, evolution }).with_table(table.as_str())
            }
        };
        // IMPORTANT: handles with the stored schema rely on its indexes, feed and copies being complete. If a schema lacks one of these, it is refused even if
        // the table is empty.
        if !keeps_derived_parts(&stored.schema, design) || !is_empty(store, table, &TextRange::ALL).await? {
            return Err(refusal);
        }
    }
    let before = stored.clone();
    let stored = if accepted.is_some() && evolution.is_same() { stored.rewritten() } else { stored };
    // IMPORTANT: a new index is pending even if the table is empty, because programs with the older schema may be writing the first rows.
    let mut layout = stored.evolved(design.clone(), &evolution);
    let adds_properties =
        evolution.changes.iter().any(|change| ["EVO-1", "EVO-34"].contains(&change.rule.id));
    layout.settling |= adds_properties && has_other_programs(store);
    if let Some(reason) = accepted {
        let rules: Vec<_> = evolution.changes.iter().map(|change| change.rule.id).collect();
        let rules = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
        layout.accepted = Some(format!("{reason} ({}{rules})", evolution.compatibility()));
    }
    Ok(Next::Follows(Box::new(layout), Box::new(before)))
}

/// Returns `true` if programs in other processes may write to the store, directly or through this process.
fn has_other_programs<S: TableStore>(store: &S) -> bool {
    store.capabilities().exclusive.as_ref().is_none_or(Exclusive::is_shared)
}

/// Returns the indexes, feed and copies declared by a schema. Programs whose schema lacks them do not maintain them; see [`SchemaRecord::pending`].
fn derived_parts(design: &StoredSchema) -> Vec<String> {
    let indexes = design.indexes.iter().map(|index| format!("index {}", index.name));
    indexes.chain(design.keeps.iter().map(|kept| format!("keeps {kept}"))).collect()
}

/// Returns `true` if programs with the schema `next` maintain every index, feed and copy of the schema `stored`.
fn keeps_derived_parts(stored: &StoredSchema, next: &StoredSchema) -> bool {
    stored.indexes.iter().all(|index| next.indexes.contains(index))
        && stored.keeps.iter().all(|kept| next.keeps.contains(kept))
}

/// Returns a range that contains all `RowKey`s of a schema's entities. These are the keys that start with the `RowKey`'s leading literal, or all keys if it has
/// none.
fn own_rows(design: &StoredSchema) -> TextRange {
    match design.row_key.as_slice() {
        [StoredPiece::Literal(literal), ..] => TextRange::prefix(literal),
        _ => TextRange::ALL,
    }
}

/// Returns `true` if the table has no row with a `RowKey` in the range. Rows reserved for patterns are ignored.
async fn is_empty<S: TableStore>(store: &S, table: &TableName, row_key: &TextRange) -> Result<bool> {
    let keys = KeyRange { partition_key: TextRange::ALL, row_key: row_key.clone() };
    let query = Query { select: Select::names(["PartitionKey", "RowKey"]), ..Query::new(keys) };
    let mut from = None;
    // An empty page is not necessarily the last one (PAGE-3).
    loop {
        let page = request::page(store, table, &query, from.as_ref()).await?;
        if page.rows.iter().any(|row| !is_reserved(row.row_key)) {
            return Ok(false);
        }
        from = page.continuation;
        if from.is_none() {
            return Ok(true);
        }
    }
}
