//! Runs the random command sequences of the folder tests on object stores, with commands that can die at any request, and tests the lock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use rand::RngExt;
use rand::rngs::StdRng;
use table_core::{DynTableStore, Engine, TableEntity, TableStoreExt};

use super::capture::{CaptureOptions, capture};
use super::files::capture_files;
use super::generation::Generation;
use super::storage::Storage;
use super::storage::objects::Objects;
use super::tests::{Met, program};
use super::verify::{Verified, verify};
use super::{Contents, Repository};
use crate::failure::{Failure, Result};

/// An object store that simulates the death of a command at one of its requests, either before or after the store executes the request. All later requests
/// fail.
#[derive(Debug)]
struct Dying {
    store: Arc<dyn ObjectStore>,
    /// The number of remaining requests, including the one at which the command dies, or `usize::MAX` if the command does not die.
    left: AtomicUsize,
    /// `true` if the store executes the request at which the command dies.
    is_executed: bool,
    deaths: Arc<AtomicUsize>,
}

impl Dying {
    /// Advances to the next request. Returns `true` if the store executes the request, and `true` if the command receives the response.
    fn next(&self) -> (bool, bool) {
        let left = self.left.load(Ordering::Relaxed);
        if left == usize::MAX {
            return (true, true);
        }
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 1 {
            self.deaths.fetch_add(1, Ordering::Relaxed);
        }
        (left > 1 || (left == 1 && self.is_executed), left > 1)
    }

    async fn request<T>(
        &self,
        request: impl Future<Output = object_store::Result<T>>,
    ) -> object_store::Result<T> {
        let (is_executed, is_answered) = self.next();
        if is_executed {
            let done = request.await;
            if is_answered {
                return done;
            }
        }
        Err(died())
    }
}

fn died() -> object_store::Error {
    object_store::Error::Generic { store: "dying", source: "the command died".into() }
}

