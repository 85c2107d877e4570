//! Compares `table-azure` with other clients. Each client runs in a separate process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Outcome;
use crate::azurite::client::{Done, Work};
use crate::azurite::external::External;
use crate::azurite::ours::Ours;
use crate::azurite::server::Server;
use crate::harness::Figure;
use crate::options::Options;
use crate::report::{OURS, Report, Target};

/// The name of the `azure_data_tables` crate, version 0.21.
const CRATE: &str = "azure_data_tables";
/// The name of Microsoft's Python client, `azure-data-tables`.
const PYTHON: &str = "azure-data-tables (Python)";
const SCRIPT: &str = include_str!("../../azure_data_tables_python/client.py");
const REQUIREMENTS: &str = include_str!("../../azure_data_tables_python/requirements.txt");

/// Starts the clients that can run on this machine. The report notes the ones that cannot.
pub fn start(server: &Server, report: &mut Report) -> Vec<External> {
    let mut started = Vec::new();
    for (name, command) in [(CRATE, build()), (PYTHON, install())] {
        let external = command.and_then(|mut command| {
            let table = format!("Readings{}", started.len());
            command.args([server.address()?, key(&server.connection_string())?, table]);
            External::start(name, command)
        });
        match external {
            Ok(external) => started.push(external),
            Err(error) => report.note(format!("SKIPPED: {name}: {error}.")),
        }
    }
    started
}

fn key(connection_string: &str) -> Outcome<String> {
    let (_, rest) = connection_string.split_once("AccountKey=").ok_or("no key")?;
    Ok(rest.split(';').next().unwrap_or_default().to_owned())
}

/// Returns cargo's target folder, which also contains the Azurite installation.
fn target() -> Outcome<PathBuf> {
    Ok(tests::azurite::install()?.parent().ok_or("no target folder")?.to_owned())
}

/// Builds the program that measures the `azure_data_tables` crate.
///
/// The program has a separate workspace, so normal builds do not compile the dependencies of the crate.
fn build() -> Outcome<Command> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("azure_data_tables");
    let target = target()?.join("azure-data-tables");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--locked"]).current_dir(folder).env("CARGO_TARGET_DIR", &target);
    run(build)?;
    Ok(Command::new(target.join("release/azure-data-tables-peer")))
}

/// Installs Microsoft's client for Python in the target folder.
fn install() -> Outcome<Command> {
    let folder = target()?.join("azure-data-tables-python");
    let (stamp, python) = (folder.join("installed"), folder.join("bin/python"));
    if !fs::read_to_string(&stamp).is_ok_and(|installed| installed == REQUIREMENTS) {
        let mut create = Command::new("python3");
        create.args(["-m", "venv", "--clear"]).arg(&folder);
        run(create)?;
        let requirements = folder.join("requirements.txt");
        fs::write(&requirements, REQUIREMENTS)?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"]);
        pip.arg(requirements);
        run(pip)?;
        fs::write(&stamp, REQUIREMENTS)?;
    }
    let script = folder.join("client.py");
    fs::write(&script, SCRIPT)?;
    let mut command = Command::new(python);
    command.arg(script);
    Ok(command)
}

fn run(mut command: Command) -> Outcome<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.map_err(|error| format!("`{name}` cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{name}` failed: {status}").into()) }
}

/// The results of one client, with one value per round.
struct Reached {
    name: &'static str,
    rates: Vec<f64>,
    /// The number of operations per second of CPU time of the client.
    efficiencies: Vec<f64>,
}

impl Reached {
    fn take(&mut self, done: Done) {
        self.rates.push(done.rate.per_second());
        self.efficiencies.push(crate::harness::Rate { elapsed: done.busy, ..done.rate }.per_second());
    }
}

/// Measures one workload with each client in turn. Each round starts with a different client.
pub fn measure(
    work: Work,
    ours: &Ours,
    others: &mut [External],
    options: &Options,
    report: &mut Report,
) -> Outcome<()> {
    let mut able = Vec::new();
    for other in others {
        match other.work(work, options.time / 4) {
            Ok(_) => able.push(other),
            Err(error) => report.note(format!("SKIPPED: {error}.")),
        }
    }
    ours.work(work, options.time / 4)?;
    let names = std::iter::once(OURS).chain(able.iter().map(|other| other.name()));
    let mut reached: Vec<_> =
        names.map(|name| Reached { name, rates: Vec::new(), efficiencies: Vec::new() }).collect();
    let count = reached.len();
    for round in 0..options.rounds {
        for turn in 0..count {
            let index = (round + turn) % count;
            let done = turn_of(index, work, ours, &mut able, options.time)?;
            if let Some(reached) = reached.get_mut(index) {
                reached.take(done);
            }
        }
    }
    let figures = |of: fn(&Reached) -> &Vec<f64>| -> Vec<Figure> {
        reached.iter().map(|reached| Figure::new(reached.name, of(reached).clone())).collect()
    };
    let targets: Vec<(&str, Target)> =
        reached.iter().skip(1).map(|reached| (reached.name, Target::AtLeast(work.least()))).collect();
    let (rates, efficiencies) = (figures(|reached| &reached.rates), figures(|reached| &reached.efficiencies));
    report.compare(work.title(), &rates, &targets);
    let title = format!("{}: processor time of the client", work.title());
    report.compare_times(&title, &efficiencies, &targets);
    Ok(())
}

fn turn_of(
    index: usize,
    work: Work,
    ours: &Ours,
    others: &mut [&mut External],
    time: Duration,
) -> Outcome<Done> {
    match index.checked_sub(1).and_then(|index| others.get_mut(index)) {
        Some(other) => other.work(work, time),
        None => ours.work(work, time),
    }
}
