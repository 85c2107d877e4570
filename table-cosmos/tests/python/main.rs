//! Tests with a pinned version of the Azure SDK for Python on the same emulator. The SDK reads items written by this library, writes items that this library
//! reads, and computes hash ranges, which must equal those of this project's partition model.
//!
//! The first run installs the client below the target folder. Without `python3` or a registry, the suite is skipped with a message. If `CI`
//! is `true`, it fails instead.

mod bridge;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::{env, fs};

use table_core::query::{KeyRange, Query, TextRange};
use table_core::{Entity, TableName, TableStore, TableStoreExt, ValueRef};
use table_cosmos::emulator::{DATABASE, Emulator};
use table_cosmos::{Explain, Options};
use table_hierarchy::PartitionMap;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Events")]
#[partition_key(tenant, user, session)]
#[row_key(number)]
struct Event {
    tenant: String,
    user: String,
    session: String,
    #[digits(4)]
    number: u32,
    kind: String,
}

fn event(levels: [&str; 3], number: u32, kind: &str) -> Event {
    let [tenant, user, session] = levels.map(str::to_owned);
    Event { tenant, user, session, number, kind: kind.to_owned() }
}

const PARTITIONS: u32 = 8;

#[test]
fn epk_14_and_wire_1_the_vendors_python_client_agrees_with_ours() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let python = match installed(&folder.join("requirements.txt")) {
        Ok(python) => python,
        Err(why) => {
            assert!(!env::var("CI").is_ok_and(|ci| ci == "true"), "the Python client is not there: {why}");
            drop(writeln!(io::stderr(), "SKIPPED: the Python client is not there: {why}"));
            return;
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let emulator = Emulator::new(false).unwrap();
        let table = TableName::new("Events").unwrap();
        emulator.create(&table, 3, PARTITIONS, None).unwrap();
        let store = emulator.open(Options::new().levels_of::<Event>()).await.unwrap();
        let events = store.table::<Event>();
        for (levels, number) in [
            (["contoso", "ada", "s1"], 7),
            (["contoso", "ada", "s2"], 8),
            (["contoso", "bob", "s1"], 9),
            (["con", "ada", "s1"], 10),
        ] {
            events.insert(&event(levels, number, "click")).await.unwrap();
        }
        let endpoint = bridge::serve(emulator.clone(), Arc::default()).await.unwrap();
        let _ = emulator.sent();

        let mut suite = Command::new(python);
        suite.arg(folder.join("suite.py")).args([endpoint.as_str(), "dGVzdGtleQ==", DATABASE]);
        let output = tokio::task::spawn_blocking(move || run(&mut suite)).await.unwrap().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

        // The bounds computed by the client for prefixes must equal those in the model.
        let map = PartitionMap::even(PARTITIONS);
        let sent = emulator.sent();
        let theirs: BTreeSet<(String, String)> =
            sent.into_iter().filter(|sent| sent.is_query).filter_map(|sent| sent.range).collect();
        for prefix in ["contoso!", "contoso!ada!", "con!", "none!", "python!batch!"] {
            let keys = KeyRange { partition_key: TextRange::prefix(prefix), row_key: TextRange::ALL };
            let route = Explain::new(&Query::new(keys), 3, &map).unwrap().route;
            let ours = (route.ranges[0].start().to_string(), route.ranges[0].end().to_string());
            assert!(theirs.contains(&ours), "{prefix}: {ours:?} of {theirs:?}");
        }

        // The items written by the client are read without codecs, because these would escape spaces.
        let keys = KeyRange { partition_key: TextRange::prefix("python!"), row_key: TextRange::ALL };
        let page = store.query(&table, &Query::new(keys), None).await.unwrap();
        let found: BTreeSet<(String, String, String)> = page
            .rows
            .iter()
            .map(|entity| {
                let Some(ValueRef::String(kind)) = entity.row.find("Kind", &mut 0).unwrap() else {
                    panic!("{entity:?}")
                };
                (entity.partition_key.to_owned(), entity.row_key.to_owned(), kind.to_string())
            })
            .collect();
        let written = [
            ("python!batch!s1!", "0001", "batch"),
            ("python!batch!s1!", "0002", "batch"),
            ("python!é 東京 🚀!!", "0001", "replaced"),
        ];
        assert_eq!(
            found,
            written.map(|(key, row, kind)| (key.to_owned(), row.to_owned(), kind.to_owned())).into()
        );
    });
}

/// Returns the interpreter of a Python environment with the client. Installs the client if necessary.
fn installed(requirements: &Path) -> Result<PathBuf, String> {
    let wanted = fs::read_to_string(requirements).map_err(|error| error.to_string())?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-cosmos");
    let (python, complete) = (folder.join("bin/python"), folder.join("complete"));
    if fs::read_to_string(&complete).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    succeeds(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    succeeds(Command::new(&python).args(install).arg(requirements))?;
    fs::write(complete, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = run(command)?;
    let error = || format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(()) } else { Err(error()) }
}

fn run(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|error| format!("{command:?}: {error}"))
}
