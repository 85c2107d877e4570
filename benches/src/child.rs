//! Runs measurements in child processes. A child process can be killed, and its memory use can be measured from its start.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use table_core::embedded::Engine;

use crate::Outcome;
use crate::data::{self, Random, Reading};
use crate::folder;
use crate::peer::Peer;
use crate::peer::tables::Tables;
use crate::stage::Stage;

/// The first argument that makes the program run as a child process.
pub const CHILD: &str = "--child";
/// The engine's default cache size in bytes, used in child processes.
pub const CACHE: u64 = 256 << 20;
/// The engine's default memtable size in bytes, used in child processes.
pub const RECENT: u64 = 192 << 20;

/// A folder with one table, filled by a child process.
#[derive(Debug)]
pub struct Filled {
    /// The path of the filled folder.
    pub folder: PathBuf,
    /// The peak memory use of the child, in bytes.
    pub peak: u64,
}

/// Returns a folder with the given number of entities. The first call in a run fills the folder.
pub fn filled(stage: &Stage, entities: u32) -> Outcome<Filled> {
    let folder = stage.folder.join(&format!("filled-{entities}"));
    let note = folder.with_extension("peak");
    if !note.exists() {
        let output =
            command("fill", &folder, entities)?.stdout(Stdio::piped()).spawn()?.wait_with_output()?;
        if !output.status.success() {
            return Err("the child that fills a folder failed".into());
        }
        std::fs::write(&note, output.stdout)?;
        folder::settle()?;
    }
    let peak = std::fs::read_to_string(&note)?.trim().parse()?;
    Ok(Filled { folder, peak })
}

/// Starts a child process that writes to a folder, and kills the process after the given time.
pub fn killed(folder: &Path, entities: u32, after: Duration) -> Outcome<()> {
    let mut child = command("write", folder, entities)?.stdout(Stdio::piped()).spawn()?;
    let outcome = wait_for_line(&mut child).map(|()| std::thread::sleep(after));
    child.kill()?;
    child.wait()?;
    outcome
}

/// Waits until a child process has written a line.
pub fn wait_for_line(child: &mut Child) -> Outcome<()> {
    let stdout = child.stdout.take().ok_or("the child has no output")?;
    let mut line = String::new();
    if BufReader::new(stdout).read_line(&mut line)? == 0 {
        return Err("the child ended before it wrote".into());
    }
    Ok(())
}

fn command(work: &str, folder: &Path, entities: u32) -> Outcome<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([CHILD, work]).arg(folder).arg(entities.to_string());
    Ok(command)
}

/// Runs the work of a child process. `arguments` are the arguments after [`CHILD`].
pub fn run(arguments: &[String]) -> Outcome<()> {
    let [work, folder, entities] = arguments else { return Err("a child has three arguments".into()) };
    let (folder, entities) = (Path::new(folder), entities.parse()?);
    let (cache, recent) = (usize::try_from(CACHE)?, usize::try_from(RECENT)?);
    let tables = Tables::of(&Engine::builder().cache_bytes(cache).memtable_bytes(recent).open(folder)?)?;
    match work.as_str() {
        "fill" => {
            tables.load(entities)?;
            println!("{}", peak()?);
            Ok(())
        }
        "write" => {
            println!("ready");
            std::io::stdout().flush()?;
            write_on(&tables, entities)
        }
        _ => Err(format!("no child does {work}").into()),
    }
}

/// Replaces random entities until the process is killed.
fn write_on(tables: &Tables, entities: u32) -> Outcome<()> {
    std::thread::scope(|scope| {
        let work = |thread| {
            let mut random = Random::new(thread);
            loop {
                tables.put(&Reading::at(random.below(entities)))?;
            }
        };
        let threads: Vec<_> =
            (0..16).map(|thread| scope.spawn(move || -> Outcome<()> { work(thread) })).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a writer panicked")?)
    })
}

/// Returns the peak memory use of this process in bytes (`VmHWM`).
fn peak() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM: not on Linux?")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024)
}

/// Returns the partition name and the row number of the entity with the given index in a filled folder.
#[must_use]
pub fn place(index: u32) -> (String, u32) {
    (data::site(index / data::PARTITION), data::number(index % data::PARTITION))
}
