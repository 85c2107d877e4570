//! Tests that a malicious backup neither changes nor creates files outside its folder. Each string in the backup's files is replaced with a path.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::Utc;
use serde_json::Value;
use table_core::query::{KeyRange, Query};
use table_core::{DynTableStore, Engine, TableEntity, TableName, TableStoreExt};

use super::capture::{CaptureOptions, capture};
use super::files::{capture_files, restore_files};
use super::opened::Opened;
use super::restore::{Existing, Restoring};
use super::storage::Folder;
use super::tests::folder;
use super::verify::verify;
use super::view::View;
use super::work::Work;
use super::*;
use crate::hooked::{Hooked, Hooks};
use crate::transfer::derived::OtherTables;

/// A store whose queries fail after a given number of queries.
#[derive(Debug)]
struct Failing {
    engine: Engine,
    left: AtomicUsize,
}

impl Hooks for Failing {
    fn engine(&self) -> &Engine {
        &self.engine
    }

    async fn before_query(&self, _: &TableName) -> table_core::Result<()> {
        let left = self.left.load(Ordering::SeqCst);
        self.left.store(left.saturating_sub(1), Ordering::SeqCst);
        if left == 0 { Err(Query::parse("V gt").unwrap_err()) } else { Ok(()) }
    }
}

fn options() -> CaptureOptions {
    CaptureOptions { pause: Duration::ZERO, page: 1, ..CaptureOptions::default() }
}

/// Writes a backup with a generation of engine files, a generation of rows, and an unfinished generation.
async fn write(backups: &Path, engine: &Engine) {
    let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
    for row in 0..4 {
        table.insert_or_replace(&TableEntity::new("Sales", row.to_string()).unwrap()).await.unwrap();
    }
    engine.untyped("Users").unwrap().create_if_missing().await.unwrap();
    let open = || Repository::create(backups, "a").unwrap();
    capture_files(&open(), engine).await.unwrap();
    let store = DynTableStore::new(engine.clone());
    capture(&open(), &store, &options()).await.unwrap();
    table.insert(&TableEntity::new("Sales", "00").unwrap()).await.unwrap();
    let failing = Failing { engine: engine.clone(), left: AtomicUsize::new(3) };
    capture(&open(), &DynTableStore::new(Hooked(Arc::new(failing))), &options()).await.unwrap_err();
}

/// Returns the content of each file and folder in a folder, except those in `without`.
fn tree(folder: &Path, without: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path == without {
            continue;
        }
        if path.is_dir() {
            found.extend(tree(&path, without));
            found.insert(path, Vec::new());
        } else {
            let content = std::fs::read(&path).unwrap();
            found.insert(path, content);
        }
    }
    found
}

