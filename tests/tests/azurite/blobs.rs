//! Tests blobs that `object_store` reads and writes with the connection string of the account (BLB rules). Also tests index lists in blobs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::TryStreamExt;
use object_store::azure::MicrosoftAzure;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, Error, GetOptions, MultipartUpload, ObjectStore, ObjectStoreExt, PutMode,
    PutPayload, PutResult, UpdateVersion,
};
use table_azure::{AzureBlobs, AzureTables};
use table_core::ErrorCode;
use table_core::embedded::Clock;
use table_core::ticks;
use table_patterns::EntityStore;
use table_patterns::index::ListBlobs;
use table_patterns::log_blobs::{LogKind, LogReader, LogWriter};
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;
use table_patterns::{Engine, Entity, IfMatch, QueueName, Versioned};

/// Runs a test in a separate container. The test is skipped if Azurite is not available.
fn in_container(name: &str, test: impl AsyncFnOnce(&AzureBlobs, MicrosoftAzure)) {
    let Some(connection) = crate::azurite() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let blobs = AzureBlobs::from_connection_string(&connection).unwrap();
        assert!(blobs.create_container(name).await.unwrap());
        let container = blobs.container(name).unwrap();
        test(&blobs, container).await;
    });
}

async fn put(store: &MicrosoftAzure, name: &str, content: &'static str) -> PutResult {
    store.put(&Path::from(name), PutPayload::from(content)).await.unwrap()
}

async fn content(store: &MicrosoftAzure, name: &str) -> String {
    let found = store.get(&Path::from(name)).await.unwrap().bytes().await.unwrap();
    String::from_utf8(found.to_vec()).unwrap()
}

fn version(result: &PutResult) -> UpdateVersion {
    UpdateVersion { e_tag: result.e_tag.clone(), version: result.version.clone() }
}

#[test]
fn blb_1_names_are_case_sensitive_and_containers_plain() {
    in_container("names", async |blobs, store| {
        assert!(!format!("{blobs:?} {blobs}").contains("Eby8"), "no key is printed");
        assert!(!blobs.create_container("names").await.unwrap(), "BLB-2: it is there already");
        for name in ["Photos", "a--b", "-a", "a"] {
            let error = blobs.create_container(name).await.unwrap_err();
            assert_eq!(error.code().status(), 400, "{name}: {error}");
        }
        let long = format!("long/{}", "x".repeat(1_024 - 5));
        for (name, content) in
            [("a/b", "1"), ("a/B", "2"), ("a", "3"), ("2026/11/a b+é.jpg", "4"), (&long, "5")]
        {
            put(&store, name, content).await;
        }
        assert_eq!(content(&store, "a/b").await + &content(&store, "a/B").await, "12");
        assert_eq!(content(&store, "2026/11/a b+é.jpg").await, "4");
        assert_eq!(content(&store, &long).await, "5");
    });
}

#[test]
fn blb_2_and_3_a_put_replaces_the_blob_under_a_new_version() {
    in_container("whole", async |_, store| {
        let first = put(&store, "x", "first and longer").await;
        let second = put(&store, "x", "second").await;
        assert!(first.e_tag.is_some() && first.e_tag != second.e_tag);
        let head = store.head(&Path::from("x")).await.unwrap();
        assert_eq!((head.size, head.e_tag), (6, second.e_tag));
        assert_eq!(content(&store, "x").await, "second");
        store.delete(&Path::from("x")).await.unwrap();
        assert!(matches!(store.get(&Path::from("x")).await, Err(Error::NotFound { .. })));
    });
}

