//! Tests that a command corrupts nothing if it pauses at a request to an object store and continues after another command has taken over the lock. Also tests
//! that a command keeps the lock if responses to its requests are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fmt, thread};

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_core::{DynTableStore, Engine, TableEntity, TableName, TableStoreExt};

use super::capture::{CaptureOptions, capture};
use super::files::capture_files;
use super::storage::objects::Objects;
use super::verify::verify;
use super::{Contents, Repository};
use crate::hooked::{Hooked, Hooks};

/// Counts the requests of a command, and pauses the command at one of them until the test opens the gate.
#[derive(Debug, Default)]
struct Stop {
    /// The string that the location of a request must contain for the request to be counted.
    folder: &'static str,
    /// The number of counted requests before the pause.
    before: usize,
    requests: AtomicUsize,
    /// The number of counted requests that create or replace an object.
    writes: AtomicUsize,
    is_reached: AtomicBool,
    is_open: AtomicBool,
}

impl Stop {
    /// Counts a request, and waits at the gate if the command pauses at this request.
    async fn pass(&self, location: &str) {
        if location.contains(self.folder) && self.requests.fetch_add(1, Ordering::SeqCst) == self.before {
            self.is_reached.store(true, Ordering::SeqCst);
            while !self.is_open.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }
}

/// An object store that pauses a command at a request.
#[derive(Debug)]
struct Pausing {
    store: Arc<dyn ObjectStore>,
    stop: Arc<Stop>,
    /// `true` if the store executes each creation of an object, but the client does not receive the response and sends the request again.
    loses_answers: bool,
}

impl fmt::Display for Pausing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pausing {}", self.store)
    }
}

/// Returns the location of a list request, which ends with a slash like the folder that it lists.
fn folder_of(prefix: Option<&ObjectPath>) -> String {
    prefix.map(|prefix| format!("{prefix}/")).unwrap_or_default()
}

#[async_trait::async_trait]
impl ObjectStore for Pausing {
    async fn put_opts(
        &self,
        location: &ObjectPath,
        payload: PutPayload,
        options: PutOptions,
    ) -> object_store::Result<PutResult> {
        if location.as_ref().contains(self.stop.folder) {
            self.stop.writes.fetch_add(1, Ordering::SeqCst);
        }
        self.stop.pass(location.as_ref()).await;
        if self.loses_answers && options.mode == PutMode::Create {
            let _ = self.store.put_opts(location, payload.clone(), options.clone()).await;
        }
        self.store.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> object_store::Result<GetResult> {
        self.stop.pass(location.as_ref()).await;
        self.store.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<ObjectPath>>,
    ) -> BoxStream<'static, object_store::Result<ObjectPath>> {
        let stop = self.stop.clone();
        let passed = locations.then(move |location| {
            let stop = stop.clone();
            async move {
                if let Ok(location) = &location {
                    stop.pass(location.as_ref()).await;
                }
                location
            }
        });
        self.store.delete_stream(passed.boxed())
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        let (stop, store, prefix) = (self.stop.clone(), self.store.clone(), prefix.cloned());
        let listed = async move {
            stop.pass(&folder_of(prefix.as_ref())).await;
            store.list(prefix.as_ref())
        };
        stream::once(listed).flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> object_store::Result<ListResult> {
        self.stop.pass(&folder_of(prefix)).await;
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &ObjectPath,
        to: &ObjectPath,
        options: CopyOptions,
    ) -> object_store::Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}

/// A store of tables that pauses a command at a query.
#[derive(Debug)]
struct Stopping {
    engine: Engine,
    stop: Arc<Stop>,
}

/// The location of all queries.
const QUERY: &str = "a query";

impl Hooks for Stopping {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        self.stop.pass(QUERY).await;
        Ok(())
    }
}

