//! The report of a run: a table of ratios and the number of missed targets.

use std::fmt;

use crate::harness::Figure;

/// The name of this project in the table.
pub const OURS: &str = "tables";

/// The target for a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This project's figure must be at least this multiple of the peer's figure.
    AtLeast(f64),
    /// This project's figure must be at most this multiple of the peer's figure.
    AtMost(f64),
    /// The ratio has no target and is shown for information only.
    Shown,
}

impl Target {
    /// Returns `true` if a ratio meets the target.
    #[must_use]
    pub fn holds(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(least) => ratio >= least,
            Self::AtMost(most) => ratio <= most,
            Self::Shown => true,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, "≥ {least}"),
            Self::AtMost(most) => write!(f, "≤ {most}"),
            Self::Shown => f.write_str("–"),
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The number of entities in the table that was read, or `None` if the measurement reads a different table.
    pub entities: Option<u32>,
    /// The name of the measured work.
    pub work: String,
    /// The result of this project, with its range.
    pub ours: String,
    /// The name of the peer and its result, with the range.
    pub peer: String,
    /// The ratio of the two results.
    pub ratio: f64,
    /// The target for the ratio.
    pub target: Target,
}

/// The rows of a run, in measurement order.
#[derive(Clone, Debug, Default)]
pub struct Report {
    entities: Option<u32>,
    lines: Vec<Line>,
    notes: Vec<String>,
}

impl Report {
    /// Sets the number of entities in the table that the next measurements read.
    pub const fn set_entities(&mut self, entities: u32) {
        self.entities = Some(entities);
    }

    /// Adds a row for each named contender in `targets`. A row compares the rate of this project with the rate of the contender. If a figure is missing, the
    /// target counts as missed.
    pub fn compare(&mut self, work: &str, figures: &[Figure], targets: &[(&str, Target)]) {
        self.compare_as(rate, work, figures, targets);
    }

    /// Adds rows like [`compare`](Self::compare), but shows each rate as the time per operation.
    pub fn compare_times(&mut self, work: &str, figures: &[Figure], targets: &[(&str, Target)]) {
        self.compare_as(time, work, figures, targets);
    }

    /// Adds a row with the ratio of the first rate to the second rate.
    pub fn compare_figures(&mut self, work: &str, figures: &[Figure], target: Target) {
        let [first, second] = figures else {
            return self.line(work, String::new(), String::new(), f64::NAN, target);
        };
        let ratio = first.times(second);
        let shown = |figure: &Figure| format!("{} {}", figure.name, rate(figure));
        self.line(work, shown(first), shown(second), ratio, target);
    }

    /// Adds a row with the ratio of the first time per operation to the second time per operation.
    pub fn compare_bound(&mut self, work: &str, figures: &[Figure], target: Target) {
        let [first, second] = figures else {
            return self.line(work, String::new(), String::new(), f64::NAN, target);
        };
        self.line(work, time(first), time(second), second.times(first), target);
    }

    /// Adds a row with the ratio of the times per operation in the fastest round of each figure.
    pub fn compare_fastest(&mut self, work: &str, first: &Figure, second: &Figure, target: Target) {
        self.line(work, time(first), time(second), second.max() / first.max(), target);
    }

    fn compare_as(
        &mut self,
        show: fn(&Figure) -> String,
        work: &str,
        figures: &[Figure],
        targets: &[(&str, Target)],
    ) {
        let find = |name: &str| figures.iter().find(|figure| figure.name == name).cloned();
        let figure = |name: &str| find(name).unwrap_or_else(|| Figure::new("missing", Vec::new()));
        let ours = figure(OURS);
        for (name, target) in targets {
            let peer = figure(name);
            let ratio = ours.times(&peer);
            self.line(work, show(&ours), format!("{name} {}", show(&peer)), ratio, *target);
        }
    }

    /// Adds a row for two results that are not rates.
    pub fn line(&mut self, work: &str, ours: String, peer: String, ratio: f64, target: Target) {
        let line = Line { entities: self.entities, work: work.to_owned(), ours, peer, ratio, target };
        eprintln!("{line}");
        self.lines.push(line);
    }

    /// Adds a note below the table.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        eprintln!("{note}");
        self.notes.push(note);
    }

    /// Returns the rows in measurement order.
    #[must_use]
    pub fn rows(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the number of missed targets.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.lines.iter().filter(|line| !line.target.holds(line.ratio)).count()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entities: _, work, ours, peer, ratio, target } = self;
        let verdict = match target {
            Target::Shown => "",
            _ if target.holds(*ratio) => "pass",
            _ => "**FAIL**",
        };
        write!(f, "| {work} | {ours} | {peer} | {ratio:.2} | {target} | {verdict} |")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| work | ours (min–max) | against (min–max) | ratio | target | |")?;
        writeln!(f, "|---|---|---|---:|---|---|")?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{note}\n"))
    }
}

/// Formats a rate with its range, for example as `512k/s (498k–530k)`.
fn rate(figure: &Figure) -> String {
    format!("{}/s ({}–{})", short(figure.median()), short(figure.min()), short(figure.max()))
}

/// Formats the time per operation with its range, for example as `85.1 ns (84.0–87.2)`.
fn time(figure: &Figure) -> String {
    let (unit, scale) = match 1e9 / figure.median() {
        1e6.. => ("ms", 1e3),
        1e4.. => ("µs", 1e6),
        _ => ("ns", 1e9),
    };
    let scaled = |rate: f64| short(scale / rate);
    format!("{} {unit} ({}–{})", scaled(figure.median()), scaled(figure.max()), scaled(figure.min()))
}

/// Formats a number with three digits, for example as `1.23M`, `512k` or `87.1`.
#[must_use]
pub fn short(number: f64) -> String {
    let (scaled, unit) = match number.abs() {
        1e6.. => (number / 1e6, "M"),
        1e3.. => (number / 1e3, "k"),
        _ => (number, ""),
    };
    let decimals = match scaled.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> [Figure; 2] {
        [Figure::new(OURS, vec![1.0, 3.0, 2.0]), Figure::new("b", vec![4.0])]
    }

    #[test]
    fn a_missed_target_is_counted_and_shown() {
        let mut report = Report::default();
        report.compare("work", &two(), &[("b", Target::AtLeast(0.5))]);
        assert_eq!(report.missed(), 0);
        report.compare("work", &two(), &[("b", Target::AtLeast(0.51)), ("b", Target::Shown)]);
        report.compare_times("work", &two(), &[("b", Target::AtMost(0.4))]);
        assert_eq!(report.missed(), 2);
        let line = "| work | 2.00/s (1.00–3.00) | b 4.00/s (4.00–4.00) | 0.50 | ≥ 0.51 | **FAIL** |";
        assert!(report.to_string().contains(line), "{report}");
    }

    #[test]
    fn a_contender_without_a_figure_is_a_missed_target() {
        let mut report = Report::default();
        report.compare("work", &two(), &[("c", Target::AtLeast(0.0)), ("c", Target::AtMost(1.0))]);
        assert_eq!(report.missed(), 2);
    }
}
