//! Tests that run the complete cookbook in memory, in a folder, and again in the same folder.

use std::collections::BTreeSet;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use examples::cookbook::{self, Options};
use examples::inputs::Inputs;
use examples::large::PackageIndex;
use examples::large::import::import_index;
use examples::model::packages::{Import, Section};
use examples::prefixed::Prefixed;
use examples::store::{self, Store};
use futures_util::FutureExt;
use object_store::memory::InMemory;
use table_core::query::KeyRange;
use table_core::{Engine, Query, TableName, TableStore, TableStoreExt};

fn run(options: &Options) -> String {
    let mut out = Vec::new();
    pollster::block_on(cookbook::run(options, &mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

/// The printed output of a recipe.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    recipe: String,
    /// The output without spaces, table borders, times and `ETag`s. Spaces are removed, because the length of an `ETag` changes the widths of columns.
    answer: String,
    cost: String,
}

/// Returns the output of each recipe, taken from the printed text of a run.
fn answers(text: &str) -> Vec<Shown> {
    let mut answers = Vec::new();
    for recipe in text.split("\n── ").skip(1) {
        let (shown, took) = recipe.split_once("\nCost: ").unwrap();
        let (cost, _) = took.split_once(';').unwrap();
        let mut versions = shown.split("W/\"datetime'");
        let mut answer = versions.next().unwrap().to_owned();
        for rest in versions {
            answer.push_str(rest.split_once("'\"").unwrap().1);
        }
        answer.retain(|character| !character.is_whitespace() && !"─═".contains(character));
        let recipe = shown.split_once(' ').unwrap().0.to_owned();
        answers.push(Shown { recipe, answer, cost: cost.to_owned() });
    }
    answers
}

fn counts(folder: &Path) -> Vec<(String, u64)> {
    let store = store::open(folder).unwrap();
    pollster::block_on(async {
        let mut counts = Vec::new();
        for table in store.list_tables("", None, 1_000).await.unwrap().names {
            counts.push((table.to_string(), rows(&store, &table).await));
        }
        counts
    })
}

async fn rows(store: &impl TableStore, table: &TableName) -> u64 {
    let query = Query::new(KeyRange::ALL);
    let (mut rows, mut from) = (0, None);
    loop {
        let page = store.query(table, &query, from.as_ref()).await.unwrap();
        rows += page.rows.len() as u64;
        from = page.continuation;
        if from.is_none() {
            return rows;
        }
    }
}

#[test]
fn every_recipe_runs_in_memory_and_prints_all_its_parts() {
    let text = run(&Options::default());
    for (name, question) in cookbook::list().filter(|(name, _)| !name.starts_with("large-")) {
        let recipe = text.split("\n── ").find(|recipe| recipe.starts_with(&format!("{name} "))).unwrap();
        assert!(recipe.contains(question), "{name}");
        for part in ["Layout of", "PartitionKey", "Answer\n", "\nCost: "] {
            assert!(recipe.contains(part), "{name} lacks {part:?}");
        }
    }
}

/// A lock that a test holds while it reopens a folder.
///
/// Other runs read the package index of the machine, which starts child processes. While a child process starts, it briefly holds all file locks of this
/// process, whichever thread starts it.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_second_run_in_the_same_folder_prints_the_same_and_adds_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { folder: Some(folder.path().join("store")), large: Some(3_000), ..Options::default() };
    let first = run(&options);
    let counted = counts(&folder.path().join("store"));
    let second = run(&options);
    assert!(second.contains("3,000 builds are there already"));
    assert_eq!(counts(&folder.path().join("store")), counted);
    let inputs = Inputs::load().unwrap();
    let airports = counted.iter().find(|(table, _)| table == "Airports");
    assert_eq!(airports.map(|(_, rows)| *rows), Some(inputs.airports.len() as u64));
    let (first, second) = (answers(&first), answers(&second));
    assert_eq!(first.len(), cookbook::list().count());
    // The first run leaves markers of quiet feeds and reservations of index tables. All later runs send identical requests.
    let mut changed = Vec::new();
    for (first, second) in first.iter().zip(second) {
        assert_eq!((&first.recipe, &first.answer), (&second.recipe, &second.answer));
        if first.cost != second.cost {
            changed.push(second);
        }
    }
    let only: Vec<_> = changed.iter().map(|shown| shown.recipe.clone()).collect();
    assert!(only.iter().any(|recipe| recipe == "change-feed") && only.len() < 8, "{only:?}");
    assert_eq!(answers(&run(&Options { only, ..options })), changed);
}

#[test]
fn a_different_number_of_builds_replaces_the_previous_one() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    for builds in [2_000, 500] {
        let only = vec!["large-point".to_owned()];
        run(&Options {
            folder: Some(folder.path().to_owned()),
            large: Some(builds),
            only,
            ..Options::default()
        });
        let counted = counts(folder.path());
        let table = counted.iter().find(|(table, _)| table == "PackageBuilds").unwrap();
        assert!((builds..builds + 100).contains(&table.1), "{counted:?}");
    }
}