fn repository(store: Arc<dyn ObjectStore>) -> crate::failure::Result<Repository> {
    let objects = Objects::new(store, ObjectPath::from("prefix"), "the store")?;
    Repository::create_in(Arc::new(objects.with_timeout(Duration::ZERO)), "a store")
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Returns options with which the progress is recorded after each row.
fn options(settle: bool) -> CaptureOptions {
    CaptureOptions { settle, pause: Duration::ZERO, page: 1, ..CaptureOptions::default() }
}

fn back_up(
    objects: Arc<dyn ObjectStore>,
    store: &DynTableStore,
    settle: bool,
) -> crate::failure::Result<String> {
    let repository = repository(objects)?;
    let captured = block_on(capture(&repository, store, &options(settle)))?;
    Ok(captured.generation.id)
}

/// The additional actions of the command that takes over the lock.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the actions are independent of each other")]
struct TakeOver {
    /// The command removes the progress of the paused backup.
    forgets_work: bool,
    /// The command removes all generations except the newest one.
    keeps_one: bool,
    /// The command fails at its first query and releases the lock. Another command then continues the backup.
    fails: bool,
    /// The commands compare each table with its backup again.
    settles: bool,
}

/// The tables that are backed up.
const TABLES: [&str; 2] = ["Things", "Users"];

/// A store of tables whose queries fail.
#[derive(Debug)]
struct Failing(Engine);

impl Hooks for Failing {
    fn engine(&self) -> &Engine {
        &self.0
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        Err(table_core::Query::parse("V gt").unwrap_err())
    }
}

/// Pauses a backup before one of its requests. Meanwhile, another command takes over the lock, backs up a different state, and removes files that no generation
/// needs. Returns `false` if the backup completes without reaching the request.
fn pause(folder: &'static str, before: usize, take_over: TakeOver) -> bool {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let engine = Engine::in_memory();
    let store = DynTableStore::new(engine.clone());
    let put_value = |row: &str, value: &str| {
        for table in TABLES {
            let table = block_on(store.untyped(table).unwrap().create_if_missing()).unwrap();
            let entity = TableEntity::new("p", row).unwrap().with("A", value.to_owned());
            block_on(table.insert_or_replace(&entity)).unwrap();
        }
    };
    let put = |row: &str| put_value(row, row);
    put("1");
    back_up(objects.clone(), &store, false).unwrap();
    put("2");
    put("3");
    let stop = Arc::new(Stop { folder, before, ..Stop::default() });
    let paused = Pausing { store: objects.clone(), stop: stop.clone(), loses_answers: false };
    let case = format!("{folder} {before} {take_over:?}");
    let has_paused = thread::scope(|scope| {
        let stopping = Stopping { engine: engine.clone(), stop: stop.clone() };
        let slow = scope.spawn(|| {
            back_up(Arc::new(paused), &DynTableStore::new(Hooked(Arc::new(stopping))), take_over.settles)
        });
        while !stop.is_reached.load(Ordering::SeqCst) && !slow.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        let has_paused = stop.is_reached.load(Ordering::SeqCst);
        if has_paused {
            if take_over.fails {
                let failing = DynTableStore::new(Hooked(Arc::new(Failing(engine.clone()))));
                // The backup succeeds if no table is left to read.
                let _ = back_up(objects.clone(), &failing, false);
            }
            // The other command then writes different bytes.
            put_value("3", "changed");
            let other = repository(objects.clone()).unwrap();
            if take_over.forgets_work {
                // As after a backup in the `files` format, no recorded progress remains.
                other.storage().remove("working.json").unwrap();
                put("4");
            }
            let options = CaptureOptions { layers: 1, ..options(take_over.settles) };
            block_on(capture(&other, &store, &options)).unwrap();
            if take_over.keeps_one {
                let ids = other.ids().unwrap();
                ids.iter().rev().skip(1).for_each(|id| other.remove(id).unwrap());
            }
            other.collect().unwrap();
            stop.is_open.store(true, Ordering::SeqCst);
        }
        let id = slow.join().unwrap();
        assert!(id.is_ok() || has_paused, "{case}: {id:?}");
        has_paused
    });
    // The paused command may have recorded its progress after it had lost the lock. The second backup continues from such a record.
    for round in 0..2 {
        let last = repository(objects.clone()).unwrap();
        let found = block_on(verify(&last)).unwrap();
        assert!(found.damage.is_empty(), "{case}, round {round}: {found:?}");
        let Contents::Rows { tables } = last.newest().unwrap().unwrap().contents else { panic!("{case}") };
        let rows = if has_paused && take_over.forgets_work { 4 } else { 3 };
        let sum = tables.iter().map(|table| table.rows).sum::<u64>();
        assert_eq!(sum, rows * 2, "{case}, round {round}");
        drop(last);
        back_up(objects.clone(), &store, false).unwrap();
    }
    has_paused
}

#[test]
fn a_command_that_pauses_at_any_request_damages_no_generation_of_its_successor() {
    for folder in ["generations/", "locks/", "working.json", "rows/", QUERY] {
        let mut pauses = 0;
        for (forgets_work, keeps_one, fails, settles) in [
            (false, false, false, false),
            (false, true, false, true),
            (false, false, true, false),
            (true, false, false, true),
            (true, true, false, false),
        ] {
            let take_over = TakeOver { forgets_work, keeps_one, fails, settles };
            pauses += (0..200).take_while(|before| pause(folder, *before, take_over)).count();
        }
        assert!(pauses > 8, "{folder}: {pauses}");
    }
}

/// Opens a repository whose files have an object for each MiB.
fn files_repository(store: Arc<dyn ObjectStore>) -> crate::failure::Result<Repository> {
    let objects = Objects::new(store, ObjectPath::from("prefix"), "the store")?;
    // Without a renewal interval, a command is refused at its first request after it has lost the lock.
    let objects = objects.with_timeout(Duration::ZERO).with_renewal(Duration::ZERO).with_segment(1);
    Repository::create_in(Arc::new(objects), "a store")
}

/// The objects of an engine file that an interrupted backup has left behind.
#[derive(Clone, Copy, Debug)]
enum Rest {
    None,
    First,
    Last,
    All,
}

/// Pauses a backup of engine files before one of its requests for files. Meanwhile, another command takes over the lock and backs up the same engine. Returns
/// `false` if the backup completes without reaching the request.
fn pause_files(engine: &Engine, before: usize, rest: Rest) -> bool {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let back_up = |store: Arc<dyn ObjectStore>| {
        block_on(capture_files(&files_repository(store)?, engine)).map(|captured| captured.generation.id)
    };
    let begun = back_up(objects.clone()).unwrap();
    files_repository(objects.clone()).unwrap().remove(&begun).unwrap();
    let files = ObjectPath::from("prefix/files");
    let mut listed: Vec<_> = block_on(objects.list(Some(&files)).try_collect()).unwrap();
    listed.sort_by(|left, right| left.location.cmp(&right.location));
    assert!(listed.len() > 2, "{listed:?}");
    let last = listed.len() - 1;
    for (at, object) in listed.iter().enumerate() {
        let is_left = match rest {
            Rest::None => false,
            Rest::First => at == 0,
            Rest::Last => at == last,
            Rest::All => true,
        };
        if !is_left {
            block_on(objects.delete(&object.location)).unwrap();
        }
    }
    let stop = Arc::new(Stop { folder: "files/", before, ..Stop::default() });
    let paused = Pausing { store: objects.clone(), stop: stop.clone(), loses_answers: false };
    let has_paused = thread::scope(|scope| {
        let slow = scope.spawn(|| back_up(Arc::new(paused)));
        while !stop.is_reached.load(Ordering::SeqCst) && !slow.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        let has_paused = stop.is_reached.load(Ordering::SeqCst);
        if has_paused {
            back_up(objects.clone()).unwrap();
            stop.is_open.store(true, Ordering::SeqCst);
        }
        let id = slow.join().unwrap();
        assert!(id.is_ok() || has_paused, "{before} {rest:?}: {id:?}");
        has_paused
    });
    let last = files_repository(objects).unwrap();
    let found = block_on(verify(&last)).unwrap();
    assert!(found.damage.is_empty() && found.generations > 0, "{before} {rest:?}: {found:?}");
    has_paused
}

#[test]
fn a_backup_of_engine_files_that_pauses_at_any_request_damages_no_file_of_its_successor() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(folder.path()).unwrap();
    let table = block_on(engine.untyped("Things").unwrap().create_if_missing()).unwrap();
    let mut random = StdRng::seed_from_u64(7);
    for row in 0..40 {
        let bytes: Vec<u8> = (0..60_000).map(|_| random.random()).collect();
        let entity = TableEntity::new("p", format!("{row:02}")).unwrap().with("A", bytes);
        block_on(table.insert(&entity)).unwrap();
    }
    let mut pauses = 0;
    for rest in [Rest::None, Rest::First, Rest::Last, Rest::All] {
        pauses += (0..100).take_while(|before| pause_files(&engine, *before, rest)).count();
    }
    assert!(pauses > 20, "{pauses}");
}

