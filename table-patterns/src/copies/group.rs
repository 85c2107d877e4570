//! Groups a source's references by holder, so each holder is read once.

use std::collections::BTreeMap;

use table_core::etag::IfMatch;
use table_core::key::{EntityKey, RowKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::Select;
use table_core::store::{StoredRow, TableStore};
use table_core::{Error, Result};

use crate::copies::reference::StoredReference;
use crate::failure::Failure;
use crate::requests::{self, CONCURRENCY};

/// A holder, and all references to it from one source.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) table: TableName,
    pub(super) holder: EntityKey,
    pub(super) references: Vec<StoredReference>,
}

impl Group {
    pub(super) fn of(found: StoredReference) -> Self {
        let (table, holder) = (found.reference.holder_table.clone(), found.reference.holder.clone());
        Self { table, holder, references: vec![found] }
    }

    /// Returns the holder's table and relations. They determine whether this program may write the holder.
    pub(super) fn admitted_as(&self) -> (String, Vec<String>) {
        let relations = self.references.iter().map(|found| found.reference.relation.clone());
        (self.table.folded().to_owned(), relations.collect())
    }
}

/// Groups references by holder. Holders in the same table and partition are adjacent.
pub(super) fn group(references: Vec<StoredReference>) -> Vec<Group> {
    let mut groups: BTreeMap<(String, EntityKey), Group> = BTreeMap::new();
    for found in references {
        let reference = &found.reference;
        let id = (reference.holder_table.folded().to_owned(), reference.holder.clone());
        match groups.get_mut(&id) {
            Some(group) => group.references.push(found),
            None => {
                groups.insert(id, Group::of(found));
            }
        }
    }
    groups.into_values().collect()
}

/// A group with its stored holder: `None` if the holder does not exist, and an error if it cannot be read.
pub(super) type Read = (Group, Result<Option<StoredRow>>);

/// Reads each group's holder. A holder that cannot be read does not block the other holders.
///
/// # Errors
/// Any store outage.
pub(super) async fn read<S: TableStore>(store: &S, groups: Vec<Group>) -> Result<Vec<Read>> {
    let reads = groups.into_iter().map(|group| async {
        match store.get(&group.table, &group.holder, &Select::All).await {
            // A deleted table has no holders.
            Err(error) if error.is_table_not_found() => Ok((group, Ok(None))),
            Err(error) if Failure::of(&error) == Failure::Lasting => Ok((group, Err(error))),
            found => Ok::<_, Error>((group, Ok(found?))),
        }
    });
    requests::in_order(reads, CONCURRENCY).await
}

/// Returns the operation that deletes an obsolete reference. It is conditional on the reference's version, because the holder may concurrently renew
/// the reference.
pub(super) fn dropped(found: StoredReference) -> Option<(RowKey, OperationKind)> {
    Some((found.row_key, OperationKind::Delete(IfMatch::ETag(found.etag?))))
}
