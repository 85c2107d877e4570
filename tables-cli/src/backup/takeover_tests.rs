//! Tests that a command does no damage if it pauses at a request to an object store, and continues after another command has taken over the lock. Also tests that
//! a command keeps the lock if answers to its requests are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fmt, thread};

use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};

use super::capture::{CaptureOptions, capture};
use super::storage::objects::Objects;
use super::verify::verify;
use super::{Contents, Repository};

/// A gate at which the first matching request waits until the test opens it.
#[derive(Debug, Default)]
struct Gate {
    is_reached: AtomicBool,
    is_open: AtomicBool,
}

/// An object store that pauses a command after a given number of writes to a folder.
#[derive(Debug)]
struct Pausing {
    store: Arc<dyn ObjectStore>,
    /// The string that the path of an object must contain for a write to be counted.
    folder: &'static str,
    /// The number of counted writes before the pause.
    before: usize,
    writes: std::sync::atomic::AtomicUsize,
    gate: Arc<Gate>,
    /// `true` if the store executes each creation of an object, but the client does not receive the answer and sends the request again.
    loses_answers: bool,
}

impl fmt::Display for Pausing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pausing {}", self.store)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Pausing {
    async fn put_opts(
        &self,
        location: &ObjectPath,
        payload: PutPayload,
        options: PutOptions,
    ) -> object_store::Result<PutResult> {
        let is_counted = location.as_ref().contains(self.folder);
        if is_counted && self.writes.fetch_add(1, Ordering::SeqCst) == self.before {
            self.gate.is_reached.store(true, Ordering::SeqCst);
            while !self.gate.is_open.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
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
        self.store.get_opts(location, options).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<ObjectPath>>,
    ) -> BoxStream<'static, object_store::Result<ObjectPath>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> object_store::Result<ListResult> {
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

fn repository(store: Arc<dyn ObjectStore>) -> crate::failure::Result<Repository> {
    let objects = Objects::new(store, ObjectPath::from("prefix"), "the store")?;
    Repository::create_in(Arc::new(objects.with_timeout(Duration::ZERO)), "a store")
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn back_up(objects: Arc<dyn ObjectStore>, store: &DynTableStore) -> crate::failure::Result<String> {
    let repository = repository(objects)?;
    let captured = block_on(capture(&repository, store, &CaptureOptions::default()))?;
    Ok(captured.generation.id)
}

/// The additional actions of the command that takes over the lock.
#[derive(Clone, Copy, Debug)]
struct TakeOver {
    /// The command removes the progress of the paused backup.
    forgets_work: bool,
    /// The command removes all generations except the newest one.
    keeps_one: bool,
}

/// Pauses a backup before one of its writes. Meanwhile, another command takes over the lock, backs up a different state, and removes files that no generation
/// needs. Returns `false` if the backup completes without reaching the write.
fn pause(folder: &'static str, before: usize, take_over: TakeOver) -> bool {
    let (objects, gate): (Arc<dyn ObjectStore>, _) = (Arc::new(InMemory::new()), Arc::new(Gate::default()));
    let store = DynTableStore::new(Engine::in_memory());
    let table = block_on(store.untyped("Things").unwrap().create_if_missing()).unwrap();
    let put = |row: &str| {
        block_on(table.insert_or_replace(&TableEntity::new("p", row).unwrap().with("A", row.to_owned())))
            .unwrap();
    };
    put("1");
    back_up(objects.clone(), &store).unwrap();
    put("2");
    let paused = Pausing {
        store: objects.clone(),
        folder,
        before,
        writes: std::sync::atomic::AtomicUsize::new(0),
        gate: gate.clone(),
        loses_answers: false,
    };
    let case = format!("{folder} {before} {take_over:?}");
    let has_paused = thread::scope(|scope| {
        let slow = scope.spawn(|| back_up(Arc::new(paused), &store));
        while !gate.is_reached.load(Ordering::SeqCst) && !slow.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        let has_paused = gate.is_reached.load(Ordering::SeqCst);
        if has_paused {
            let other = repository(objects.clone()).unwrap();
            if take_over.forgets_work {
                // As after a backup in the other format, no recorded progress remains.
                other.storage().remove("working.json").unwrap();
                put("3");
            }
            block_on(capture(&other, &store, &CaptureOptions { layers: 1, ..CaptureOptions::default() }))
                .unwrap();
            if take_over.keeps_one {
                let ids = other.ids().unwrap();
                ids.iter().rev().skip(1).for_each(|id| other.remove(id).unwrap());
            }
            other.collect().unwrap();
            gate.is_open.store(true, Ordering::SeqCst);
        }
        let id = slow.join().unwrap();
        assert!(id.is_ok() || has_paused, "{case}: {id:?}");
        has_paused
    });
    let last = repository(objects).unwrap();
    let found = block_on(verify(&last)).unwrap();
    assert!(found.damage.is_empty(), "{case}: {found:?}");
    let Contents::Rows { tables } = last.newest().unwrap().unwrap().contents else { panic!("{case}") };
    let rows = if has_paused && take_over.forgets_work { 3 } else { 2 };
    assert_eq!(tables.iter().map(|table| table.rows).sum::<u64>(), rows, "{case}");
    has_paused
}

#[test]
fn a_paused_backup_completes_no_generation_whose_files_were_removed() {
    let mut pauses = 0;
    for folder in ["generations/", "locks/", "working.json"] {
        for (forgets_work, keeps_one) in [(false, false), (false, true), (true, false), (true, true)] {
            let take_over = TakeOver { forgets_work, keeps_one };
            pauses += (0..20).take_while(|before| pause(folder, *before, take_over)).count();
        }
    }
    assert!(pauses > 8, "{pauses}");
}

/// Returns the number of writes to a folder of the repository while a store is backed up.
fn writes(folder: &'static str, store: &DynTableStore, options: &CaptureOptions) -> usize {
    let counting = Arc::new(Pausing {
        store: Arc::new(InMemory::new()),
        folder,
        before: usize::MAX,
        writes: std::sync::atomic::AtomicUsize::new(0),
        gate: Arc::default(),
        loses_answers: false,
    });
    let objects = Objects::new(counting.clone(), ObjectPath::from("prefix"), "the store").unwrap();
    let objects = objects.with_timeout(Duration::ZERO).with_renewal(Duration::ZERO);
    let repository = Repository::create_in(Arc::new(objects), "a store").unwrap();
    block_on(capture(&repository, store, options)).unwrap();
    counting.writes.load(Ordering::SeqCst)
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

/// Tests that a backup with `--settle` renews the lock while it compares unchanged rows, although it writes nothing meanwhile.
#[test]
fn the_lock_is_renewed_while_equal_rows_are_compared() {
    let store = DynTableStore::new(Engine::in_memory());
    let table = block_on(store.untyped("Things").unwrap().create_if_missing()).unwrap();
    for row in 0..50 {
        block_on(table.insert(&TableEntity::new("p", format!("{row:02}")).unwrap())).unwrap();
    }
    let renewals = |settle: bool| {
        writes("locks/", &store, &CaptureOptions { settle, pause: Duration::ZERO, ..CaptureOptions::default() })
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
        let losing = Pausing {
            store: objects.clone(),
            folder: "locks/",
            before: usize::MAX,
            writes: std::sync::atomic::AtomicUsize::new(0),
            gate: Arc::default(),
            loses_answers: true,
        };
        back_up(Arc::new(losing), &store).unwrap();
    }
    let last = repository(objects).unwrap();
    assert_eq!(last.ids().unwrap().len(), 3);
    assert!(block_on(verify(&last)).unwrap().damage.is_empty());
}
