//! Starts and stops an Azurite server, and provides its addresses.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::install::install;
use crate::npm::NotInstalled;

const ACCOUNT: &str = "devstoreaccount1";
/// The well-known account key of the emulator (AUTH-30). It is in two halves, because Microsoft's documentation breaks it across two lines.
const KEY: [&str; 2] =
    ["Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6", "IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="];
const SERVICES: [&str; 3] = ["Blob", "Queue", "Table"];
/// The time limit for starting. A server that needs longer is assumed never to start.
const START: Duration = Duration::from_secs(10 * 60);
/// The keep-alive time of connections. It is one day, which prevents the server from closing connections while a test pauses.
const KEEP_ALIVE_SECONDS: &str = "86400";

/// A running Azurite server with its own ports. It keeps its data in memory.
///
/// It stops when this value is dropped, and also when this process ends. The server reads from a pipe that only this process holds open.
#[derive(Debug)]
pub struct AzuriteServer {
    process: Child,
    /// The address of each service, such as `http://127.0.0.1:{port}`.
    addresses: BTreeMap<&'static str, String>,
}

impl AzuriteServer {
    /// Starts a server and waits until all of its services are listening.
    ///
    /// # Errors
    /// An error if Azurite cannot be installed or does not start.
    pub fn start() -> Result<Self, NotInstalled> {
        let folder = install()?;
        // With port 0, the system chooses a free port.
        let mut process = Command::new("node")
            .arg("serve.cjs")
            .args(["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"])
            .args(["--blobKeepAliveTimeout", KEEP_ALIVE_SECONDS])
            .args([
                "--queueKeepAliveTimeout",
                KEEP_ALIVE_SECONDS,
                "--tableKeepAliveTimeout",
                KEEP_ALIVE_SECONDS,
            ])
            .args(["--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| NotInstalled::because("`node` cannot be run", error))?;
        let lines = process.stdout.take().map(lines);
        let mut server = Self { process, addresses: BTreeMap::new() };
        while server.addresses.len() < SERVICES.len() {
            let line = lines.as_ref().map(|lines| lines.recv_timeout(START));
            let Some(Ok(line)) = line else {
                return Err(NotInstalled("Azurite does not start: see what it says above".to_owned()));
            };
            if let Some((service, address)) = listening(&line) {
                server.addresses.insert(service, address.to_owned());
            }
        }
        Ok(server)
    }

    /// Returns the server shared by all tests in this binary. If Azurite is not available, prints the reason and returns `None`.
    ///
    /// # Panics
    /// Panics if `CI` is `true` and Azurite is not available.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<AzuriteServer>> = OnceLock::new();
        let server = SHARED.get_or_init(|| match Self::start() {
            Ok(server) => Some(server),
            Err(error) => {
                let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
                assert!(!ci, "no Azurite: {error}");
                // The test harness would capture `eprintln!`, but a skipped test must be visible.
                drop(writeln!(io::stderr(), "SKIPPED, there is no Azurite: {error}"));
                None
            }
        });
        server.as_ref()
    }

    /// Returns the process ID of the server.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    fn endpoint(&self, service: &str) -> String {
        let address = self.addresses.get(service).map_or("", String::as_str);
        format!("{address}/{ACCOUNT}")
    }

    /// Returns a connection string for the table, queue and blob services (AUTH-31).
    #[must_use]
    pub fn connection_string(&self) -> String {
        format!(
            "DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={};BlobEndpoint={};QueueEndpoint={};TableEndpoint={};",
            KEY.concat(),
            self.endpoint("Blob"),
            self.endpoint("Queue"),
            self.endpoint("Table"),
        )
    }
}

impl Drop for AzuriteServer {
    fn drop(&mut self) {
        // This fails only if the process has already ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Parses the line in which Azurite reports that a service is listening. Returns the service and its address.
fn listening(line: &str) -> Option<(&'static str, &str)> {
    let (service, address) =
        line.strip_prefix("Azurite ")?.split_once(" service is successfully listening at ")?;
    Some((SERVICES.into_iter().find(|known| *known == service)?, address.trim()))
}

/// Reads all lines that a process prints. This happens on a separate thread, so the process never blocks on a full pipe.
fn lines(output: ChildStdout) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The receiver is dropped once the server is running. The output is still read, so the pipe does not fill up.
            drop(send.send(line));
        }
    });
    receive
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    fn connects(server: &AzuriteServer, service: &str) -> bool {
        TcpStream::connect(server.addresses[service].trim_start_matches("http://")).is_ok()
    }

    #[test]
    fn a_server_listens_until_its_parent_exits() {
        if AzuriteServer::shared().is_none() {
            return;
        }
        let mut server = AzuriteServer::start().unwrap();
        assert!(SERVICES.iter().all(|service| connects(&server, service)));
        // The system closes the pipe in the same way when this process dies.
        drop(server.process.stdin.take());
        // This does not check that the ports are free. Another process may already use them.
        assert!(server.process.wait().unwrap().success());
    }

    #[test]
    fn auth_31_the_connection_string_names_all_services() {
        let Some(server) = AzuriteServer::shared() else { return };
        let text = server.connection_string();
        for service in SERVICES {
            let port = server.addresses[service].rsplit(':').next().unwrap();
            assert!(
                text.contains(&format!("{service}Endpoint=http://127.0.0.1:{port}/devstoreaccount1;")),
                "{text}"
            );
        }
    }

    #[test]
    fn a_line_names_a_service_and_its_address() {
        let line = "Azurite Queue service is successfully listening at http://127.0.0.1:41505";
        assert_eq!(listening(line), Some(("Queue", "http://127.0.0.1:41505")));
        assert_eq!(listening("Azurite Queue service is starting at http://127.0.0.1:0"), None);
    }
}
