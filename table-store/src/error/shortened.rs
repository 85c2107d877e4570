//! Length limits for messages: quoted text is truncated, and the middle of a long message is omitted.

use std::collections::VecDeque;
use std::fmt::{self, Display, Write};

/// The maximum length of quoted text, in characters. Names and ordinary keys are shorter and are quoted in full.
const QUOTED: usize = 100;
/// The maximum length of a message, in characters.
pub(super) const MESSAGE: usize = 1_000;
/// The maximum number of characters that `Debug` prints for each cause.
pub(super) const CAUSE: usize = 16_000;
/// The number of characters reserved for the note printed in place of the omitted middle.
const NOTE: usize = 60;

/// Text from a caller or a store, quoted in a message. Only the first 100 characters are printed. The total length is added to longer text.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(&'a str);

/// Limits the length of text quoted in a message. Use it for all text of unknown length.
#[must_use]
pub const fn quoted(text: &str) -> Quoted<'_> {
    Quoted(text)
}

impl Quoted<'_> {
    /// Returns the part to print and, if the text is longer than that, its total length.
    fn parts(&self) -> (&str, Option<usize>) {
        let (start, rest) = split_after(self.0, QUOTED);
        (start, (!rest.is_empty()).then(|| QUOTED + rest.chars().count()))
    }

    /// Returns the truncated text with quotes and control characters escaped.
    #[must_use]
    pub fn escaped(self) -> impl Display {
        let (start, length) = self.parts();
        With(start.escape_debug().to_string(), length)
    }
}

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, length) = self.parts();
        With(start, length).fmt(f)
    }
}

/// The displayed prefix of quoted text, and the full length if the text was truncated.
struct With<S>(S, Option<usize>);

impl<S: Display> Display for With<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        self.1.map_or(Ok(()), |length| write!(f, "… ({length} characters)"))
    }
}

/// A message limited to the given number of characters. The middle of a longer message is omitted, because the start states the problem and the end states the
/// solution.
pub(super) struct Bounded<D>(pub(super) D, pub(super) usize);

impl<D: Display> Display for Bounded<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.1.saturating_sub(NOTE) / 3;
        let start = self.1.saturating_sub(NOTE + end);
        // A message of exactly the maximum length is printed without a note, so `NOTE` more characters at the end are buffered until the length is known.
        let mut writer = Ends { to: f, start, end: VecDeque::new(), most: end + NOTE, omitted: 0 };
        write!(writer, "{}", self.0)?;
        let Ends { mut end, mut omitted, .. } = writer;
        if omitted > 0 {
            omitted += end.drain(..NOTE).count();
            write!(f, "… ({omitted} characters omitted) …")?;
        }
        end.iter().try_for_each(|&character| f.write_char(character))
    }
}

/// A writer that prints the start of a message immediately and buffers the end.
struct Ends<'a, 'f> {
    to: &'a mut fmt::Formatter<'f>,
    /// The number of characters that can still be printed immediately.
    start: usize,
    end: VecDeque<char>,
    most: usize,
    omitted: usize,
}

impl Write for Ends<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let (start, rest) = split_after(text, self.start);
        if !start.is_empty() {
            self.start -= start.chars().count();
            self.to.write_str(start)?;
        }
        // Only the last `most` characters of long text are copied. The others are only counted.
        let last = rest.char_indices().rev().nth(self.most).map_or(0, |(at, _)| at);
        let (middle, last) = rest.split_at(last);
        if !middle.is_empty() {
            self.omitted += self.end.drain(..).count() + middle.chars().count();
        }
        self.end.extend(last.chars());
        let surplus = self.end.len().saturating_sub(self.most);
        self.omitted += self.end.drain(..surplus).count();
        Ok(())
    }
}

/// Splits a text after the given number of characters.
fn split_after(text: &str, characters: usize) -> (&str, &str) {
    text.split_at(text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at))
}