/// Returns the number of writes to a folder of the repository while a store is backed up.
fn writes(folder: &'static str, store: &DynTableStore, options: &CaptureOptions) -> usize {
    let stop = Arc::new(Stop { folder, before: usize::MAX, ..Stop::default() });
    let counting = Pausing { store: Arc::new(InMemory::new()), stop: stop.clone(), loses_answers: false };
    let objects = Objects::new(Arc::new(counting), ObjectPath::from("prefix"), "the store").unwrap();
    let objects = objects.with_timeout(Duration::ZERO).with_renewal(Duration::ZERO);
    let repository = Repository::create_in(Arc::new(objects), "a store").unwrap();
    block_on(capture(&repository, store, options)).unwrap();
    stop.writes.load(Ordering::SeqCst)
}

#[test]
fn the_progress_of_many_tables_is_not_written_after_each_table() {
    let store = DynTableStore::new(Engine::in_memory());
    for table in 0..400 {
        block_on(store.untyped(&format!("Table{table}")).unwrap().create_if_missing()).unwrap();
    }
    for (settle, passes) in [(false, 1), (true, 2)] {
        let options = CaptureOptions { settle, ..CaptureOptions::default() };
        let written = writes("working.json", &store, &options);
        assert!(written <= passes * 80, "{written} writes");
    }
}