#[test]
fn blb_5_and_6_blocks_become_content_in_the_order_of_the_put_list() {
    in_container("blocks", async |_, store| {
        let name = Path::from("x");
        put(&store, "x", "before").await;
        let mut upload = store.put_multipart(&name).await.unwrap();
        // The second part is uploaded first, but the block list determines the order of the parts.
        let (first, second) = (upload.put_part("one ".into()), upload.put_part("two".into()));
        second.await.unwrap();
        first.await.unwrap();
        assert_eq!(content(&store, "x").await, "before");
        upload.complete().await.unwrap();
        assert_eq!(content(&store, "x").await, "one two");
        let mut given_up = store.put_multipart(&name).await.unwrap();
        given_up.put_part("three".into()).await.unwrap();
        given_up.abort().await.unwrap();
        assert_eq!(content(&store, "x").await, "one two");
    });
}

#[test]
fn blb_7_ranges_are_limited_to_the_blob() {
    in_container("ranges", async |_, store| {
        put(&store, "x", "hello world").await;
        let name = Path::from("x");
        assert_eq!(store.get_range(&name, 1..3).await.unwrap(), "el");
        assert_eq!(store.get_range(&name, 6..99).await.unwrap(), "world");
        let from = GetOptions::new().with_range(Some(4..));
        let found = store.get_opts(&name, from).await.unwrap();
        assert_eq!((found.range.clone(), found.meta.size), (4..11, 11));
        assert_eq!(found.bytes().await.unwrap(), "o world");
        assert!(store.get_range(&name, 11..12).await.is_err(), "InvalidRange");
    });
}

#[test]
fn blb_8_conditions_apply_to_writes_and_reads() {
    in_container("conditions", async |_, store| {
        let name = Path::from("x");
        let put_if =
            |content: &'static str, mode: PutMode| store.put_opts(&name, content.into(), mode.into());
        let first = put_if("first", PutMode::Create).await.unwrap();
        let again = put_if("again", PutMode::Create).await;
        assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
        let second = put_if("second", PutMode::Update(version(&first))).await.unwrap();
        let stale = put_if("stale", PutMode::Update(version(&first))).await;
        assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
        assert_eq!(content(&store, "x").await, "second");
        let unchanged = store.get_opts(&name, GetOptions::new().with_if_none_match(second.e_tag)).await;
        assert!(matches!(unchanged, Err(Error::NotModified { .. })), "{unchanged:?}");
        let changed = store.get_opts(&name, GetOptions::new().with_if_match(first.e_tag)).await;
        assert!(matches!(changed, Err(Error::Precondition { .. })), "{changed:?}");
    });
}

#[test]
fn blb_9_metadata_is_replaced_as_a_whole() {
    in_container("metadata", async |_, store| {
        let name = Path::from("x");
        let with = |pairs: &[(&'static str, &'static str)]| {
            let attributes: Attributes =
                pairs.iter().map(|(name, value)| (Attribute::Metadata((*name).into()), *value)).collect();
            object_store::PutOptions { attributes, ..Default::default() }
        };
        store.put_opts(&name, "x".into(), with(&[("Owner", "Sales"), ("Year", "2026")])).await.unwrap();
        let said = async || {
            let attributes = store.get(&name).await.unwrap().attributes;
            let mut pairs: Vec<String> = attributes
                .iter()
                .filter_map(|(name, value)| match name {
                    // Metadata names are compared case-insensitively (BLB-9), like HTTP header names.
                    Attribute::Metadata(name) => Some(format!("{}={}", name.to_lowercase(), value.as_ref())),
                    _ => None,
                })
                .collect();
            pairs.sort();
            pairs
        };
        assert_eq!(said().await, ["owner=Sales", "year=2026"]);
        store.put_opts(&name, "y".into(), with(&[("Owner", "HR")])).await.unwrap();
        assert_eq!(said().await, ["owner=HR"]);
    });
}