impl fmt::Display for Dying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dying {}", self.store)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Dying {
    async fn put_opts(
        &self,
        location: &ObjectPath,
        payload: PutPayload,
        options: PutOptions,
    ) -> object_store::Result<PutResult> {
        self.request(self.store.put_opts(location, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.request(self.store.put_multipart_opts(location, options)).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> object_store::Result<GetResult> {
        self.request(self.store.get_opts(location, options)).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<ObjectPath>>,
    ) -> BoxStream<'static, object_store::Result<ObjectPath>> {
        match self.next() {
            (true, true) => self.store.delete_stream(locations),
            (true, false) => self.store.delete_stream(locations).map(|_| Err(died())).boxed(),
            (false, _) => stream::iter([Err(died())]).boxed(),
        }
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        match self.next() {
            (true, true) => self.store.list(prefix),
            _ => stream::iter([Err(died())]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> object_store::Result<ListResult> {
        self.request(self.store.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(
        &self,
        from: &ObjectPath,
        to: &ObjectPath,
        options: CopyOptions,
    ) -> object_store::Result<()> {
        self.request(self.store.copy_opts(from, to, options)).await
    }
}

fn storage(store: Arc<dyn ObjectStore>) -> Arc<dyn Storage> {
    let objects = Objects::new(store, ObjectPath::from("some/prefix"), "the store").unwrap();
    Arc::new(objects.with_timeout(Duration::ZERO))
}

/// Runs random command sequences on a store. Each command may die at any of its requests.
async fn programs(seeds: std::ops::Range<u64>, store: impl Fn() -> Arc<dyn ObjectStore>) -> (Met, usize) {
    let (mut met, deaths) = (Met::default(), Arc::new(AtomicUsize::new(0)));
    for seed in seeds {
        let store = store();
        let open = |random: Option<&mut StdRng>| {
            let (mut left, mut is_executed) = (usize::MAX, false);
            if let Some(random) = random
                && random.random_bool(0.7)
            {
                (left, is_executed) = (random.random_range(1..60), random.random_bool(0.5));
            }
            let (store, deaths) = (store.clone(), deaths.clone());
            storage(Arc::new(Dying { store, left: AtomicUsize::new(left), is_executed, deaths }))
        };
        program(seed, &open, &mut met).await;
    }
    (met, deaths.load(Ordering::Relaxed))
}

#[tokio::test]
async fn programs_whose_commands_die_at_any_request_are_restored_at_every_generation() {
    let (met, deaths) = programs(1_000..1_060, || Arc::new(InMemory::new())).await;
    assert!(deaths > 100 && met.resumed > 20 && met.settled > 3 && met.removed > 10, "{deaths} {met:?}");
}

#[tokio::test]
async fn programs_are_restored_from_a_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let count = AtomicUsize::new(0);
    let store = || {
        let path = folder.path().join(count.fetch_add(1, Ordering::Relaxed).to_string());
        std::fs::create_dir(&path).unwrap();
        Arc::new(LocalFileSystem::new_with_prefix(path).unwrap().with_automatic_cleanup(true))
            as Arc<dyn ObjectStore>
    };
    let (met, deaths) = programs(2_000..2_010, store).await;
    assert!(deaths > 10 && met.removed > 0, "{deaths} {met:?}");
}

/// Returns a store with some generations of engine files and one generation of rows.
async fn filled(generations: usize) -> Arc<dyn ObjectStore> {
    let (objects, folder) = (Arc::new(InMemory::new()), tempfile::tempdir().unwrap());
    let engine = Engine::open(folder.path()).unwrap();
    let store = DynTableStore::new(engine.clone());
    let table = store.untyped("Company").unwrap().create_if_missing().await.unwrap();
    table.insert(&TableEntity::new("Sales", "1").unwrap()).await.unwrap();
    for _ in 0..generations {
        let repository = Repository::create_in(storage(objects.clone()), "a folder").unwrap();
        capture_files(&repository, &engine).await.unwrap();
    }
    let repository = Repository::create_in(storage(objects.clone()), "a folder").unwrap();
    capture(&repository, &store, &CaptureOptions::default()).await.unwrap();
    objects
}

/// Verifies the backups in a store in which one request fails. Also returns the number of requests.
async fn verified(store: &Arc<dyn ObjectStore>, failing: usize) -> (Result<Verified>, usize) {
    let left = AtomicUsize::new(failing);
    let dying = Arc::new(Dying { store: store.clone(), left, is_executed: false, deaths: Arc::default() });
    let verified = match Repository::open_in(storage(dying.clone())) {
        Ok(repository) => verify(&repository).await,
        Err(failure) => Err(failure),
    };
    (verified, failing - dying.left.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_failed_request_is_not_reported_as_damage() {
    let store = filled(2).await;
    let (intact, requests) = verified(&store, usize::MAX - 1).await;
    let intact = intact.unwrap();
    assert!(intact.damage.is_empty() && intact.generations == 3 && requests > 6, "{intact:?} {requests}");
    for failing in 1..=requests {
        let (failed, _) = verified(&store, failing).await;
        let is_temporary = matches!(failed, Err(Failure::File { .. } | Failure::Store(_)));
        assert!(is_temporary, "request {failing}: {failed:?}");
    }
}

#[tokio::test]
async fn engine_files_are_fetched_once_for_all_generations() {
    let (_, one) = verified(&filled(1).await, usize::MAX - 1).await;
    let (_, four) = verified(&filled(4).await, usize::MAX - 1).await;
    // Only the manifests of three more generations are read.
    assert_eq!(four - one, 3);
}

#[test]
fn a_lock_is_refused_while_it_is_renewed_and_taken_over_otherwise() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let first = storage(store.clone());
    let repository = Repository::create_in(first.clone(), "a").unwrap();
    // The holder renews the lock while another command waits for the lock.
    let patient = Objects::new(store.clone(), ObjectPath::from("some/prefix"), "the store").unwrap();
    let patient: Arc<dyn Storage> = Arc::new(patient.with_timeout(Duration::from_secs(2)));
    let refused = std::thread::scope(|scope| {
        let other = scope.spawn(|| Repository::create_in(patient, "a").map(drop));
        while !other.is_finished() {
            first.confirm(&[]).unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        other.join().unwrap().unwrap_err().to_string()
    });
    assert_eq!(refused, "another `tables backup` writes to the store; wait until it ends");
    // The holder does not renew the lock, so another command takes it over. The first holder can then no longer commit.
    let second = Repository::create_in(storage(store.clone()), "a").unwrap();
    let began = chrono::Utc::now();
    let contents = Contents::Rows { tables: Vec::new() };
    let generation = Generation { id: Generation::name(began), began, ended: began, contents };
    let lost = repository.commit(&generation).unwrap_err().to_string();
    assert!(lost.starts_with("another `tables backup` took over the store"), "{lost}");
    assert_eq!(second.ids().unwrap(), Vec::<String>::new());
    second.commit(&generation).unwrap();
    drop((second, repository, first));
    // A released lock can be acquired without waiting.
    let patient = Objects::new(store, ObjectPath::from("some/prefix"), "the store").unwrap();
    let began = std::time::Instant::now();
    assert_eq!(Repository::create_in(Arc::new(patient), "a").unwrap().ids().unwrap().len(), 1);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn of_commands_that_begin_backups_at_once_one_writes_the_marker() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    for source in ["a", "b"] {
        storage(store.clone()).begin("BACKUPS", source.as_bytes()).unwrap();
    }
    assert_eq!(storage(store).read("BACKUPS").unwrap().unwrap(), b"a");
}

#[test]
fn a_prefix_with_other_objects_and_an_unknown_url_are_refused() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    storage(store.clone()).replace("letter", b"Dear").unwrap();
    let refused = Repository::create_in(storage(store), "a").unwrap_err().to_string();
    assert!(refused.starts_with("the store contains other files"), "{refused}");
    let unknown =
        super::storage::locate(std::path::Path::new("ftp://host/path?sig=secret")).unwrap_err().to_string();
    assert!(unknown.starts_with("ftp://host/path is not an object store: "), "{unknown}");
}
