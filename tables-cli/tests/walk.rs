//! Tests that twenty commands, run one after another, print the same output on a folder and on a `table-server`.
//!
//! `TABLES_WALK_STORE` sets an additional empty store, such as the connection string of Azurite. It must produce the same output.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Account, tables};

const WALK: [&str; 22] = [
    "import Company DIR/employees.csv --types Age=Int32 --store STORE",
    "ls --store STORE -o json",
    "describe Company --sample 1 --store STORE",
    "get Company Sales empid_000223 --store STORE",
    "query Company --partition Sales --filter 'Age ge 36' --store STORE",
    "count Company --by-partition --store STORE",
    "explain Company --partition Sales --rows empid_000223..empid_000224 --store STORE",
    "put Company Sales empid_000226 FirstName=Fay Age=33 --dry-run --store STORE",
    "patch Company Sales empid_000223 Age=37 --dry-run --store STORE",
    "heat Company --store STORE",
    "audit Company --store STORE",
    "check Company --store STORE",
    "poison Company --store STORE",
    "tail Company --partition Sales --lines 1 --store STORE",
    "infer Company --store STORE",
    "copy Company --store STORE --to DIR/copy",
    "sync Company --store STORE --to DIR/copy",
    "backup DIR/backups --format rows --store STORE",
    "delete Company --partition Sales --yes --store STORE",
    "restore DIR/backups STORE Company --partition Sales",
    "count Company --checksum --store STORE",
    "doctor Company --store STORE -o csv",
];

/// Runs all commands on a store, and returns the output of each.
fn walk(store: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let rows = "PartitionKey,RowKey,FirstName,Age\nSales,empid_000223,Ada,36\nSales,empid_000224,Ben,41\nMarketing,empid_000017,Dan,52\n";
    std::fs::write(at.join("employees.csv"), rows).unwrap();
    let run = |line: &&str| {
        let (exit, text) = tables(at, &line.replace("STORE", store));
        let code = exit.map_or_else(|failure| failure.exit() as u8, |exit| exit as u8);
        // The names of generations differ between runs, and the steps of a diagnosis differ between kinds of stores, so this output is omitted.
        let text =
            if line.starts_with("backup") || line.starts_with("doctor") { String::new() } else { text };
        format!("$ tables {line}\n{text}[{code}]\n")
    };
    WALK.iter().map(run).collect()
}

#[test]
fn every_store_gives_the_same_output() {
    let of_folder = walk("DB");
    let account = Account::start();
    let other = std::env::var("TABLES_WALK_STORE").ok();
    for store in [Some(account.string.clone()), other].into_iter().flatten() {
        for (folder, server) in of_folder.iter().zip(walk(&store)) {
            // The output of `ls` differs, because only a folder can report its rows and bytes without counting them.
            if !folder.starts_with("$ tables ls") {
                assert_eq!(*folder, server);
            }
        }
    }
    insta::assert_snapshot!("walk", of_folder.concat());
}
