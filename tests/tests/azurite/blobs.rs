//! Blobs by `object_store` (BLB-2, BLB-3, BLB-7, BLB-8, BLB-10), and lists of indexes in them.

use std::sync::Arc;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use table_azure::{AzureBlobs, AzureTables};
use table_patterns::index::{IndexedStore, ListBlobs};
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;
use table_patterns::{Engine, Entity, IfMatch, QueueName, Versioned};

#[test]
fn blb_2_to_10_blobs_are_put_read_listed_and_deleted() {
    let Some(connection) = crate::azurite() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let blobs = AzureBlobs::from_connection_string(&connection).unwrap();
        assert!(!format!("{blobs:?} {blobs}").contains("Eby8"));
        assert!(blobs.create_container("photos").await.unwrap());
        assert!(!blobs.create_container("photos").await.unwrap());
        let store = blobs.container("photos").unwrap();
        let (one, two) = (Path::from("2026/11/a b+é.jpg"), Path::from("2027/x.jpg"));
        store.put(&one, PutPayload::from("first")).await.unwrap();
        store.put(&one, PutPayload::from("second")).await.unwrap();
        store.put(&two, PutPayload::from("other")).await.unwrap();
        assert_eq!(store.get(&one).await.unwrap().bytes().await.unwrap(), "second");
        assert_eq!(store.get_range(&one, 1..3).await.unwrap(), "ec");
        let again = store.put_opts(&two, PutPayload::from("again"), PutMode::Create.into()).await;
        assert!(matches!(again, Err(object_store::Error::AlreadyExists { .. })), "BLB-8");
        let listed: Vec<_> = store.list(Some(&Path::from("2026"))).try_collect().await.unwrap();
        assert_eq!(listed.iter().map(|object| &object.location).collect::<Vec<_>>(), [&one]);
        store.delete(&one).await.unwrap();
        assert!(matches!(store.get(&one).await, Err(object_store::Error::NotFound { .. })));
    });
}

/// The lists of an index in the blobs of an account, named by entities of the same account (PAT-IX option 1).
#[test]
fn pat_ix_4_lists_in_blobs_of_an_account() {
    #[expect(
        clippy::duplicated_attributes,
        reason = "each index has words of its own, which clippy takes for repetitions"
    )]
    #[derive(Clone, Debug, PartialEq, Entity)]
    #[entity(table = "ListedPeople", crate = table_patterns)]
    #[partition_key(department)]
    #[row_key("empid_", id)]
    #[index_entity(ByLastName, at_most = 100, row_key("lastname_", escaped(last_name)))]
    #[index_entity(
        Namesakes,
        at_most = 200,
        table = "ListedNames",
        partition_key(escaped(last_name)),
        row_key("all")
    )]
    struct Employee {
        department: String,
        #[digits(6)]
        id: u32,
        last_name: String,
    }
    let Some(connection) = crate::azurite() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let blobs = AzureBlobs::from_connection_string(&connection).unwrap();
        blobs.create_container("lists").await.unwrap();
        let container: Arc<dyn ObjectStore> = Arc::new(blobs.container("lists").unwrap());
        let store = AzureTables::from_connection_string(&connection).unwrap();
        let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("lists").unwrap());
        outbox.create_queues().await.unwrap();
        let employees = store
            .indexed_through::<Employee, _>(outbox.clone())
            .with_list_blobs(ListBlobs::new(Arc::clone(&container), "indexes").beyond(2))
            .create_if_missing()
            .await
            .unwrap();
        let jones = |id| Employee { department: "Sales".into(), id, last_name: "Jones / Cao".into() };
        for id in 1..=4 {
            employees.insert(&jones(id)).await.unwrap();
        }
        employees.delete(Employee::key("Sales", 2), IfMatch::Any).await.unwrap();
        Worker::new(outbox).settles(&employees).run_until_idle().await.unwrap();

        let ids = |found: Vec<Versioned<Employee>>| found.iter().map(|one| one.id).collect::<Vec<_>>();
        let here = employees.look_up(Employee::by_last_name("Sales", "Jones / Cao")).await.unwrap();
        assert_eq!(ids(here), [1, 3, 4]);
        let elsewhere = employees.look_up_eventual(Employee::namesakes("Jones / Cao")).await.unwrap();
        assert_eq!(ids(elsewhere), [1, 3, 4]);
        // The list in the partition went over two keys and is in a blob; each change since left the blob before.
        let folder = Path::from("indexes/lists/listedpeople");
        let listed: Vec<_> = container.list(Some(&folder)).try_collect().await.unwrap();
        assert_eq!(listed.len(), 3);
        let collected = employees.collect_orphaned_lists().await.unwrap();
        assert_eq!((collected.marked, collected.removed), (0, 0), "all are younger than a day");
        assert!(employees.check().run().await.unwrap().is_clean());
    });
}
