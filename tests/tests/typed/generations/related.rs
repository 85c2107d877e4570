//! Tests units of work (transactions of several entities) in which an older program also writes a second entity type. The schema of this type must be checked
//! as if the type's own handle wrote it.

use pollster::block_on;
use table_core::Result;
use table_core::embedded::Engine;
use table_core::table::LEASE;
use table_patterns::{Entities, EntityStore};
use tests::time::Time;

use super::visitors::{Visitor, VisitorByHost};
use super::{before, refused, table_at};

/// Visitors, as declared by a release without the index.
mod plain {
    #[derive(table_core::Entity, Clone, Debug)]
    #[entity(table = "Staff")]
    #[partition_key(department)]
    #[row_key("visitor_", id)]
    pub(super) struct Visitor {
        pub department: String,
        #[digits(6)]
        pub id: u32,
        pub host: u32,
    }
}

async fn write(employees: &Entities<before::Employee, Engine>, id: u32) -> Result<()> {
    let mut unit = employees.unit(before::Employee::partition("Sales"))?;
    unit.insert(&before::employee(id, "mail"))?;
    unit.insert(&plain::Visitor { department: "Sales".into(), id, host: 7 })?;
    unit.commit().await.map(drop)
}

#[test]
fn a_unit_of_an_older_program_writes_no_entity_that_a_complete_index_would_miss() {
    block_on(async {
        let time = Time::default();
        let store = time.engine();
        let old = Entities::from(table_at::<before::Employee>(&time, &store)).with_runtime(time.runtime());
        let old = old.create_if_missing().await.unwrap();
        table_at::<plain::Visitor>(&time, &store).create_if_missing().await.unwrap();
        write(&old, 1).await.unwrap();
        let new = store.entities::<Visitor>().with_runtime(time.runtime()).create_if_missing().await.unwrap();
        // At this point, the newer schema has announced the index.
        write(&old, 2).await.unwrap();
        new.backfill::<VisitorByHost>().assume_no_older_programs().run().await.unwrap();
        time.pass(LEASE * 2);
        assert!(refused(write(&old, 3).await));
        assert!(
            old.get(before::Employee::key("Sales", 3)).await.unwrap().is_none(),
            "nothing of the unit is written"
        );
        let visits = new.query(Visitor::by_host("Sales", 7)).collect().await.unwrap();
        assert_eq!(visits.len(), 2);
        assert!(new.check().run().await.unwrap().is_clean());
    });
}