/// Tests that a backup with `--settle` renews the lock while it compares unchanged rows, although it writes nothing during that time.
#[test]
fn the_lock_is_renewed_while_equal_rows_are_compared() {
    let store = DynTableStore::new(Engine::in_memory());
    let table = block_on(store.untyped("Things").unwrap().create_if_missing()).unwrap();
    for row in 0..50 {
        block_on(table.insert(&TableEntity::new("p", format!("{row:02}")).unwrap())).unwrap();
    }
    let renewals = |settle: bool| {
        writes(
            "locks/",
            &store,
            &CaptureOptions { settle, pause: Duration::ZERO, ..CaptureOptions::default() },
        )
    };
    assert!(renewals(true) >= renewals(false) + 50);
}

#[test]
fn a_command_recognises_its_own_lock_after_a_lost_answer() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let store = DynTableStore::new(Engine::in_memory());
    let table = block_on(store.untyped("Things").unwrap().create_if_missing()).unwrap();
    for row in 0..3 {
        block_on(table.insert(&TableEntity::new("p", row.to_string()).unwrap())).unwrap();
        let stop = Arc::new(Stop { before: usize::MAX, ..Stop::default() });
        let losing = Pausing { store: objects.clone(), stop, loses_answers: true };
        back_up(Arc::new(losing), &store, false).unwrap();
    }
    let last = repository(objects).unwrap();
    assert_eq!(last.ids().unwrap().len(), 3);
    assert!(block_on(verify(&last)).unwrap().damage.is_empty());
}
