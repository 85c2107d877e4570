//! Tests of connecting to a server that has just been started.

use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY};

use crate::wire::{Asked, status};

/// Returns an unused address, for a client that must know the port before the server starts.
///
/// The port is below the ephemeral range. An ephemeral port could be assigned to another test's server, or to the client's own end of a connection. The
/// function tests the port by connecting instead of listening. A child process started by another test inherits this process's listeners until it executes its
/// program, so a listener on this port would still accept the client's connections, which would then be reset.
///
/// Concurrent tests pass different values of `nth`, less than 2, and get different ports.
pub(crate) fn unused_address(nth: u16) -> SocketAddr {
    let first = 20_000 + nth + 2 * u16::try_from(std::process::id() % 5_000).unwrap();
    let mut addresses = (first..32_000).step_by(2).map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    addresses.find(|address| TcpStream::connect(address).is_err()).unwrap()
}

/// Starts the server with an address for tables, connects to it as soon as possible, and returns the response to a table listing.
pub(crate) fn answered(mut command: Command, address: SocketAddr) -> String {
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
    answer
}

#[test]
fn a_client_that_connects_during_startup_is_answered() {
    let answer = answered(Command::new(env!("CARGO_BIN_EXE_table-server")), unused_address(0));
    assert_eq!(status(&answer), "200", "{answer}");
}