#[test]
fn blb_10_a_listing_of_a_prefix_is_ordered_and_can_stop_at_a_delimiter() {
    in_container("lists", async |_, store| {
        for name in ["2027/x", "2026/11/b", "2026/11/a", "2026/12/a", "2026/z"] {
            put(&store, name, "1").await;
        }
        let names = |found: Vec<object_store::ObjectMeta>| -> Vec<String> {
            found.into_iter().map(|object| object.location.to_string()).collect()
        };
        let prefix = Path::from("2026");
        let all: Vec<_> = store.list(Some(&prefix)).try_collect().await.unwrap();
        assert_eq!(names(all), ["2026/11/a", "2026/11/b", "2026/12/a", "2026/z"]);
        let folder = store.list_with_delimiter(Some(&prefix)).await.unwrap();
        assert_eq!(folder.common_prefixes, [Path::from("2026/11"), Path::from("2026/12")]);
        assert_eq!(names(folder.objects), ["2026/z"]);
        let none: Vec<_> = store.list(Some(&Path::from("2028"))).try_collect().await.unwrap();
        assert_eq!(names(none), Vec::<String>::new());
    });
}

#[test]
fn blb_11_nothing_is_found_without_the_container() {
    let Some(connection) = crate::azurite() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let blobs = AzureBlobs::from_connection_string(&connection).unwrap();
        let (store, name) = (blobs.container("missing").unwrap(), Path::from("x"));
        for error in [
            store.put(&name, "x".into()).await.unwrap_err(),
            store.get(&name).await.unwrap_err(),
            store.head(&name).await.unwrap_err(),
        ] {
            assert!(matches!(error, Error::NotFound { .. }), "{error}");
        }
        let error = store.list(None).try_collect::<Vec<_>>().await.unwrap_err();
        assert!(error.to_string().contains("ContainerNotFound"), "{error}");
    });
}

#[test]
fn ex_28_put_conditional_put_range_list_and_delete() {
    in_container("photos", async |_, store| {
        let name = Path::from("00001.txt");
        let attributes: Attributes =
            [(Attribute::ContentType, "text/plain"), (Attribute::Metadata("Owner".into()), "Sales")]
                .into_iter()
                .collect();
        let options = object_store::PutOptions { attributes, ..Default::default() };
        store.put_opts(&name, "hello world".into(), options).await.unwrap();
        let again = store.put_opts(&name, "x".into(), PutMode::Create.into()).await;
        assert!(matches!(again, Err(Error::AlreadyExists { .. })));
        let found = store.get_opts(&name, GetOptions::new().with_range(Some(0..5))).await.unwrap();
        assert_eq!((found.range.clone(), found.meta.size), (0..5, 11));
        assert_eq!(found.attributes.get(&Attribute::ContentType).unwrap().as_ref(), "text/plain");
        assert_eq!(found.bytes().await.unwrap(), "hello");
        let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert_eq!(
            listed.iter().map(|object| (&object.location, object.size)).collect::<Vec<_>>(),
            [(&name, 11)]
        );
        store.delete(&name).await.unwrap();
        assert!(matches!(store.get(&name).await, Err(Error::NotFound { .. })));
    });
}

