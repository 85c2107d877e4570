//! The program's log, written to standard error as text or JSON.

use clap::ValueEnum;
use serde::Deserialize;
use tracing::Level;

/// The log's level and format.
#[derive(Clone, Copy, Debug, Default, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Log {
    /// Only failures and refused signatures.
    #[default]
    Quiet,
    /// Every request, as a line of text.
    Text,
    /// Every request, as a line of JSON.
    Json,
}

impl Log {
    /// Starts the log.
    pub(crate) fn begin(self) {
        let level = if matches!(self, Self::Quiet) { Level::WARN } else { Level::INFO };
        // By default, the library reports a failed write with `eprintln!`, which panics if standard error is not writable, for example because its disk is
        // full.
        let log = tracing_subscriber::fmt()
            .with_writer(std::io::stderr)
            .with_max_level(level)
            .with_ansi(false)
            .log_internal_errors(false);
        match self {
            Self::Quiet | Self::Text => log.init(),
            Self::Json => log.json().flatten_event(true).init(),
        }
    }
}
