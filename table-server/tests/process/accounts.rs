//! Tests of several accounts on one server, each in a separate folder, in path style and in host style.

use std::fs;

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};

use crate::child::{Running, on, program};
use crate::wire::{Asked, plain, status};

const EMPLOYEE: &str = "{\"TableName\":\"Employee\"}";

fn key(name: &str, key: &str) -> AccountKey {
    AccountKey::new(name, key).unwrap()
}

/// Queries the tables of an account, and returns the response, which contains their names.
fn tables(server: &Running, account: &AccountKey) -> String {
    let target = format!("/{}/Tables", account.account());
    Asked::tables("GET", &target).of(server.tables, account)
}

#[test]
fn accounts_from_flags_are_separate_and_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (contoso, fabrikam) = (key("contoso", "a2V5"), key("fabrikam", "b3RoZXI="));
    let start = || {
        let mut command = on(folder.path());
        command.args(["--account", "contoso", "--account", "fabrikam=b3RoZXI="]);
        command.env("TABLE_SERVER_KEY", "a2V5");
        Running::start(command)
    };
    let mut server = start();
    assert_eq!(server.line(), format!("contoso in {}\n", folder.path().join("contoso").display()));
    assert_eq!(server.line(), format!("fabrikam in {}\n", folder.path().join("fabrikam").display()));
    let created = Asked { body: EMPLOYEE, ..Asked::tables("POST", "/contoso/Tables") };
    assert_eq!(status(&created.of(server.tables, &contoso)), "201");
    // The key of one account does not authorize requests to the other account, under either name.
    assert_eq!(status(&created.of(server.tables, &fabrikam)), "403");
    assert_eq!(status(&created.of(server.tables, &key("contoso", "b3RoZXI="))), "403");
    let queue = Asked::queues("PUT", "/fabrikam/work");
    assert_eq!(status(&queue.of(server.queues, &fabrikam)), "201");
    assert!(server.end("-TERM").status.success());

    let server = start();
    assert!(tables(&server, &contoso).contains("Employee"));
    assert!(!tables(&server, &fabrikam).contains("Employee"));
    let list = |account: &AccountKey| {
        let target = format!("/{}/?comp=list", account.account());
        Asked::queues("GET", &target).of(server.queues, account)
    };
    assert!(list(&fabrikam).contains("<Name>work</Name>"));
    assert!(!list(&contoso).contains("<Name>work</Name>"));
}

#[test]
fn accounts_of_a_file_and_the_host_style() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.toml");
    let text = "path = 'data'\n[[account]]\nname = 'contoso'\nkey = 'a2V5'\n[[account]]\nname = 'devstoreaccount1'\nmemory = true\n";
    fs::write(&file, text).unwrap();
    let mut command = program();
    command.arg("--config").arg(&file);
    let mut server = Running::start(command);
    assert_eq!(server.line(), format!("contoso in {}\n", folder.path().join("data/contoso").display()));
    assert_eq!(server.line(), format!("{EMULATOR_ACCOUNT} in memory\n"));
    let (contoso, emulator) = (key("contoso", "a2V5"), key(EMULATOR_ACCOUNT, EMULATOR_KEY));
    let host = "contoso.table.localhost";
    // A table with the name of the account is not mistaken for the account.
    for name in ["Employee", "contoso"] {
        let body = format!("{{\"TableName\":\"{name}\"}}");
        let created =
            Asked { host, body: &body, ..Asked::tables("POST", "/Tables") }.of(server.tables, &contoso);
        assert_eq!(status(&created), "201", "{created}");
        assert!(created.contains(&format!("http://{host}/Tables('{name}')")), "{created}");
    }
    let row = "{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\"}";
    for target in ["/contoso", "/Employee"] {
        let inserted = Asked { host, body: row, ..Asked::tables("POST", target) }.of(server.tables, &contoso);
        assert_eq!(status(&inserted), "201", "{inserted}");
    }
    assert!(tables(&server, &contoso).contains("Employee"));
    assert!(!tables(&server, &emulator).contains("Employee"));
    let queue = Asked { host: "contoso.queue.localhost", ..Asked::queues("PUT", "/work") };
    assert_eq!(status(&queue.of(server.queues, &contoso)), "201");
    let stranger = Asked { host: "northwind.table.localhost", ..Asked::tables("GET", "/Tables") };
    assert_eq!(status(&stranger.of(server.tables, &contoso)), "404");
}

/// Tests that requests to the blob endpoint, which `UseDevelopmentStorage=true` includes, are rejected with an explanation.
#[test]
fn blob_requests_are_refused_with_an_explanation() {
    let mut command = program();
    command.arg("--memory");
    let server = Running::start(command);
    for request in [
        "GET /devstoreaccount1/?comp=list HTTP/1.1",
        "PUT /devstoreaccount1/photos?restype=container HTTP/1.1",
        "HEAD /devstoreaccount1/photos/1.png HTTP/1.1",
    ] {
        let answer = plain(server.blobs, &format!("{request}\r\nhost: x\r\nconnection: close\r\n\r\n"));
        assert_eq!(status(&answer), "501", "{answer}");
        assert!(answer.contains("x-ms-error-code: NotImplemented"), "{answer}");
        let text = "run `azurite-blob` at this port";
        assert_eq!(answer.contains(text), !request.starts_with("HEAD"), "{answer}");
    }
}

#[test]
fn a_program_that_cannot_start_says_why_and_prints_no_key() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, expected) in [
        (vec!["--account", "../up=c2VjcmV0"], "3 to 24 lower-case letters"),
        (vec!["--account", "contoso=c2VjcmV0!"], "not base64"),
        (vec!["--account", "contoso=c2VjcmV0", "--account", "contoso=c2VjcmV0"], "is given twice"),
        (vec!["--account", "contoso"], "has no key"),
        (vec!["--listen", "0.0.0.0"], "which is public"),
        (
            vec!["--listen", "0.0.0.0", "--account", "contoso=c2VjcmV0", "--account", EMULATOR_ACCOUNT],
            "which is public",
        ),
        (vec!["--config", "missing.toml"], "cannot be read"),
    ] {
        let output = on(folder.path()).args(&flags).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{flags:?}");
        assert!(error.contains(expected) && !error.contains("c2VjcmV0"), "{flags:?}: {error}");
    }
}
