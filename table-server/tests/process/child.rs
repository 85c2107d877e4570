//! A server in a separate process.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// Returns a command that starts the program on ports chosen by the system.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_table-server"));
    command.env_remove("TABLE_SERVER_KEY").args([
        "--table-port",
        "0",
        "--queue-port",
        "0",
        "--blob-port",
        "0",
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns a command that starts the program with a data folder.
pub(crate) fn on(folder: &Path) -> Command {
    let mut command = program();
    command.arg("--path").arg(folder);
    command
}

/// A running server that has printed its addresses. It is killed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    process: Option<Child>,
    out: BufReader<ChildStdout>,
    pub(crate) tables: SocketAddr,
    pub(crate) queues: SocketAddr,
    pub(crate) blobs: SocketAddr,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.spawn().unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut error = String::new();
            process.stderr.take().unwrap().read_to_string(&mut error).unwrap();
            panic!("the server does not start: {error}");
        }
        let at = |word: &str| {
            let (_, rest) = line.split_once(&format!("{word} http")).unwrap();
            rest.split_whitespace().next().unwrap().split_once("://").unwrap().1.parse().unwrap()
        };
        let (tables, queues, blobs) = (at("tables"), at("queues"), at("blobs"));
        Self { process: Some(process), out, tables, queues, blobs }
    }

    /// Returns the next line of the server's output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }

    /// Sends a signal to the server, and waits until it exits.
    pub(crate) fn end(mut self, signal: &str) -> Output {
        let process = self.process.take().unwrap();
        let pid = process.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        process.wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // Both calls fail only if the process has already ended.
            drop(process.kill());
            drop(process.wait());
        }
    }
}
