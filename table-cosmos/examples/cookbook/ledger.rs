//! Records the requests and request units of a recipe's queries.

use std::collections::BTreeSet;
use std::fmt;

use table_cosmos::emulator::{Emulator, Sent};
use table_hierarchy::{query_units, read_units, write_units};

/// The number of rows that an operation wrote, read or found.
#[derive(Clone, Copy)]
pub(super) enum Rows {
    Written(usize),
    /// Rows read by partition key and id.
    Read(usize),
    Found(usize),
}

/// A query and its cost.
struct Line {
    question: String,
    rows: usize,
    points: usize,
    queries: usize,
    partitions: String,
    units: String,
}

/// A list of a recipe's queries, with their costs.
pub(super) struct Ledger {
    emulator: Emulator,
    lines: Vec<Line>,
}

impl Ledger {
    /// Creates an empty ledger. Requests sent before this call are not counted.
    pub(super) fn new(emulator: &Emulator) -> Self {
        let _ = emulator.sent();
        Self { emulator: emulator.clone(), lines: Vec::new() }
    }

    /// Adds a query. All requests sent since the previous query was added are attributed to it.
    pub(super) fn add(&mut self, question: &str, rows: Rows) {
        let sent = self.emulator.sent();
        let points: Vec<&Sent> =
            sent.iter().filter(|sent| !sent.is_query && sent.path.contains("/docs")).collect();
        let queries: Vec<&Sent> = sent.iter().filter(|sent| sent.is_query).collect();
        // A query by partition key does not specify a physical partition. Like a point read, it uses exactly one.
        let named: BTreeSet<&String> = queries.iter().filter_map(|sent| sent.partition.as_ref()).collect();
        let touched = named.len().max(1);
        let one_each = || "1 each".to_owned();
        let (rows, partitions, units) = match rows {
            Rows::Written(rows) => {
                let each = points.iter().map(|sent| sent.bytes).sum::<usize>() / rows.max(1);
                (rows, one_each(), format!("{:.2}", count(rows) * write_units(each)))
            }
            Rows::Read(rows) => (rows, one_each(), format!("{:.2}", count(rows) * read_units(1))),
            Rows::Found(rows) => {
                let (least, most) = query_units(touched);
                (rows, touched.to_string(), format!("{least} to {most} plus items read"))
            }
        };
        let question = question.to_owned();
        self.lines.push(Line {
            question,
            rows,
            points: points.len(),
            queries: queries.len(),
            partitions,
            units,
        });
    }
}

fn count(rows: usize) -> f64 {
    f64::from(u32::try_from(rows).unwrap_or(u32::MAX))
}

/// Formats the ledger as a text table. Request units are omitted for items that queries read, because the service does not publish a price for them.
impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| question | rows | points | queries | partitions | RU by the published prices |")?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- |")?;
        for Line { question, rows, points, queries, partitions, units } in &self.lines {
            writeln!(f, "| {question} | {rows} | {points} | {queries} | {partitions} | {units} |")?;
        }
        Ok(())
    }
}
