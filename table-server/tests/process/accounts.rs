//! Tests of several accounts on one server. Each account has a separate folder, and is addressed in path style or in host style.

use std::{fs, slice};

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};

use crate::child::{Running, on, program};
use crate::wire::{Asked, plain, status};

const EMPLOYEE: &str = "{\"TableName\":\"Employee\"}";

fn key(name: &str, key: &str) -> AccountKey {
    AccountKey::new(name, key).unwrap()
}

/// Lists an account's tables, and returns the response.
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
    // One account's key does not authorize requests to another account, whichever account name the request is signed with.
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
    // A table with the account's name is not mistaken for the account.
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

/// Tests that requests to the blob endpoint, which is part of `UseDevelopmentStorage=true`, are rejected with an explanation.
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

/// Tests that a flag takes precedence over every variable for the same setting, even the variable of a different flag. The container image, for example, sets
/// the folder by a variable.
#[test]
fn a_flag_overrides_the_variable_of_another_flag() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let in_memory = format!("{EMULATOR_ACCOUNT} in memory\n");
    let in_folder = format!("{EMULATOR_ACCOUNT} in {}\n", path(&here));
    let place = |variables: &[(&str, String)], flags: &[String]| {
        let mut command = program();
        command.envs(variables.iter().cloned()).args(flags);
        Running::start(command).line()
    };
    let (memory, no_memory) =
        (("TABLE_SERVER_MEMORY", "true".to_owned()), ("TABLE_SERVER_MEMORY", "false".to_owned()));
    let variable = |folder| ("TABLE_SERVER_PATH", path(folder));
    let flag = || ["--path".to_owned(), path(&here)];
    assert_eq!(place(&[variable(&here)], &["--memory".to_owned()]), in_memory);
    assert_eq!(place(&[variable(&there)], &flag()), in_folder);
    assert_eq!(place(slice::from_ref(&memory), &flag()), in_folder);
    assert_eq!(place(slice::from_ref(&no_memory), &flag()), in_folder);
    assert_eq!(place(&[no_memory, variable(&here)], &[]), in_folder);
    for (variables, flags) in [
        (vec![memory, variable(&here)], vec![]),
        (vec![], vec!["--memory".to_owned(), "--path".to_owned(), path(&here)]),
    ] {
        let output = program().envs(variables).args(flags).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && error.contains("`--memory` cannot be used with `--path`"),
            "{error}"
        );
    }
}

#[test]
fn a_flag_for_tokens_or_a_certificate_overrides_the_variable_of_another_one() {
    let output = |variables: &[(&str, &str)], flags: &[&str]| {
        // Because the configuration file is missing, the program exits after reading its flags.
        let mut command = program();
        command.envs(variables.iter().copied()).args(flags).args(["--config", "missing.toml"]);
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    let issuer = [("TABLE_SERVER_OAUTH_ISSUER", "x"), ("TABLE_SERVER_OAUTH_KEYS", "y")];
    let files = [("TABLE_SERVER_TLS_CERTIFICATE", "x"), ("TABLE_SERVER_TLS_KEY", "y")];
    for (variables, other, flags, by_variable) in [
        (issuer, ("TABLE_SERVER_OAUTH", "basic"), ["--oauth", "basic"], "--oauth-issuer"),
        (files, ("TABLE_SERVER_TLS_SELF_SIGNED", "z"), ["--tls-self-signed", "z"], "--tls-self-signed"),
    ] {
        let error = output(&variables, &flags);
        assert!(error.contains("missing.toml cannot be read"), "{flags:?}: {error}");
        let [first, second] = variables;
        let error = output(&[first, second, other], &[]);
        assert!(error.contains("cannot be used with") && error.contains(by_variable), "{flags:?}: {error}");
    }
}

/// Tests that even the value `false` in one layer overrides the next layer. The layers are the flags, the variables and the file, in this order.
#[test]
fn a_switch_that_is_false_overrides_the_next_layer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.toml");
    let output = |text: &str, variables: &[(&str, &str)], flags: &[&str]| {
        fs::write(&file, text).unwrap();
        let mut command = program();
        command.arg("--config").arg(&file).envs(variables.iter().copied()).args(flags);
        // No machine has this address, so the program fails after reading its settings.
        let output = command.args(["--observe", "192.0.2.1:1"]).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let open = "memory = true\nlisten = '0.0.0.0'\npublic-key-anywhere = true\n";
    let [memory, public_key] = ["TABLE_SERVER_MEMORY", "TABLE_SERVER_PUBLIC_KEY_ANYWHERE"];
    for (text, variables, flags, expected) in [
        (open, vec![], vec![], "192.0.2.1"),
        (open, vec![(public_key, "false")], vec![], "which is public"),
        (open, vec![(public_key, "true")], vec!["--public-key-anywhere=false"], "which is public"),
        (open, vec![(public_key, "false")], vec!["--public-key-anywhere"], "192.0.2.1"),
        (open, vec![(memory, "false")], vec![], "no location"),
        (open, vec![(memory, "true")], vec!["--memory=false"], "no location"),
        (open, vec![(memory, "false")], vec!["--memory"], "192.0.2.1"),
    ] {
        let error = output(text, &variables, &flags);
        assert!(error.contains(expected), "{variables:?} {flags:?}: {error}");
    }
}
