//! Text for a terminal. Rows, files and stores can contain control characters, which could control the user's terminal.

use std::fmt::{self, Display, Write as _};
use std::io::Write as _;

/// Text for a terminal, with control characters, except line ends, replaced with U+FFFD.
///
/// ```
/// use tables_cli::terminal::Printable;
///
/// assert_eq!(Printable("a\u{1b}[2J\nb").to_string(), "a\u{fffd}[2J\nb");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<T>(pub T);

impl<T: Display> Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Replacing(f), "{}", self.0)
    }
}

/// A writer that replaces control characters.
struct Replacing<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for Replacing<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_control = |character: char| character.is_control() && character != '\n';
        text.chars().try_for_each(|character| {
            self.0.write_char(if is_control(character) { char::REPLACEMENT_CHARACTER } else { character })
        })
    }
}

/// Writes text to standard error, replacing control characters.
pub(crate) fn print(text: impl Display) {
    let mut out = std::io::stderr();
    // If standard error is closed, the text is lost.
    let _ = write!(out, "{}", Printable(text)).and_then(|()| out.flush());
}

/// Writes a line to standard error.
pub(crate) fn print_line(text: impl Display) {
    print(format_args!("{text}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_except_line_ends_are_replaced() {
        let text = Printable("a\u{1b}[2J\r\tb\u{7f}\u{9b}c\nd\u{e9}").to_string();
        assert_eq!(text, "a\u{fffd}[2J\u{fffd}\u{fffd}b\u{fffd}\u{fffd}c\nd\u{e9}");
    }
}
