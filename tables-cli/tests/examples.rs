//! Tests that the examples in the help of every command run successfully in a shell, in a folder with the required files.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::process::Command;

use clap::CommandFactory;
use common::{Account, block_on};
use table_core::{Engine, Entity, TableEntity, TableStoreExt, ticks};
use tables_cli::Tables;

#[derive(Clone, Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    first_name: String,
    age: i32,
    photo: Option<String>,
}

/// Returns the examples in the help of a command and of its subcommands.
fn examples(command: &clap::Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut lines: Vec<String> = help
        .lines()
        .map(|line| line.trim().trim_start_matches("Example: ").to_owned())
        .filter(|line| line.starts_with("tables ") || line.contains("| tables "))
        .collect();
    lines.extend(command.get_subcommands().flat_map(examples));
    lines
}

/// Fills a folder with the files and tables used by the examples.
fn prepare(at: &Path) {
    block_on(async {
        let engine = Engine::open(at.join("data/company")).unwrap();
        let table = engine.table::<Employee>().create_if_missing().await.unwrap();
        for id in 220..230 {
            let department = if id < 226 { "Sales" } else { "Marketing" }.to_owned();
            let (first_name, photo) = (format!("N{id}"), Some("p".to_owned()));
            table.insert(&Employee { department, id, first_name, age: 30, photo }).await.unwrap();
        }
        for name in ["Logs", "Orders"] {
            let log = engine.untyped(name).unwrap().create_if_missing().await.unwrap();
            for line in 0..5_u64 {
                let key = format!("{:019}", ticks::MAX - (638_000_000_000_000_000 + line));
                log.insert(&TableEntity::new("web", key).unwrap().with("Level", "WARN")).await.unwrap();
            }
        }
        engine.close().await.unwrap();
    });
    std::fs::write(at.join("employees.csv"), "PartitionKey,RowKey,Age,Badge\nSales,empid_000300,36,7\n")
        .unwrap();
    let line = "{\"PartitionKey\":\"Sales\",\"RowKey\":\"empid_000301\",\"Age\":36}\n";
    for name in ["employees.jsonl", "large.jsonl"] {
        std::fs::write(at.join(name), line).unwrap();
    }
    std::fs::write(at.join("tables.toml"), "[profiles.production]\nstore-env = \"PRODUCTION\"\n").unwrap();
    std::fs::create_dir_all(at.join("src")).unwrap();
}

fn run(at: &Path, account: &Account, line: &str) -> std::process::Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_tables"));
    let path = std::env::var("PATH").unwrap_or_default();
    let line = line
        .replace("UseDevelopmentStorage=true", "\"$PRODUCTION\"")
        .replace("--generation ~1", "--generation ~0");
    Command::new("sh")
        .args(["-c", &line])
        .current_dir(at)
        .env("PATH", format!("{}:{path}", binary.parent().unwrap().display()))
        .env("HOME", at)
        .env("TABLES_STORE", "data/company")
        .env("TABLES_CONFIG", "tables.toml")
        .env("PRODUCTION", &account.string)
        .output()
        .unwrap()
}

#[test]
fn the_example_of_every_command_runs() {
    let account = Account::start();
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let output = run(folder.path(), &account, "tables copy --to UseDevelopmentStorage=true");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut command = Tables::command();
    command.build();
    let lines = examples(&command);
    assert!(lines.len() > 40, "{lines:?}");
    // These commands run until they are interrupted, so they are skipped.
    let runs_on = |line: &String| {
        ["tables serve", "tables explore"].iter().any(|command| line.starts_with(command))
            || line.contains("--follow")
    };
    for line in lines.iter().filter(|line| !runs_on(line)) {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        if line.contains("backups") {
            assert!(run(folder.path(), &account, "tables backup backups").status.success());
        }
        if line.contains("data/mirror") {
            assert!(run(folder.path(), &account, "tables copy --to data/mirror").status.success());
        }
        let output = run(folder.path(), &account, line);
        let error = String::from_utf8_lossy(&output.stderr);
        let is_refused = ["pass `--yes`", "pass `--replace`"].iter().any(|help| error.contains(help));
        let asks = output.status.code() == Some(3) && is_refused;
        assert!(output.status.code().is_some_and(|code| code <= 1) || asks, "{line}: {error}");
    }
}

#[test]
fn every_command_has_an_example() {
    let mut command = Tables::command();
    command.build();
    for command in command.get_subcommands().filter(|command| command.get_name() != "help") {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("tables "), "{} has no example", command.get_name());
    }
}
