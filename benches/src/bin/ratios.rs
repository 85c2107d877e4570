//! Prints the table of performance ratios and fails if a target is missed.

use std::process::ExitCode;
use std::time::Instant;

use benches::Outcome;
use benches::azurite;
use benches::child::{self, CHILD};
use benches::folder::settle;
use benches::large::Large;
use benches::options::{Options, Subject};
use benches::record::{self, Run};
use benches::report::Report;
use benches::row::{LARGE_ROWS, ROWS};
use benches::served;
use benches::stage::Stage;
use benches::sustained;

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            eprintln!("{missed} of the targets were missed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("the run broke off: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Outcome<usize> {
    let start = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, rest @ ..] = arguments.as_slice()
        && first == CHILD
    {
        match rest {
            [work] => served::child::run(work)?,
            [work, argument] if work == "sustained" => sustained::run(argument)?,
            work => child::run(work)?,
        }
        return Ok(0);
    }
    let (options, mut report) = (Options::parse(arguments)?, Report::default());
    match options.subject {
        Subject::Engine => measure_engine(&options, &mut report)?,
        Subject::Server => served::measure(&options, &mut report)?,
        Subject::Client => azurite::measure(&options, &mut report)?,
    }
    if options.record {
        let run = Run::current()?;
        let entries: Vec<_> = report.rows().iter().map(|row| run.entry(row)).collect();
        record::append(&record::file("ratios"), &entries)?;
    }
    let Options { entities, rounds, .. } = options;
    println!("{entities} entities of ten properties, {rounds} rounds, {:.0?}\n\n{report}", start.elapsed());
    Ok(report.missed())
}

fn measure_engine(options: &Options, report: &mut Report) -> Outcome<()> {
    if ROWS.iter().any(|(name, _)| options.wants(name)) {
        let stage = Stage::set(options.clone())?;
        report.set_entities(options.entities);
        for (_, measure) in ROWS.iter().filter(|(name, _)| options.wants(name)) {
            settle()?;
            measure(&stage, report)?;
        }
    }
    if options.full {
        let large = Large::set(options)?;
        report.set_entities(large.entities);
        for (_, measure) in LARGE_ROWS.iter().filter(|(name, _)| options.wants(name)) {
            settle()?;
            measure(&large, report)?;
        }
    }
    Ok(())
}
