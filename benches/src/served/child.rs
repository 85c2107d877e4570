//! Runs servers in separate processes. A server is either `table-server` with data in memory, or its bare HTTP stack with a constant response.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use table_core::embedded::Engine;
use table_server::{Account, Config, Server as TableServer};
use tokio::net::TcpListener;
use tokio::runtime;

use crate::Outcome;
use crate::child::CHILD;

/// The argument that makes the program run `table-server`.
pub const SERVE: &str = "serve";
/// The argument that makes the program run only the HTTP stack.
pub const CONSTANT: &str = "constant";

/// A server process. It ends when this value is dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    /// The first line of the server's output: a connection string or an address.
    pub line: String,
}

impl Server {
    /// Starts this program as a server and waits until the server listens.
    pub fn start(word: &str) -> Outcome<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        // The standard input of the child is a pipe from this process. The child therefore ends when this process ends.
        command.args([CHILD, word]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = Self { process: command.spawn()?, line: String::new() };
        let stdout = server.process.stdout.take().ok_or("the server has no output")?;
        if BufReader::new(stdout).read_line(&mut server.line)? == 0 {
            return Err("the server ended before it listened".into());
        }
        server.line.truncate(server.line.trim_end().len());
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Runs the server selected by `word` until its standard input ends.
pub fn run(word: &str) -> Outcome<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    match word {
        SERVE => runtime.spawn(serve()),
        CONSTANT => runtime.spawn(constant()),
        _ => return Err(format!("no child does {word}").into()),
    };
    std::io::stdin().lock().lines().for_each(drop);
    runtime.shutdown_background();
    Ok(())
}

fn tell(line: &str) -> Outcome<()> {
    println!("{line}");
    Ok(std::io::stdout().flush()?)
}

async fn serve() -> Outcome<()> {
    let config = Config::on_loopback(Account::emulator(Engine::in_memory())?).ephemeral();
    let server = TableServer::bind(config).await?;
    tell(&server.connection_string("devstoreaccount1").ok_or("no account")?)?;
    server.serve_until(std::future::pending()).await;
    Ok(())
}

/// A response body similar to that of a point get.
const BODY: &str = "{\"PartitionKey\":\"p00000\",\"RowKey\":\"0000001\",\"Timestamp\":\"2026-11-20T09:00:00.0000000Z\",\
    \"Site\":\"Building 12, floor 3\",\"Celsius\":21.25,\"Count\":17,\"Sequence@odata.type\":\"Edm.Int64\",\"Sequence\":\"4294967296\",\
    \"MeasuredAt@odata.type\":\"Edm.DateTime\",\"MeasuredAt\":\"2026-11-20T09:00:00Z\",\"Calibrated\":true}";

async fn constant() -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    tell(&listener.local_addr()?.to_string())?;
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let connection = builder.serve_connection(TokioIo::new(stream), service_fn(answer)).into_owned();
        tokio::spawn(async move { connection.await.map_err(drop) });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    request.into_body().collect().await?;
    Ok(Response::new(Full::new(Bytes::from_static(BODY.as_bytes()))))
}
