//! A fixture for backfill tests: a table with entities that were written before their indexes were declared.

use table_core::store::TableStore;
use table_core::table::TableStoreExt;

use super::kit::{Staff, StaffByAge, StaffByEmail, StaffByLastName, ada};
use crate::entities::{Entities, NoOutbox};
use crate::index::IndexState;

/// An earlier release of the program, in which `Staff` had no indexes.
mod before {
    #[derive(Clone, Debug, PartialEq, table_core::Entity)]
    #[entity(table = "Company", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Staff {
        pub(super) department: String,
        #[digits(6)]
        pub(super) id: u32,
        pub(super) last_name: String,
        pub(super) age: u8,
        pub(super) email: Option<String>,
        pub(super) note: Option<i32>,
    }
}

pub(super) fn staff(id: u32) -> Staff {
    Staff {
        department: if id.is_multiple_of(2) { "Sales" } else { "Marketing" }.to_owned(),
        id,
        last_name: format!("Name{}", id / 4),
        age: 16 + u8::try_from(id % 5).unwrap(),
        email: (!id.is_multiple_of(3)).then(|| format!("mail{id}")),
        ..ada()
    }
}

/// Writes entities as the earlier release of the program did.
pub(super) async fn old_rows<S: TableStore + Clone>(store: &S, entities: &[Staff]) -> table_core::Result<()> {
    let old = store.table::<before::Staff>().create_if_missing().await?;
    for Staff { department, id, last_name, age, email, note } in entities.iter().cloned() {
        old.insert(&before::Staff { department, id, last_name, age, email, note }).await?;
    }
    Ok(())
}

pub(super) async fn build<S: TableStore + Clone>(
    table: &Entities<Staff, S, NoOutbox>,
) -> table_core::Result<()> {
    table.backfill::<StaffByEmail>().assume_no_older_programs().page(7).run().await?;
    table.backfill::<StaffByAge>().assume_no_older_programs().page(7).run().await?;
    table.backfill::<StaffByLastName>().assume_no_older_programs().page(7).run().await?;
    Ok(())
}

pub(super) const ALL_READY: [(&str, IndexState); 3] =
    [("ByEmail", IndexState::Ready), ("ByAge", IndexState::Ready), ("ByLastName", IndexState::Ready)];
