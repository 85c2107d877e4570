//! Runs a command that needs the connection string of a server. The string is known only once the server is listening.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode};

/// The argument that [`run`] replaces with the connection string.
pub const PLACE: &str = "CONNECTION_STRING";

/// Runs a command, and replaces each [`PLACE`] in it with the connection string. Returns the exit code of the command. Error messages start with `name`.
#[must_use]
pub fn run(name: &str, words: impl IntoIterator<Item = OsString>, connection: &str) -> ExitCode {
    let mut words = words.into_iter();
    let Some(program) = words.next() else {
        eprintln!("{name}: name a command, with {PLACE} in place of the connection string");
        return ExitCode::FAILURE;
    };
    let arguments = words.map(|word| if word == PLACE { OsStr::new(connection).to_owned() } else { word });
    match Command::new(&program).args(arguments).status() {
        // A process that was killed by a signal has no exit code.
        Ok(status) => {
            status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            eprintln!("{name}: {} cannot be run: {error}", program.display());
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn code(words: &[&str]) -> ExitCode {
        run("command", words.iter().map(OsString::from), "AccountName=contoso")
    }

    #[test]
    fn the_command_gets_the_connection_string_and_its_exit_code_is_returned() {
        assert_eq!(code(&["test", PLACE, "=", "AccountName=contoso"]), ExitCode::SUCCESS);
        assert_eq!(code(&["test", PLACE, "=", PLACE]), ExitCode::SUCCESS);
        assert_eq!(code(&["sh", "-c", "exit 7"]), ExitCode::from(7));
        for bad in [&["sh", "-c", "kill -9 $$"][..], &["a program that is not there"], &[]] {
            assert_eq!(code(bad), ExitCode::FAILURE, "{bad:?}");
        }
    }
}
