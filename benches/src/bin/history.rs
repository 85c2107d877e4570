//! Draws recorded results over time as bar charts. `history [PROGRAM] [TEXT]` shows the measurements whose names contain `TEXT`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use benches::Outcome;
use benches::record::{self, Entry};

/// The characters used as bars, from lowest to highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().unwrap_or_else(|| "ratios".into());
    let text = arguments.next().unwrap_or_default();
    // The ratios of one measurement to different peers form separate series.
    let mut series: BTreeMap<(String, String), Vec<Entry>> = BTreeMap::new();
    for entry in record::read(&record::file(&program))? {
        let peer = entry.peer.split(' ').next().unwrap_or_default().to_owned();
        series.entry((entry.work.clone(), peer)).or_default().push(entry);
    }
    println!("| work | against | ratios, the oldest first | first | last | target | last run |");
    println!("|---|---|---|---:|---:|---|---|");
    for ((work, peer), entries) in series.iter().filter(|((work, _), _)| work.contains(&text)) {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { continue };
        let shown = |entry: &Entry| entry.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
        let verdict = if last.passed { "" } else { " **FAIL**" };
        println!(
            "| {work} | {peer} | {} | {} | {}{verdict} | {} | {} {} |",
            draw(entries),
            shown(first),
            shown(last),
            last.target,
            last.date,
            last.commit
        );
    }
    Ok(())
}

/// Draws one bar for each run. The height of a bar is relative to the highest ratio.
fn draw(entries: &[Entry]) -> String {
    let highest = entries.iter().filter_map(|entry| entry.ratio).fold(0.0, f64::max);
    let bar = |entry: &Entry| {
        let share = entry.ratio? / highest;
        BARS.iter()
            .enumerate()
            .find(|(index, _)| share * 8.0 <= f64::from(u8::try_from(index + 1).unwrap_or(8)))
            .map(|(_, bar)| *bar)
    };
    entries.iter().map(|entry| bar(entry).unwrap_or(' ')).collect()
}