/// Copies a folder of files and folders.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Adds the strings in a JSON value to `found`, each with its JSON pointer.
fn strings(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((at.to_owned(), text.clone())),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| strings(item, &format!("{at}/{index}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| strings(field, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

/// Calls every function that reads or writes a backup. Errors are expected.
async fn use_all(backups: &Path, to: &Path, engine: &Engine) {
    if let Ok(repository) = Repository::open(backups) {
        let _ = verify(&repository).await;
        for id in repository.ids().unwrap_or_default() {
            let Ok(generation) = repository.read(&id) else { continue };
            let _ = View::of_generation(&repository, &generation);
            if let Contents::Files { manifest, base, .. } = &generation.contents {
                let _ = restore_files(&repository, manifest, base, &to.join("restored"));
            }
            let reopened = Repository::open(backups).unwrap();
            let Ok(backup) = Opened::generation(reopened, generation) else { continue };
            let target = DynTableStore::new(Engine::in_memory());
            let (range, existing, others) = (&KeyRange::ALL, Existing::Replace, OtherTables::default());
            let restoring =
                Restoring { backup: &backup, target: &target, range, existing, others, rate: None };
            for table in backup.tables().await.unwrap_or_default() {
                let _ = restoring.table(&table, &table).await;
            }
        }
    }
    let store = DynTableStore::new(engine.clone());
    if let Ok(repository) = Repository::create(backups, "a") {
        let _ = capture(&repository, &store, &CaptureOptions { settle: true, ..options() }).await;
        let _ = capture_files(&repository, engine).await;
        for id in repository.ids().unwrap_or_default().iter().rev().skip(1) {
            // As `tables backup --keep` does, the name is taken from the generation.
            let _ = repository.read(id).and_then(|generation| repository.remove(&generation.id));
        }
        let _ = repository.collect();
    }
}

#[tokio::test]
async fn no_name_in_a_backup_is_used_as_a_path() {
    let (root, to, data, used) = (folder(), folder(), folder(), folder());
    let root = root.path().canonicalize().unwrap();
    let (original, backups) = (root.join("original"), root.join("a/backups"));
    std::fs::create_dir(root.join("a")).unwrap();
    write(&original, &Engine::open(data.path()).unwrap()).await;
    // The files at which the paths point contain valid content, so a command that reads them succeeds.
    for folder in ["rows", "files"] {
        for entry in std::fs::read_dir(original.join(folder)).unwrap() {
            std::fs::copy(entry.unwrap().path(), root.join("victim")).unwrap();
        }
    }
    std::fs::copy(original.join("working.json"), root.join("victim.json")).unwrap();
    std::fs::create_dir(root.join("victims")).unwrap();
    let absolute = root.join("victim").to_string_lossy().into_owned();
    let paths =
        [absolute.as_str(), "../../../victim", "../../victim", "../../../new", "../../../victims/new"];
    let ids = Repository::open(&original).unwrap().ids().unwrap();
    let generations = ids.iter().map(|id| (format!("generations/{id}.json"), Some(id)));
    let (mut replaced, before) = (0, tree(&root, &backups));
    let used = Engine::open(used.path()).unwrap();
    for (file, id) in generations.chain([("working.json".to_owned(), None)]) {
        let value: Value = sealed::read(&Folder::new(&original), &file).unwrap().unwrap();
        let mut found = Vec::new();
        strings(&value, "", &mut found);
        for (pointer, text) in found {
            let is_name = Path::new(&text).extension().is_some_and(|end| end == "rows")
                || (id.is_none() && pointer == "/id");
            for path in paths.iter().take(if is_name { paths.len() } else { 2 }) {
                copy(&original, &backups);
                let mut hostile = value.clone();
                *hostile.pointer_mut(&pointer).unwrap() = Value::String((*path).to_owned());
                sealed::write(&Folder::new(&backups), &file, &hostile).unwrap();
                if is_name {
                    replaced += 1;
                    let repository = Repository::open(&backups).unwrap();
                    let newest = repository.read(&ids[ids.len() - 1]);
                    let is_refused = match id {
                        Some(id) => repository.read(id).is_err(),
                        None => Work::open(&repository, newest.ok().as_ref(), Utc::now()).is_err(),
                    };
                    assert!(is_refused, "{file}{pointer} = {path}");
                }
                use_all(&backups, &to.path().join(replaced.to_string()), &used).await;
                assert!(tree(&root, &backups) == before, "{file}{pointer} = {path} changed another file");
                std::fs::remove_dir_all(&backups).unwrap();
            }
        }
    }
    assert!(replaced > 10, "{replaced}");
}

#[tokio::test]
async fn a_file_that_a_generation_contains_twice_is_not_emptied() {
    let root = tempfile::tempdir().unwrap();
    let (backups, engine) = (root.path().join("backups"), Engine::open(root.path().join("data")).unwrap());
    write(&backups, &engine).await;
    let repository = Repository::open(&backups).unwrap();
    let id = repository.ids().unwrap().remove(0);
    let mut generation = repository.read(&id).unwrap();
    let Contents::Files { files, .. } = &mut generation.contents else { panic!("{generation:?}") };
    files.push(files[0].clone());
    let before = tree(&backups.join("files"), Path::new(""));
    View::of_generation(&repository, &generation).unwrap_err();
    assert_eq!(tree(&backups.join("files"), Path::new("")), before);
}
