//! The child process of a crash test. It is a server for a folder, and runs until it is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use table_server::{Account, Config, Server};
use table_wire::auth::AccountKey;

use crate::crash::process::open;

/// The argument that makes the program a server: `torture server-child FOLDER`.
pub const CHILD: &str = "server-child";

const ACCOUNT: &str = "contoso";
const KEY: &str = "a2V5";

/// The result of a step in a crash test. Any error ends the test.
pub(super) type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// Serves a folder on ports chosen by the system. The first line on standard output is the connection string.
///
/// # Errors
/// Any error from opening the folder or listening.
pub(super) fn serve(folder: &Path) -> Fallible<()> {
    let account = Account::new(AccountKey::new(ACCOUNT, KEY)?, open(folder, 0, None)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind(Config::on_loopback(account).ephemeral()).await?;
        let line = server.connection_string(ACCOUNT).ok_or("the account is missing")?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()?;
        drop(out);
        server.serve_until(std::future::pending()).await;
        Ok(())
    })
}

/// A server in a separate process. It is killed when this value is dropped.
#[derive(Debug)]
pub(super) struct Served {
    process: Child,
    pub(super) connection_string: String,
}

impl Served {
    /// Starts `program` as a server for the folder, and waits until it is listening.
    pub(super) fn start(program: &Path, folder: &Path) -> Fallible<Self> {
        let mut command = Command::new(program);
        command.arg(CHILD).arg(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut served = Self { process: command.spawn()?, connection_string: String::new() };
        let stdout = served.process.stdout.take().ok_or("the server has no standard output")?;
        BufReader::new(stdout).read_line(&mut served.connection_string)?;
        served.connection_string.truncate(served.connection_string.trim_end().len());
        if served.connection_string.is_empty() {
            return Err(format!("the server ended before it listened: {}", served.process.wait()?).into());
        }
        Ok(served)
    }

    /// Kills the server immediately, as `kill -9` does.
    pub(super) fn kill(&mut self) -> Fallible<()> {
        self.process.kill()?;
        let status = self.process.wait()?;
        // A process that was killed by a signal has no exit code. If there is one, the process had ended by itself.
        if status.code().is_some() {
            Err(format!("the server ended by itself: {status}").into())
        } else {
            Ok(())
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Each of these calls fails only if the process has already ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
