//! Tests of a server whose output cannot be written, because the disk is full or a pipe is closed.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};

use crate::begin::{answered, unused_address};
use crate::child::{Running, program};
use crate::wire::{Asked, plain, status};

/// Returns unwritable outputs, each with a description.
fn lost() -> Vec<(&'static str, Stdio)> {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    // Only some systems have this file. Each write to it fails with `ENOSPC`.
    let full = File::options().write(true).open("/dev/full").ok();
    let full = full.map(|file| ("a full disk", Stdio::from(file)));
    [("a closed pipe", Stdio::from(writer))].into_iter().chain(full).collect()
}

#[test]
fn a_log_that_cannot_be_written_changes_no_response() {
    let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
    let unsigned = format!("GET /{EMULATOR_ACCOUNT}/Tables HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    for format in ["quiet", "text", "json"] {
        for (output, stderr) in lost() {
            let mut command = program();
            command.args(["--memory", "--log", format]).stderr(stderr);
            let server = Running::start(command);
            for expected in ["201", "409"] {
                let refused = plain(server.tables, &unsigned);
                assert_eq!(status(&refused), "403", "{output}, {format}: {refused}");
                let more = [("content-type", "application/json")];
                let target = format!("/{EMULATOR_ACCOUNT}/Tables");
                let create = Asked {
                    more: &more,
                    body: "{\"TableName\":\"Employee\"}",
                    ..Asked::tables("POST", &target)
                };
                let created = create.of(server.tables, &key);
                assert_eq!(status(&created), expected, "{output}, {format}: {created}");
            }
        }
    }
}

#[test]
fn a_server_whose_addresses_cannot_be_printed_serves() {
    for (output, stdout) in lost() {
        let address = unused_address(1);
        let mut command = Command::new(env!("CARGO_BIN_EXE_table-server"));
        command.stdout(stdout);
        let answer = answered(command, address);
        assert_eq!(status(&answer), "200", "{output}: {answer}");
    }
}
