//! `azurite COMMAND…`: starts Azurite, runs the command beside it, and ends with the command's exit code.
//!
//! Each argument `CONNECTION_STRING` becomes the connection string of the server, whose ports the system chose.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

use tests::azurite::AzuriteServer;

/// The argument that the connection string takes the place of.
const PLACE: &str = "CONNECTION_STRING";

fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("azurite: name a command, with {PLACE} where the connection string is to stand");
        return ExitCode::FAILURE;
    };
    // Without Node it has said that this is skipped, or has panicked where `CI` is `true`. The server ends with this process.
    let Some(server) = AzuriteServer::shared() else { return ExitCode::SUCCESS };
    let connection = OsString::from(server.connection_string());
    let arguments = words.map(|word| if word == PLACE { connection.clone() } else { word });
    match Command::new(&program).args(arguments).status() {
        // One that a signal ended has no code.
        Ok(status) => {
            status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            eprintln!("azurite: {} cannot be run: {error}", program.display());
            ExitCode::FAILURE
        }
    }
}
