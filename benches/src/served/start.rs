//! Measures the time from the start of the server program until its first response.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use table_wire::auth::{AccountKey, EMULATOR_ACCOUNT, EMULATOR_KEY, Scheme};
use tests::azurite::AzuriteServer;

use crate::Outcome;
use crate::options::Options;
use crate::report::{Report, Target};
use crate::served::connection::{Connection, Wait};
use crate::served::request::Sent;
use crate::served::work::check;

/// The time within which the first response must arrive.
const BOUND: Duration = Duration::from_secs(1);

/// The server program, started as a user would start it. It is stopped when this value is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts the server several times, with data in memory and on a free port. Compares the median with the time until Azurite listens.
pub fn measure(options: &Options, report: &mut Report) -> Outcome<()> {
    let program = build()?;
    let mut times = (0..options.rounds).map(|_| start(&program)).collect::<Outcome<Vec<_>>>()?;
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or(Duration::MAX);
    let begun = Instant::now();
    let azurite = AzuriteServer::start()?;
    let other = begun.elapsed();
    drop(azurite);
    report.line(
        "the program from its start to its first answer",
        format!("{middle:.1?}"),
        format!("bound {BOUND:.0?}, Azurite listens after {other:.1?}"),
        middle.as_secs_f64() / BOUND.as_secs_f64(),
        Target::AtMost(1.0),
    );
    Ok(())
}

/// Builds `table-server` in the folder of this program. Returns the path of the built program.
fn build() -> Outcome<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = if cfg!(debug_assertions) { "dev" } else { "bench" };
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--profile", profile, "--package", "table-server"]);
    if !command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).status()?.success() {
        return Err("the program cannot be built".into());
    }
    let own = std::env::current_exe()?;
    let name = format!("table-server{}", std::env::consts::EXE_SUFFIX);
    Ok(own.parent().ok_or("this program has no folder")?.join(name))
}

/// Starts the program, connects once it accepts connections, and requests the list of tables. Returns the elapsed time.
fn start(program: &Path) -> Outcome<Duration> {
    // This port was free a moment ago. A port chosen by the server would have to be read from its output.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let begun = Instant::now();
    let mut command = Command::new(program);
    command.args(["--memory", "--queue-port", "0", "--blob-port", "0"]);
    command.args(["--table-port", &address.port().to_string()]).stdout(Stdio::null());
    let mut running = Program(command.spawn()?);
    wait(&mut running, address)?;
    let key = AccountKey::new(EMULATOR_ACCOUNT, EMULATOR_KEY)?;
    let mut connection = Connection::open(&address.to_string(), &key, Scheme::Table, Wait::Asleep)?;
    let path = format!("/{EMULATOR_ACCOUNT}/Tables");
    let answer =
        connection.exchange(&Sent { method: "GET", path: &path, query: "", media_type: "", body: "" })?;
    check(answer, 200)?;
    Ok(begun.elapsed())
}

/// Tries to connect until the server accepts a connection.
fn wait(running: &mut Program, address: SocketAddr) -> Outcome<()> {
    while TcpStream::connect(address).is_err() {
        if let Some(status) = running.0.try_wait()? {
            return Err(format!("the program ended before it answered: {status}").into());
        }
        std::thread::yield_now();
    }
    Ok(())
}
