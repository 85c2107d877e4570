//! A server that has just been started.

use std::net::{TcpListener, TcpStream};
use std::process::Command;

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};

use crate::wire::{Asked, status};

#[test]
fn a_client_that_asks_from_the_start_on_is_answered() {
    // Free a moment ago: a client that does not wait for the server's first line has to know its port.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_table-server"));
    command.args(["--memory", "--queue-port", "0", "--blob-port", "0"]);
    command.args(["--table-port", &address.port().to_string()]);
    let mut process = command.spawn().unwrap();
    while TcpStream::connect(address).is_err() {
        assert_eq!(process.try_wait().unwrap(), None, "it ended before it answered");
        std::thread::yield_now();
    }
    let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY).unwrap();
    let answer = Asked::tables("GET", &format!("/{EMULATOR_ACCOUNT}/Tables")).of(address, &key);
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(status(&answer), "200", "{answer}");
}
