//! Blobs by `object_store` (BLB-2, BLB-3, BLB-7, BLB-8, BLB-10).

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use table_azure::AzureBlobs;

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
        assert!(blobs.delete_container("photos").await.unwrap());
        assert!(!blobs.delete_container("photos").await.unwrap());
        assert!(matches!(store.get(&two).await, Err(object_store::Error::NotFound { .. })));
    });
}
