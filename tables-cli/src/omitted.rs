//! Reports the stored rows that a store omits from its pages, because it cannot represent them as entities.

use crate::count::count_of;
use crate::failure::Exit;
use crate::terminal;

/// Returns the part of a report that tells the number of omitted rows, or an empty string if no row was omitted.
pub(crate) fn omitted_part(rows: u64) -> String {
    if rows == 0 { String::new() } else { format!(", {} omitted", count_of(rows, "row")) }
}

/// Prints a warning with the number of omitted rows, unless it is 0.
pub(crate) fn warn(rows: u64) {
    if rows > 0 {
        let rows = count_of(rows, "row");
        terminal::print_line(format_args!(
            "warning: {rows} omitted, because the store cannot represent them as entities"
        ));
    }
}

/// Returns the exit code of a command whose output has no report. If the store omitted rows, prints a warning with their number.
#[must_use]
pub fn end(exit: Exit, rows: u64) -> Exit {
    warn(rows);
    exit.after_omitting(rows)
}
