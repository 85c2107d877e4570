//! Counts the allocations that the server makes per request. The server runs in a separate process with a counting allocator.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use table_core::embedded::Engine;
use table_server::{Account, Config, Server};
use tokio::runtime;

use crate::Outcome;
use crate::report::{Report, Target, short};
use crate::served::connection::Wait;
use crate::served::data::{self, Shape};
use crate::served::work::{self, Place, Work};
use crate::served::worker::Worker;

/// The measured workloads. Each has the number of entities per request, and the allowed number of allocations per entity. The allowed number is one sixth
/// higher than the measured one.
const WORKS: [(Work, u32, f64); 6] = [
    (Work::Get, 1, 70.0),
    (Work::Insert, 1, 90.0),
    (Work::Merge, 1, 100.0),
    (Work::Batch, 100, 30.0),
    (Work::Page, 1_000, 1.0),
    (Work::Queue, 3, 120.0),
];
/// The number of counted requests. As many requests run before them as a warm-up.
const REQUESTS: u32 = 200;
const SHAPE: Shape =
    Shape { table: "Counted", title: "10k in 10 partitions", entities: 10_000, partitions: 10 };

/// A server process that reports its allocations.
struct Counting {
    process: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Drop for Counting {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Counting {
    fn start() -> Outcome<(Self, String)> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let profile = if cfg!(debug_assertions) { "dev" } else { "bench" };
        let mut command = Command::new(cargo);
        command.args(["run", "--quiet", "--profile", profile, "--package", "benches"]);
        command.args(["--bin", "server_allocations"]).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take().ok_or("the server has no input")?;
        let lines = BufReader::new(process.stdout.take().ok_or("the server has no output")?).lines();
        let mut counting = Self { process, input, lines };
        let connection = counting.line()?;
        Ok((counting, connection))
    }

    fn line(&mut self) -> Outcome<String> {
        Ok(self.lines.next().ok_or("the server that counts ended")??)
    }

    /// Returns the number of allocations made by the server so far, and their total size in bytes.
    fn read(&mut self) -> Outcome<(u64, u64)> {
        writeln!(self.input)?;
        let line = self.line()?;
        let (allocations, bytes) = line.split_once(' ').ok_or("not two numbers")?;
        Ok((allocations.parse()?, bytes.parse()?))
    }
}

/// Measures the allocations for each workload over one connection and adds them to the report.
pub fn measure(report: &mut Report) -> Outcome<()> {
    let (mut server, connection) = Counting::start()?;
    let place = Place::new(&connection)?;
    data::fill(&place, &SHAPE)?;
    work::create_queue(&place)?;
    for (work, entities, most) in WORKS {
        let mut worker = Worker::open(work, &place, &SHAPE, (0, Wait::Asleep))?;
        (0..REQUESTS).try_for_each(|_| worker.operate())?;
        let before = server.read()?;
        (0..REQUESTS).try_for_each(|_| worker.operate())?;
        let after = server.read()?;
        let each = |before: u64, after: u64| {
            f64::from(u32::try_from(after - before).unwrap_or(u32::MAX)) / f64::from(REQUESTS * entities)
        };
        let (allocations, bytes) = (each(before.0, after.0), each(before.1, after.1));
        let of = if work == Work::Queue { "request" } else { "entity" };
        report.line(
            &format!("allocations of the server for one {of}: {}", work.title()),
            format!("{allocations:.1}, {} bytes", short(bytes)),
            format!("at most {most}"),
            allocations / most,
            Target::AtMost(1.0),
        );
    }
    Ok(())
}

/// Serves an in-memory account. For each line of input, prints the number and the total size of the allocations so far, which `allocated` returns.
pub fn serve(allocated: impl Fn() -> (usize, usize)) -> Outcome<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let config = Config::on_loopback(Account::emulator(Engine::in_memory())?).ephemeral();
    let server = runtime.block_on(Server::bind(config))?;
    println!("{}", server.connection_string("devstoreaccount1").ok_or("no account")?);
    runtime.spawn(server.serve_until(std::future::pending()));
    for line in std::io::stdin().lock().lines() {
        line?;
        let (allocations, bytes) = allocated();
        println!("{allocations} {bytes}");
    }
    runtime.shutdown_background();
    Ok(())
}
