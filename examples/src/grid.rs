//! Prints tables with headers on a terminal. The number of printed rows can be limited.

use std::fmt;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table};

const SHOWN: usize = 12;
const WIDTH: u16 = 118;

/// A table with headers. `Display` shows the first twelve rows, and the number of hidden rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The positions of the numeric columns, which are right-aligned.
    right: Vec<usize>,
    whole: bool,
}

impl Grid {
    /// Creates a grid without rows. A header that starts with `#` marks a column of numbers.
    ///
    /// ```
    /// use examples::grid::Grid;
    ///
    /// let mut grid = Grid::new(["Airport", "#Flights"]);
    /// grid.row(["SEA", "109069"]);
    /// assert!(grid.to_string().contains("Flights"));
    /// ```
    pub fn new<'a>(headers: impl IntoIterator<Item = &'a str>) -> Self {
        let mut grid = Self::default();
        for (column, header) in headers.into_iter().enumerate() {
            let name = header.strip_prefix('#').inspect(|_| grid.right.push(column)).unwrap_or(header);
            grid.headers.push(name.to_owned());
        }
        grid
    }

    /// Adds a row.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Makes `Display` show every row.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// Returns the number of rows, including hidden ones.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if the grid has no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table.load_style(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(WIDTH).set_header(&self.headers);
        let shown = if self.whole { self.rows.len() } else { SHOWN };
        for row in self.rows.iter().take(shown) {
            table.add_row(row);
        }
        for column in &self.right {
            if let Some(column) = table.column_mut(*column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        write!(f, "{table}")?;
        match self.rows.len().saturating_sub(shown) {
            0 => Ok(()),
            more => write!(f, "\n  … and {} more", thousands(more as u64)),
        }
    }
}

/// Formats a number with thousands separated by commas.
///
/// ```
/// assert_eq!(examples::grid::thousands(1_234_567), "1,234,567");
/// assert_eq!(examples::grid::thousands(7), "7");
/// ```
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
