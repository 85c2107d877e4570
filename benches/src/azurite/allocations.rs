//! Counts the allocations that `table-azure` makes per entity. It runs in a separate process with a counting allocator.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Outcome;
use crate::azurite::client::Work;
use crate::azurite::ours::Ours;
use crate::azurite::server::Server;
use crate::report::{Report, Target};

/// The measured workloads. Each has the number of entities per operation, and the allowed number of allocations per entity.
///
/// The allowed number is about one sixth higher than the measured one. An insert made 89 allocations and a point get made 85, most of them for the request (its
/// headers, its signature and the HTTP client). In a transaction, each entity took 15.1 allocations. In a page, each entity took 5.2, of which 5 are its
/// strings.
const WORKS: [(Work, u32, f64); 4] =
    [(Work::Insert, 1, 104.0), (Work::Batch, 100, 18.0), (Work::Get, 1, 99.0), (Work::Page, 1_000, 6.0)];
/// The number of counted operations. As many operations run before them as a warm-up.
const OPERATIONS: u64 = 20;

/// Measures the allocations per entity for each workload and adds them to the report.
pub fn measure(server: &Server, report: &mut Report) -> Outcome<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let output = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--profile",
            profile,
            "--package",
            "benches",
            "--bin",
            "azurite_allocations",
        ])
        .args(["--", &server.connection_string()])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut lines = text.lines();
    for (work, entities, most) in WORKS {
        let found: f64 = lines.next().ok_or("the process that counts allocations failed")?.parse()?;
        let each = found / f64::from(entities);
        report.line(
            &format!("allocations of one entity: {}", work.title()),
            format!("{each:.1}"),
            format!("at most {most}"),
            each / most,
            Target::AtMost(1.0),
        );
    }
    Ok(())
}

/// Prints the number of allocations per operation for each workload. `allocations` returns the number of allocations that the process has made so far.
pub fn count(connection_string: &str, allocations: impl Fn() -> usize) -> Outcome<()> {
    let ours = Ours::new(connection_string, "ReadingsCounted")?;
    for (work, ..) in WORKS {
        ours.inserts(work, OPERATIONS)?;
        let before = allocations();
        ours.inserts(work, OPERATIONS)?;
        println!("{}", (allocations() - before) as u64 / OPERATIONS);
    }
    Ok(())
}