/// Tests that a log is stored like the service's own logs. It consists of block blobs in a container, which are listed and then read by name.
///
/// Azurite returns metadata names in lower case (BLB-9). Blobs outside the requested time range must be skipped nevertheless.
#[test]
fn log_1_4_and_5_a_log_is_blobs_of_a_container_and_only_matching_ones_are_read() {
    in_container("logs", async |_, store| {
        let start: chrono::DateTime<chrono::Utc> = "2014-07-31T18:05:00Z".parse().unwrap();
        let now = Arc::new(AtomicU64::new(ticks::from_datetime(start).unwrap()));
        let hand = Arc::clone(&now);
        let clock = Clock::new(move || hand.load(Ordering::Relaxed));
        let store: Arc<dyn ObjectStore> = Arc::new(store);
        let mut log = LogWriter::new(Arc::clone(&store), "queue").unwrap().with_clock(clock).flush_at(1);
        log.append(LogKind::Write, ["PutMessage", "a;b"]).unwrap();
        now.fetch_add(60 * 10_000_000, Ordering::Relaxed);
        log.append(LogKind::Read, ["GetMessages"]).unwrap();
        assert_eq!(log.flush().await.unwrap(), 2);
        let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
        let names: Vec<_> = listed.iter().map(|object| object.location.as_ref()).collect();
        assert_eq!(names, ["queue/2014/07/31/1800/000000.log", "queue/2014/07/31/1800/000001.log"]);

        // Replaces the content of the second blob with invalid text, but keeps its metadata. If a read matches only the first blob, it must not notice the
        // change.
        let second = Path::from(names[1]);
        let attributes = store.get(&second).await.unwrap().attributes;
        store.put_opts(&second, "broken".into(), attributes.into()).await.unwrap();
        let reader = LogReader::new(store, "queue").unwrap();
        let (minute, hour) = (chrono::TimeDelta::minutes(1), chrono::TimeDelta::hours(1));
        let writes = reader.collect(start, start + hour, &[LogKind::Write]).await.unwrap();
        assert_eq!(writes.iter().map(|line| &line.fields[..]).collect::<Vec<_>>(), [["PutMessage", "a;b"]]);
        assert_eq!(reader.collect(start, start + minute, &LogKind::ALL).await.unwrap(), writes);
        let all = reader.collect(start, start + hour, &LogKind::ALL).await;
        assert_eq!(all.unwrap_err().code(), ErrorCode::Corrupted);
    });
}

#[test]
fn blb_2_a_container_is_deleted_with_all_its_blobs() {
    in_container("gone", async |blobs, store| {
        put(&store, "x", "content").await;
        assert!(blobs.delete_container("gone").await.unwrap());
        assert!(!blobs.delete_container("gone").await.unwrap(), "it is not there any more");
        assert!(matches!(store.get(&Path::from("x")).await, Err(Error::NotFound { .. })));
    });
}

/// Tests an index whose lists are in blobs of the same account as the indexed entities (PAT-IX option 1).
#[test]
fn pat_ix_4_lists_in_blobs_of_an_account() {
    #[expect(
        clippy::duplicated_attributes,
        reason = "each index has separate attributes, which clippy mistakes for duplicates"
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
        blobs.create_container("index-lists").await.unwrap();
        let container: Arc<dyn ObjectStore> = Arc::new(blobs.container("index-lists").unwrap());
        let store = AzureTables::from_connection_string(&connection).unwrap();
        let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("lists").unwrap());
        outbox.create_queues().await.unwrap();
        let employees = store
            .entities_with_outbox::<Employee, _>(outbox.clone())
            .with_list_blobs(ListBlobs::new(Arc::clone(&container), "indexes").spill_above(2))
            .create_if_missing()
            .await
            .unwrap();
        let jones = |id| Employee { department: "Sales".into(), id, last_name: "Jones / Cao".into() };
        for id in 1..=4 {
            employees.insert(&jones(id)).await.unwrap();
        }
        employees.delete(Employee::key("Sales", 2), IfMatch::Any).await.unwrap();
        Worker::new(outbox).with_index_handler(&employees).run_until_idle().await.unwrap();

        let ids = |found: Vec<Versioned<Employee>>| found.iter().map(|one| one.id).collect::<Vec<_>>();
        let here = employees.get_by_index(Employee::by_last_name("Sales", "Jones / Cao")).await.unwrap();
        assert_eq!(ids(here), [1, 3, 4]);
        let elsewhere = employees.get_by_index_eventual(Employee::namesakes("Jones / Cao")).await.unwrap();
        assert_eq!(ids(elsewhere), [1, 3, 4]);
        // The list in the partition exceeded two keys, and moved to a blob. Each later change wrote a new blob, and left the previous one behind.
        let folder = Path::from("indexes/lists/listedpeople");
        let listed: Vec<_> = container.list(Some(&folder)).try_collect().await.unwrap();
        assert_eq!(listed.len(), 3);
        let collected = employees.collect_orphaned_lists().await.unwrap();
        assert_eq!((collected.marked, collected.removed), (0, 0), "all are younger than a day");
        assert!(employees.check().run().await.unwrap().is_clean());
    });
}
