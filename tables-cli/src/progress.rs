//! Displays the progress of a command on a terminal: the number of rows, and rows per second. Displays nothing if standard error is not a terminal.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle, WeakProgressBar};

/// The newest display of this process. A command has at most one display at a time.
static NEWEST: Mutex<Option<WeakProgressBar>> = Mutex::new(None);

/// Hides the progress display while a function writes other text to the terminal. Otherwise, the text would follow the display on the same line.
pub(crate) fn hidden_while<T>(write: impl FnOnce() -> T) -> T {
    let newest = NEWEST.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match newest.and_then(|newest| newest.upgrade()) {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Creates a progress display for a command that processes rows. `verb` is a past participle such as "copied".
#[must_use]
pub fn rows(verb: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "shown with limited precision"
        )]
        let rate = state.per_sec() as u64;
        // An error while drawing the progress line is ignored.
        let _ = write!(out, "{}", HumanCount(rate));
    };
    if let Ok(style) =
        ProgressStyle::with_template("{spinner} {human_pos} rows {msg}, {rate} rows/s, {elapsed}")
    {
        bar.set_style(style.with_key("rate", rate));
    }
    bar.set_message(verb);
    bar.enable_steady_tick(Duration::from_millis(200));
    *NEWEST.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.downgrade());
    bar
}
