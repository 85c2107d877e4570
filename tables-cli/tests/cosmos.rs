//! Tests the tool on a Cosmos DB for NoSQL database. The variable `TABLES_COSMOS_STORE` contains the connection string of the database:
//!
//! ```text
//! cargo build -p table-cosmos --features emulator --example served
//! target/debug/examples/served sh -c 'TABLES_COSMOS_STORE=$0 cargo test -p tables-cli --features cosmos --test cosmos' CONNECTION_STRING
//! ```
//!
//! The database has an `Events` container with three levels.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fmt::Write;
use std::path::Path;

use common::{refused, shown};
use tables_cli::Exit;

/// Returns the connection string. If the variable is not set, prints a message and returns `None`, or fails if `CI` is set.
fn store() -> Option<String> {
    let store = std::env::var("TABLES_COSMOS_STORE").ok();
    if store.is_none() {
        assert!(std::env::var("CI").is_err(), "`TABLES_COSMOS_STORE` is not set");
        eprintln!("SKIPPED: `TABLES_COSMOS_STORE` is not set");
    }
    store
}

/// Creates a folder with rows whose partition keys have one level, and rows whose partition keys have three levels.
fn fill(folder: &Path) {
    let mut events = String::from("PartitionKey,RowKey,Kind,Count@type,Count\n");
    for (number, tenant) in ["contoso", "fabrikam", "é 東京 🚀"].iter().cycle().take(240).enumerate() {
        let (user, count) = (number % 7, number << 33);
        writeln!(events, "{tenant}!user{user}!s1!,{number:04},click,Edm.Int64,{count}").unwrap();
    }
    std::fs::write(folder.join("events.csv"), events).unwrap();
    let company =
        "PartitionKey,RowKey,FirstName,Age\nSales,empid_000223,Ada,36\nMarketing,empid_000017,Dan,52\n";
    std::fs::write(folder.join("company.csv"), company).unwrap();
    shown(folder, "import Events DIR/events.csv --store DB");
    shown(folder, "import Company DIR/company.csv --types Age=Int32 --store DB");
}

#[test]
fn tables_are_copied_to_containers_and_back_and_changed_there() {
    let Some(cosmos) = store() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    let on = |line: &str| shown(at, &line.replace("COSMOS", &format!("'{cosmos}'")));
    let checksum = |store: &str| on(&format!("count Events --checksum --store {store}"));

    // The first copy uses the existing `Events` container, which has three levels. The second copy creates `Company` with one level.
    on("copy Events --store DB --to COSMOS");
    on("copy Company --store DB --to COSMOS");
    assert!(on("ls --store COSMOS -o json").contains("Company"));
    assert_eq!(checksum("COSMOS"), checksum("DB"));
    let of_user = on("query Events --partition contoso!user3!s1! --store COSMOS -o json");
    assert!(of_user.contains("\"PartitionKey\":\"contoso!user3!s1!\""), "{of_user}");

    on("patch Company Sales empid_000223 Age=37 --store COSMOS");
    assert!(on("get Company Sales empid_000223 --store COSMOS").contains("37"));
    on("put Company Sales empid_000300 FirstName=Eve Age=29 --store COSMOS");
    on("delete Company --partition Marketing --yes --store COSMOS");
    assert!(on("count Company --store COSMOS").contains('2'));

    on("copy Events --store COSMOS --to DIR/back");
    assert_eq!(checksum("DIR/back"), checksum("DB"));
    assert!(on("doctor Events --store COSMOS").contains("ok"));
}

#[test]
fn commands_that_need_the_order_of_keys_are_refused_with_another_way() {
    let Some(cosmos) = store() else { return };
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    shown(folder.path(), "backup DIR/kept --store DB");
    for (line, help) in [
        ("sync Events --store COSMOS --to DIR/copy", "use `tables copy`"),
        ("restore DIR/kept COSMOS", "restore into a folder"),
        ("restore DIR/kept COSMOS Events --replace", "restore into a folder"),
        ("backup DIR/backups --store COSMOS", "use `tables export`"),
        ("count Events --by-partition --store COSMOS", "`tables copy`"),
        ("heat Events --store COSMOS", "`tables copy`"),
        ("audit Events --store COSMOS", "`tables copy`"),
        ("check Events --store COSMOS", "`tables copy`"),
        ("repair Events --store COSMOS", "`tables copy`"),
        ("explore --store COSMOS", "`tables copy`"),
    ] {
        let (exit, message) = refused(folder.path(), &line.replace("COSMOS", &format!("'{cosmos}'")));
        assert_eq!(exit, Exit::Refused, "{line}");
        assert!(
            message.contains("key order") && message.contains(help) && !message.contains("AccountKey"),
            "{message}"
        );
    }
}
