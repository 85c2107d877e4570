//! Displays the progress of a command on a terminal: the number of rows, and rows per second. Displays nothing if standard error is not a terminal.

use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};

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
    bar
}
