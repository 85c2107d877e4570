//! Rows read or written by a command: options that select rows, the pages of a query, and the order in which tables are read.

mod order;
mod pages;
mod selection;

pub(crate) use order::next_page;
pub use order::{all_tables, is_read_first, is_read_last};
pub use pages::{Pages, is_empty, require};
pub use selection::{KeySelection, Selected, Selection, TextRangeArgument, select};
