//! Formats a report as text.

use std::fmt;

use crate::heat_map::HeatMap;
use crate::report::{ACCOUNT_TARGET, PatternCost, Report};
use crate::spread::{PARTITION_TARGET, Peak};

/// The characters that represent cells of the heat map, from cold to hot.
const GLYPHS: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '%', '#', '@'];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} s, seed {}\n", self.name, self.seconds, self.seed)?;
        let header = ["pattern", "class", "per second", "requests", "entities", "bytes", "requests/month"];
        let money = self.prices.as_ref().map(|prices| format!("{}/month", prices.currency));
        let mut lines: Vec<Vec<String>> = vec![header.into_iter().map(str::to_owned).chain(money).collect()];
        lines.extend(self.patterns.iter().map(|pattern| self.line(pattern)));
        columns(f, &lines)?;
        if let (Some(price), Some(prices)) = (self.price(), &self.prices) {
            writeln!(f, "  total {price:.2} {} a month", prices.currency)?;
        }
        writeln!(f, "\n{}", self.map)?;
        let Peak { partition_key, share } = self.peak();
        writeln!(
            f,
            "peak: `{partition_key}` takes {:.1} % of the requests at one moment; {} partitions in total",
            share * 100.0,
            self.heat.partitions()
        )?;
        let throttling = &self.throttling;
        writeln!(
            f,
            "busiest second: {} of {PARTITION_TARGET} entities and pages in one partition, {} of {ACCOUNT_TARGET} requests in the account",
            throttling.hottest_second, self.busiest_second
        )?;
        write!(
            f,
            "throttled: {} entities and pages of partitions, {} requests of the account",
            throttling.refused_load, throttling.refused_requests
        )?;
        self.over_target().map_or(Ok(()), |advice| write!(f, "\nadvice: {advice}"))
    }
}

impl Report {
    fn line(&self, pattern: &PatternCost) -> Vec<String> {
        let requests = pattern.reads.saturating_add(pattern.writes);
        let class = pattern.class.map_or_else(|| "write".to_owned(), |class| class.to_string());
        let mut cells = vec![
            pattern.name.clone(),
            class,
            format!("{}", pattern.per_second),
            format!("{:.1}", pattern.each(requests)),
            format!("{:.1}", pattern.each(pattern.entities)),
            format!("{:.0}", pattern.each(pattern.bytes_read.saturating_add(pattern.bytes_written))),
            format!("{:.0}", pattern.per_month(requests)),
        ];
        cells.extend(self.prices.as_ref().map(|prices| format!("{:.2}", pattern.price(prices))));
        cells
    }
}

/// Writes a table whose first two columns are left-aligned names and whose other columns are right-aligned numbers.
fn columns(f: &mut fmt::Formatter<'_>, lines: &[Vec<String>]) -> fmt::Result {
    let count = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    for line in lines {
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            if column < 2 {
                write!(f, "  {cell:<width$}")?;
            } else {
                write!(f, "  {cell:>width$}")?;
            }
        }
        writeln!(f)?;
    }
    Ok(())
}

/// Writes one line per partition, with one character per cell.
impl fmt::Display for HeatMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hottest = self.hottest();
        writeln!(
            f,
            "heat, entities written and pages read: a column is {} s, `@` {hottest:.1} a second, `!` over {PARTITION_TARGET}",
            self.seconds_per_column
        )?;
        let width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (name, cells) in &self.rows {
            let shown: String = cells.iter().map(|cell| glyph(*cell, hottest)).collect();
            writeln!(f, "  {name:<width$} |{shown}|")?;
        }
        if self.others > 0 {
            let (others, hottest) = (self.others, self.hottest_other);
            writeln!(f, "  and {others} more partitions, none over {hottest:.1} a second")?;
        }
        Ok(())
    }
}

fn glyph(cell: f64, hottest: f64) -> char {
    if cell > PARTITION_TARGET {
        return '!';
    }
    if cell <= 0.0 {
        return ' ';
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 9")]
    let place = (cell / hottest * 9.0).ceil().clamp(1.0, 9.0) as usize;
    GLYPHS.get(place).copied().unwrap_or('@')
}
