//! Prints the warnings of the libraries to standard error, for example for each stored row that a page omits because it is not a valid entity.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Write as _};
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::terminal;

/// The maximum number of warnings with the same message that are printed. A table can contain millions of rows of other programs.
const SHOWN: usize = 20;
/// The source of the warnings of a server, which runs for a long time. They are not limited.
const SERVER: &str = "table_server";

/// Prints all later warnings.
pub(crate) fn print_all() {
    // If an earlier command in this process has already installed a subscriber, it is kept.
    let _ = tracing_subscriber::registry().with(LevelFilter::WARN).with(Warnings::default()).try_init();
}

/// Receives the warnings.
#[derive(Debug, Default)]
struct Warnings(Mutex<Shown>);

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        event.record(&mut text);
        let (metadata, line) = (event.metadata(), text.line());
        let shown = if metadata.target().starts_with(SERVER) {
            Some(line)
        } else {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).next(&text.message, line)
        };
        if let Some(line) = shown {
            let kind = if *metadata.level() == Level::ERROR { "error" } else { "warning" };
            terminal::print_line(format_args!("{kind}: {line}"));
        }
    }
}

/// The warnings printed so far, by their message.
#[derive(Debug, Default)]
struct Shown(HashMap<String, HashSet<String>>);

impl Shown {
    /// Returns the line to print for a warning. Returns `None` if the warning was printed before, because some commands read a table several times, or if too many
    /// warnings with this message were printed.
    fn next(&mut self, message: &str, line: String) -> Option<String> {
        let shown = self.0.entry(message.to_owned()).or_default();
        if shown.len() > SHOWN || !shown.insert(line.clone()) {
            return None;
        }
        // The set keeps one more line, so the limit is reported once.
        let is_last = shown.len() > SHOWN;
        Some(if is_last { format!("{message}: further warnings are not printed") } else { line })
    }
}

/// The text of a warning.
#[derive(Debug, Default)]
struct Text {
    message: String,
    error: String,
    fields: String,
}

impl Text {
    /// Returns the text on one line.
    fn line(&self) -> String {
        let parts = [self.message.as_str(), self.error.as_str(), self.fields.trim_start()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(": ").replace(['\n', '\r'], " ")
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let written: fmt::Result = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            "error" => write!(self.error, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
        // Writing to a string never fails.
        let _ = written;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_printed_once_up_to_a_limit_for_each_message() {
        let mut shown = Shown::default();
        let mut printed = Vec::new();
        for _ in 0..2 {
            for number in 0..30 {
                printed.extend(shown.next("a row was skipped", format!("a row was skipped: {number}")));
            }
        }
        let mut expected: Vec<_> = (0..20).map(|number| format!("a row was skipped: {number}")).collect();
        expected.push("a row was skipped: further warnings are not printed".to_owned());
        assert_eq!(printed, expected);
        assert_eq!(
            shown.next("retries are disabled", "retries are disabled".to_owned()).as_deref(),
            Some("retries are disabled")
        );
    }

    #[test]
    fn a_warning_is_one_line() {
        let text = |message: &str, error: &str, fields: &str| {
            Text { message: message.to_owned(), error: error.to_owned(), fields: fields.to_owned() }.line()
        };
        assert_eq!(text("a row was skipped", "bad\nkey", ""), "a row was skipped: bad key");
        assert_eq!(text("near the limit", "", " bytes=7 most=8"), "near the limit: bytes=7 most=8");
        assert_eq!(text("", "", " table=\"a\""), "table=\"a\"");
    }
}
