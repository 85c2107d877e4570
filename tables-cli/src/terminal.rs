//! Text for a terminal. Rows, files and stores can contain control characters, which could control the user's terminal.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

use serde::Serialize;

use crate::progress;

/// Text for a terminal. Control characters other than line ends are replaced with U+FFFD.
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

/// Returns a value as JSON on one line. Control characters are escaped, even those above U+007E, which JSON permits in strings.
pub(crate) fn json_text(value: &impl Serialize) -> io::Result<String> {
    let mut text = String::new();
    for character in serde_json::to_string(value)?.chars() {
        // JSON has control characters only in strings.
        if character.is_control() {
            // Writing to a string never fails.
            let _ = write!(text, "\\u{:04x}", u32::from(character));
        } else {
            text.push(character);
        }
    }
    Ok(text)
}

/// A writer to a terminal. Replaces control characters, except line ends and tabs, with U+FFFD, as [`Printable`] does.
pub(crate) struct Filtered<W> {
    out: W,
    /// Buffers the first byte of a possible control character until the second byte is written.
    begun: Option<u8>,
}

/// The first byte of the UTF-8 encoding of U+0080 to U+00BF. Of these characters, U+0080 to U+009F are control characters.
const FIRST: u8 = 0xC2;

impl<W: Write> Filtered<W> {
    pub(crate) const fn new(out: W) -> Self {
        Self { out, begun: None }
    }
}

impl<W: Write> Write for Filtered<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = Vec::with_capacity(bytes.len() + 1);
        for byte in bytes {
            match (self.begun.take(), *byte) {
                (Some(_), 0x80..=0x9F) => text.extend("\u{fffd}".as_bytes()),
                (begun, byte) => {
                    text.extend(begun);
                    match byte {
                        FIRST => self.begun = Some(byte),
                        b'\n' | b'\t' => text.push(byte),
                        0..=0x1F | 0x7F => text.extend("\u{fffd}".as_bytes()),
                        _ => text.push(byte),
                    }
                }
            }
        }
        self.out.write_all(&text)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes text to standard error, replacing control characters. A progress display is hidden meanwhile.
pub(crate) fn print(text: impl Display) {
    let text = Printable(text).to_string();
    progress::hidden_while(|| {
        let mut out = io::stderr();
        // If standard error is closed, the text is lost.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    });
}

/// Writes a line to standard error.
pub(crate) fn print_line(text: impl Display) {
    print(format_args!("{text}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_receives_no_control_characters_however_the_text_is_divided() {
        let text = "a\u{1b}[2J\tb\u{7f}\u{9b}c\r\nd\u{e9}\u{a9}\u{80}\u{1f600}";
        let expected = "a\u{fffd}[2J\tb\u{fffd}\u{fffd}c\u{fffd}\nd\u{e9}\u{a9}\u{fffd}\u{1f600}";
        for length in 1..=text.len() {
            let mut out = Filtered::new(Vec::new());
            text.as_bytes().chunks(length).for_each(|bytes| out.write_all(bytes).unwrap());
            out.flush().unwrap();
            assert_eq!(String::from_utf8(out.out).unwrap(), expected, "{length}");
        }
    }

    #[test]
    fn control_characters_except_line_ends_are_replaced() {
        let text = Printable("a\u{1b}[2J\r\tb\u{7f}\u{9b}c\nd\u{e9}").to_string();
        assert_eq!(text, "a\u{fffd}[2J\u{fffd}\u{fffd}b\u{fffd}\u{fffd}c\nd\u{e9}");
    }
}
