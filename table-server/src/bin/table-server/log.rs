//! Where the program's log goes: standard error, as text or as JSON.

use clap::ValueEnum;
use tracing::Level;

/// How the log is written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Log {
    /// Nothing but warnings, such as scans of tables.
    Quiet,
    /// Every request as a line of text.
    Text,
    /// Every request as a line of JSON.
    Json,
}

impl Log {
    /// Begins to log.
    pub(crate) fn begin(self) {
        let level = if matches!(self, Self::Quiet) { Level::WARN } else { Level::INFO };
        let log =
            tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).with_ansi(false);
        match self {
            Self::Quiet | Self::Text => log.init(),
            Self::Json => log.json().flatten_event(true).init(),
        }
    }
}
