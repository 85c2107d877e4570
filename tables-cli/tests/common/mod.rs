//! Helpers that run command lines like the program, on folders and on accounts of a `table-server`.

#![allow(dead_code, reason = "each test uses some of the functions")]

use std::path::Path;

use clap::Parser;
use table_core::Engine;
use table_server::{Account as ServerAccount, Config, Server};
use tables_cli::{Exit, Failure, Tables};

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(future)
}

/// Runs a command line on a folder. In the line, `DIR` is replaced with the path of the folder, and `DB` with the path of its subfolder `db`.
pub(crate) fn tables(folder: &Path, line: &str) -> (Result<Exit, Failure>, String) {
    let (db, dir) = (folder.join("db").display().to_string(), folder.display().to_string());
    // The random name of a temporary folder may contain a placeholder, so expanded paths are not searched for placeholders again.
    let expanded = words(line).into_iter().map(|word| match word.split_once("DIR") {
        Some((before, after)) => format!("{before}{dir}{after}"),
        None if word == "DB" => db.clone(),
        None => word,
    });
    let words = std::iter::once("tables".to_owned()).chain(expanded);
    let parsed = match Tables::try_parse_from(words) {
        Ok(parsed) => parsed,
        Err(error) => return (Err(Failure::Usage(error.to_string())), String::new()),
    };
    let mut out = Vec::new();
    let exit = block_on(tables_cli::run(parsed, &mut out));
    (exit, String::from_utf8(out).unwrap().replace(&dir, "DIR"))
}

/// Splits a line at spaces outside single and double quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for character in line.chars() {
        match (character, quote) {
            (end, Some(begin)) if end == begin => quote = None,
            ('\'' | '"', None) => quote = Some(character),
            (' ', None) => words.push(String::new()),
            (other, _) => words.last_mut().unwrap().push(other),
        }
    }
    words
}

/// Runs a command line that must succeed with the exit code 0. Returns its output.
pub(crate) fn shown(folder: &Path, line: &str) -> String {
    let (exit, text) = tables(folder, line);
    assert!(matches!(exit, Ok(Exit::Done)), "{line}: {exit:?}");
    text
}

/// Runs a command line that must fail. Returns the exit code and the message.
pub(crate) fn refused(folder: &Path, line: &str) -> (Exit, String) {
    let failure = tables(folder, line).0.unwrap_err();
    (failure.exit(), failure.to_string().replace(&folder.display().to_string(), "DIR"))
}

/// An account of a `table-server`, which runs until the value is dropped.
pub(crate) struct Account {
    /// The connection string of the account.
    pub(crate) string: String,
    _runtime: tokio::runtime::Runtime,
}

impl Account {
    /// Starts a server with an empty account.
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let account = ServerAccount::emulator(Engine::in_memory()).unwrap();
        let name = account.name().to_owned();
        let server = runtime.block_on(Server::bind(Config::on_loopback(account).ephemeral())).unwrap();
        let string = server.connection_string(&name).unwrap();
        runtime.spawn(server.serve_until(std::future::pending()));
        Self { string, _runtime: runtime }
    }
}
