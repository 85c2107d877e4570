//! The sizes of the partitions in a table: the largest partitions, and a heat strip (a line of bars that shows all partitions in key order).

use std::fmt::Write;

/// The maximum number of cells in a heat strip.
const CELLS: usize = 64;
/// The characters for the cells of a heat strip, from empty to full.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The measure by which partitions are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Measure {
    /// The number of rows.
    #[default]
    Rows,
    /// The size of the rows in bytes, calculated with the service's published formula.
    Bytes,
}

/// A partition and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The PartitionKey.
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// The size of the rows in bytes.
    pub bytes: u64,
}

impl Partition {
    const fn size(&self, by: Measure) -> u64 {
        match by {
            Measure::Rows => self.rows,
            Measure::Bytes => self.bytes,
        }
    }
}

/// The sizes of the partitions in a table. Rows must be added in key order. Only the largest partitions and the cells of the heat strip are kept in memory.
///
/// ```
/// use tables_cli::heat::{Heat, Measure};
///
/// let mut heat = Heat::new(Measure::Rows, 1);
/// for partition in ["a", "b", "b", "b", "b", "c", "c"] {
///     heat.push(partition, 10);
/// }
/// heat.end();
/// assert_eq!((heat.largest()[0].name.as_str(), heat.largest()[0].rows), ("b", 4));
/// assert_eq!(heat.strip(), "▂█▄");
/// ```
#[derive(Debug)]
pub struct Heat {
    by: Measure,
    most: usize,
    rows: u64,
    sum: u64,
    partitions: u64,
    current: Option<Partition>,
    largest: Vec<Partition>,
    /// The size of the largest partition in each cell of the heat strip. A cell represents `every` consecutive partitions.
    cells: Vec<u64>,
    every: u64,
}

impl Heat {
    /// Creates an empty measurement that keeps the `most` largest partitions.
    #[must_use]
    pub fn new(by: Measure, most: usize) -> Self {
        let (largest, cells) = (Vec::new(), Vec::new());
        Self { by, most, rows: 0, sum: 0, partitions: 0, current: None, largest, cells, every: 1 }
    }

    /// Adds a row of the given size to a partition.
    pub fn push(&mut self, partition: &str, bytes: u64) {
        self.rows += 1;
        match &mut self.current {
            Some(current) if current.name == partition => {
                current.rows += 1;
                current.bytes += bytes;
            }
            _ => {
                self.end();
                self.current = Some(Partition { name: partition.to_owned(), rows: 1, bytes });
            }
        }
    }

    /// Completes the last partition. Call this function after all rows have been added.
    pub fn end(&mut self) {
        let Some(ended) = self.current.take() else { return };
        let size = ended.size(self.by);
        self.sum += size;
        if self.partitions.is_multiple_of(self.every) {
            if self.cells.len() == CELLS {
                self.cells = self.cells.chunks(2).filter_map(|pair| pair.iter().max().copied()).collect();
                self.every *= 2;
            }
            self.cells.push(0);
        }
        if let Some(cell) = self.cells.last_mut() {
            *cell = size.max(*cell);
        }
        self.partitions += 1;
        let at = self.largest.partition_point(|other| other.size(self.by) >= size);
        if at < self.most {
            self.largest.insert(at, ended);
            self.largest.truncate(self.most);
        }
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of partitions.
    #[must_use]
    pub const fn partitions(&self) -> u64 {
        self.partitions
    }

    /// Returns the largest partitions, largest first.
    #[must_use]
    pub fn largest(&self) -> &[Partition] {
        &self.largest
    }

    /// Returns a partition's share of the table, in percent.
    #[must_use]
    pub fn share(&self, partition: &Partition) -> f64 {
        percent(partition.size(self.by), self.sum)
    }

    /// Returns a line of bars for all partitions in key order. The heights are relative to the largest partition.
    #[must_use]
    pub fn strip(&self) -> String {
        let most = self.cells.iter().max().copied().unwrap_or(0).max(1);
        let level = |size: &u64| usize::try_from((size * 8).div_ceil(most)).unwrap_or(0);
        self.cells.iter().filter_map(|size| LEVELS.get(level(size))).collect()
    }

    /// Returns an SVG bar chart of all partitions in key order.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        let most = self.cells.iter().max().copied().unwrap_or(0);
        let width = self.cells.len().max(1) * 12 + 16;
        let unit = match self.by {
            Measure::Rows => "rows",
            Measure::Bytes => "bytes",
        };
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"150\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <text x=\"8\" y=\"18\">{}: {} partitions, largest {most} {unit}</text>\n",
            width.max(320),
            escaped(title),
            self.partitions,
        );
        for (at, size) in self.cells.iter().enumerate() {
            let (x, share) = (8 + at * 12, percent(*size, most));
            // Writing to a string never fails.
            let _ = writeln!(
                text,
                "<rect x=\"{x}\" y=\"{:.1}\" width=\"11\" height=\"{share:.1}\" fill=\"hsl({:.0},80%,50%)\"><title>{size} {unit}</title></rect>",
                130.0 - share,
                220.0 - share * 2.2,
            );
        }
        text + "<text x=\"8\" y=\"146\">partitions in key order</text>\n</svg>\n"
    }
}

/// Returns a part as a percentage of the whole.
#[expect(clippy::cast_precision_loss, reason = "shown with limited precision")]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_the_largest_partitions_are_kept() {
        let mut heat = Heat::new(Measure::Bytes, 2);
        for partition in 0..10_000_u64 {
            heat.push(&format!("{partition:05}"), if partition == 7_777 { 900 } else { partition % 100 });
        }
        heat.end();
        assert!(heat.cells.len() <= CELLS && heat.largest().len() == 2);
        assert_eq!((heat.largest()[0].name.as_str(), heat.partitions()), ("07777", 10_000));
        assert_eq!(heat.strip().chars().filter(|bar| *bar == '█').count(), 1);
        let svg = heat.svg("A<B");
        assert!(svg.starts_with("<svg") && svg.contains("A&lt;B: 10000 partitions, largest 900 bytes"));
        assert_eq!(svg.matches("<rect").count(), heat.cells.len());
    }
}
