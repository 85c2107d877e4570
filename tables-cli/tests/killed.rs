//! Tests commands that are killed by the operating system at a random time and then restarted. The rows must be the same as after an uninterrupted command.
//!
//! `TABLES_KILLS` sets the number of kills per command, which is small by default. `TABLES_PROGRAM` sets the path of another program to test, such as an
//! optimised build. `tests/interrupted.rs` stops the same commands at a chosen request.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::RngExt;
use rand::rngs::StdRng;
use table_core::TableEntity;

/// The maximum number of times a command is killed before it is allowed to complete.
const ROUND: usize = 10;

fn kills() -> usize {
    std::env::var("TABLES_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

fn tables(folder: &Path, line: &str) -> Command {
    let program = std::env::var_os("TABLES_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_tables").into());
    let mut command = Command::new(program);
    command.current_dir(folder).args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command until it ends, and returns its output.
fn run(folder: &Path, line: &str) -> String {
    let output = tables(folder, line).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|code| code <= 1), "{line}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Prepares a command, kills and restarts it at random times until it completes, and checks its result. This is repeated until the command has been killed
/// often enough.
fn kill(at: &Path, line: &str, prepare: impl Fn(), check: impl Fn()) {
    let mut random: StdRng = rand::make_rng();
    prepare();
    let begun = Instant::now();
    run(at, line);
    let mut whole = begun.elapsed();
    check();
    let (mut killed, mut rounds) = (0, 0);
    while killed < kills() {
        prepare();
        rounds += 1;
        for attempt in 0..ROUND {
            let (mut child, begun) = (tables(at, line).spawn().unwrap(), Instant::now());
            let delay = Duration::from_secs_f64(random.random_range(0.0..1.1) * whole.as_secs_f64());
            while child.try_wait().unwrap().is_none() && begun.elapsed() < delay {
                std::thread::sleep(Duration::from_millis(1));
            }
            if child.try_wait().unwrap().is_some() {
                // The command has become faster, so it must be killed earlier.
                whole = if attempt == 0 { begun.elapsed() } else { whole };
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
        }
        run(at, line);
        check();
    }
    eprintln!("killed {killed} times in {rounds} rounds: {line}");
}

/// Writes a file of entities in many partitions. Some keys occur several times. The last entity with a key takes effect.
fn write_rows(path: &Path, count: u32) {
    let row = |number: u32| {
        let (partition, row) = (format!("p{:02}", number % 40), format!("{:06}", number - number % 97));
        let entity = TableEntity::new(partition, row)
            .unwrap()
            .with("Number", i64::from(number))
            .with("Text", "x".repeat(80));
        serde_json::to_string(&entity).expect("an entity has a JSON form") + "\n"
    };
    std::fs::write(path, (0..count).map(row).collect::<String>()).unwrap();
}

fn remove(at: &Path, names: &[&str]) {
    for name in names {
        let path = at.join(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else if path.exists() {
            std::fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn killed_imports_copies_syncs_and_deletions_lose_and_duplicate_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_rows(&at.join("in.jsonl"), 20_000);
    run(at, "import Things in.jsonl --store whole");
    let wanted = run(at, "count Things --checksum --store whole");
    let is_whole = |store: &str| {
        assert_eq!(run(at, &format!("count Things --checksum --store {store}")), wanted, "{store}");
    };

    kill(
        at,
        "import Things in.jsonl --store imported --state import.state",
        || remove(at, &["imported", "import.state"]),
        || is_whole("imported"),
    );
    kill(
        at,
        "copy Things --store whole --to copied --state copy.state",
        || remove(at, &["copied", "copy.state"]),
        || is_whole("copied"),
    );
    // Creates a mirror that contains additional rows and lacks some other rows.
    let different = || {
        remove(at, &["mirror"]);
        run(at, "import Things in.jsonl --store mirror");
        run(at, "delete Things --partitions p1* --yes --store mirror");
        run(at, "put Things other 1 A=1 --store mirror");
    };
    let sync = "sync Things --store whole --to mirror";
    kill(at, sync, different, || {
        is_whole("mirror");
        assert!(run(at, sync).ends_with("0 added, 0 changed, 0 deleted\n"));
    });
    kill(
        at,
        "delete Things --partitions p2* --yes --store mirror",
        || {
            run(at, sync);
        },
        || {
            assert_eq!(run(at, "count Things --partitions p2* --store mirror -o csv"), "rows\n0\n");
            assert!(run(at, &format!("{sync} --dry-run")).contains("would change Things: "));
        },
    );
}

#[test]
fn killed_backups_and_restores_lose_and_duplicate_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_rows(&at.join("in.jsonl"), 20_000);
    for form in ["rows", "files"] {
        remove(at, &["data"]);
        run(at, "import Things in.jsonl --store data");
        let before = run(at, "count Things --checksum --store data");
        run(at, &format!("backup {form} --format {form} --store data"));
        run(at, "delete Things --partitions p1* --yes --store data");
        run(at, "put Things other 1 A=1 --store data");
        let after = run(at, "count Things --checksum --store data");
        // Kills backups to an empty folder, and then backups to a folder with an earlier generation.
        let (first, next) = (format!("{form}-first"), format!("{form}-next"));
        for to in [&first, &next] {
            let backup = format!("backup {to} --format {form} --store data");
            kill(
                at,
                &backup,
                || {
                    remove(at, &[to.as_str()]);
                    if *to == next {
                        let copied = Command::new("cp").args(["-r", form, to]).current_dir(at).status();
                        assert!(copied.unwrap().success());
                    }
                },
                || {
                    run(at, &format!("backup verify {to}"));
                },
            );
        }
        for (to, generation, wanted) in
            [("newest", "", &after), ("oldest", &oldest(at, &next) as &str, &before)]
        {
            // Kills the restore of one table, and then the restore of all tables.
            for table in [" Things", ""] {
                let restore = format!("restore {next} {to}{table}{generation}");
                let is_restored = || {
                    assert_eq!(run(at, &format!("count Things --checksum --store {to}")), *wanted);
                };
                kill(at, &restore, || remove(at, &[to]), is_restored);
            }
        }
    }
}

/// Returns the command-line option that selects the oldest generation in a folder of backups.
fn oldest(at: &Path, backups: &str) -> String {
    let generations = run(at, &format!("backup ls {backups} -o csv"));
    let id = generations.lines().nth(1).and_then(|line| line.split(',').next()).unwrap();
    format!(" --generation {id}")
}