/// Tests that the tables are imported again after an interrupted import of another index. They are also imported again if they contain builds of different
/// packages.
#[test]
fn an_import_trusts_only_a_complete_import_of_the_same_packages() {
    pollster::block_on(async {
        let store = store::in_memory();
        let builds = || async { rows(&store, &TableName::new("PackageBuilds").unwrap()).await };
        let (large, small) = (PackageIndex::seeded(2_000), PackageIndex::seeded(500));
        let import = async |index: &PackageIndex| {
            let mut out = Vec::new();
            import_index(index, &store, &mut out).await.unwrap();
            String::from_utf8(out).unwrap().contains("are there already")
        };
        assert!(!import(&large).await && import(&large).await);
        let complete = builds().await;
        let mut broken = Broken { bytes: 10_000, panics: false };
        assert!(import_index(&small, &store, &mut broken).await.is_err());
        assert!(!import(&large).await);
        assert_eq!(builds().await, complete);
        // The marker of an import of different packages that has the same description and the same number of builds.
        let imports = store.table::<Import>().open().await.unwrap();
        let builds = i64::try_from(large.len()).unwrap();
        let other = Import { table: "PackageBuilds".to_owned(), source: large.source().to_owned(), builds };
        imports.insert_or_replace(&other).await.unwrap();
        assert!(!import(&large).await && import(&large).await);
    });
}

#[test]
fn the_larger_recipes_run_on_any_machine_over_a_seeded_index() {
    pollster::block_on(async {
        let (store, mut out) = (store::in_memory(), Vec::new());
        let index = PackageIndex::seeded(5_000);
        cookbook::run_large(&index, &store, &Options::default(), &mut out).await.unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("\n── large-").count(), 12);
        // The names of some sections contain a slash, which is escaped in the keys.
        assert!(index.sections().any(|(section, _)| section == "contrib/games"));
        let sections = store.table::<Section>().get(Section::key("contrib/games")).await.unwrap();
        assert!(sections.is_some_and(|section| section.builds > 0));
    });
}

/// An output that fails or panics while the recipes are running.
struct Broken {
    bytes: usize,
    panics: bool,
}

impl Write for Broken {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len();
        assert!(!(self.panics && self.bytes > 10_000), "an output that panics");
        if self.bytes > 10_000 { Err(std::io::ErrorKind::BrokenPipe.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_run_on_an_account_cleans_up_after_success_failure_and_panic() {
    pollster::block_on(async {
        let account = Engine::in_memory();
        account.create_table(&TableName::new("Airports").unwrap()).await.unwrap();
        let queues = Engine::in_memory();
        let store = Store::new(Prefixed::new(account.clone(), "run"), queues, Arc::new(InMemory::new()));
        let left = || async { account.list_tables("", None, 1_000).await.unwrap().names.len() };

        let mut out = Vec::new();
        cookbook::run_and_delete(&store, &Options::default(), &mut out).await.unwrap();
        let text = String::from_utf8(out).unwrap();
        let deleted = text.trim_end().strip_suffix(" tables deleted").unwrap().rsplit('\n').next().unwrap();
        assert!(deleted.parse::<usize>().unwrap() > 10, "{deleted}");
        assert_eq!(left().await, 1, "the owner's");

        for panics in [false, true] {
            let mut out = Broken { bytes: 0, panics };
            let options = Options::default();
            let run = AssertUnwindSafe(cookbook::run_and_delete(&store, &options, &mut out)).catch_unwind();
            let outcome = run.await;
            assert_eq!(outcome.is_err(), panics);
            assert!(!matches!(outcome, Ok(Ok(()))));
            assert_eq!(left().await, 1, "the owner's");
        }
    });
}

#[test]
fn one_recipe_runs_alone_and_an_unknown_name_is_refused() {
    let text = run(&Options { only: vec!["log-tail".to_owned()], ..Options::default() });
    assert_eq!(text.matches("\n── ").count(), 1);
    let options = Options { only: vec!["log-tale".to_owned()], ..Options::default() };
    let refused = pollster::block_on(cookbook::run(&options, &mut Vec::new())).unwrap_err();
    assert_eq!(refused.to_string(), "no recipe is named `log-tale`: `--list` names them all");
}

#[test]
fn the_readme_names_exactly_the_existing_recipes() {
    let readme = include_str!("../../../README.md");
    let (_, after) = readme.split_once("\n## Patterns\n").unwrap();
    let table = after.split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")).skip(1);
    let named: BTreeSet<&str> =
        rows.flat_map(|row| row.rsplit('|').nth(1).unwrap().split('`').skip(1).step_by(2)).collect();
    let recipes: BTreeSet<&str> =
        cookbook::list().map(|(name, _)| name).filter(|name| !name.starts_with("large-")).collect();
    let of_accounts = BTreeSet::from(["scoped"]); // this recipe is compiled only with the `azure` feature
    let named: BTreeSet<&str> =
        if cfg!(feature = "azure") { named } else { named.difference(&of_accounts).copied().collect() };
    assert_eq!(named, recipes);
}
