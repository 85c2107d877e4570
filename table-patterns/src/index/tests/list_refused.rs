//! Tests a write that a newer release forbids after the list has been uploaded. The write must leave no blob behind.

use pollster::block_on;
use table_core::ErrorCode;
use table_core::embedded::Engine;
use table_core::table::TableStoreExt;

use super::people::{Employee, jones, scene};

mod newer {
    /// The entity type without its indexes and with a required property.
    #[derive(Clone, Debug, table_core::Entity, PartialEq)]
    #[entity(table = "Company", crate = table_core)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    pub(super) struct Employee {
        pub(super) department: String,
        #[digits(6)]
        pub(super) id: u32,
        pub(super) last_name: String,
        pub(super) email: String,
    }
}

fn accept(engine: &Engine) {
    block_on(engine.table::<newer::Employee>().accept_schema("another release")).unwrap();
}

#[test]
fn pat_ix_4_and_evo_3_a_write_that_is_refused_after_its_upload_leaves_no_blob() {
    block_on(async {
        let scene = scene(0).await?;
        scene.people.insert(&jones(1)).await?;
        let engine = scene.store.engine.clone();
        let requests = scene.blobs.calls();
        // The newer release stores its schema before the upload. The check that precedes the transaction detects this.
        scene.blobs.before(1, move |_| accept(&engine));
        let error = scene.people.insert(&jones(2)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch, "{error}");
        assert!(scene.blobs.calls() >= requests + 3, "the list was read, uploaded and removed");
        assert_eq!(scene.blobs.names(), scene.named().await?);
        assert!(scene.people.get(Employee::key("Sales", 2)).await?.is_none());
        Ok::<(), table_core::Error>(())
    })
    .unwrap();
}
