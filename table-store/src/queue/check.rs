//! Validation of counts, durations and sizes, used by all backends (QUE-6 to QUE-9).

use std::time::Duration;

use crate::error::{Error, ErrorCode, Result};
use crate::queue::fault::QueueFault;
use crate::queue::{PutMessage, QueueName, TimeToLive};

/// The maximum number of messages in one receive or peek (QUE-9).
pub const BATCH: usize = 32;
/// The maximum size of a message's text in bytes (QUE-6).
pub const TEXT_BYTES: usize = 65_536;
/// The maximum visibility timeout: seven days (QUE-8).
pub const HIDDEN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

fn refused(queue: &QueueName, fault: QueueFault) -> Error {
    Error::of(fault).with_context(&format!("queue `{queue}`"))
}

/// Checks a requested message count, which must be 1 to 32.
///
/// # Errors
/// `OutOfRangeQueryParameterValue` if the number is out of range (QUE-9).
///
/// ```
/// use table_core::queue::{QueueName, check};
///
/// let queue = QueueName::new("work")?;
/// assert!(check::count(&queue, 32).is_ok());
/// assert_eq!(check::count(&queue, 33).unwrap_err().rule(), Some("QUE-9"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn count(queue: &QueueName, count: usize) -> Result<()> {
    if (1..=BATCH).contains(&count) {
        return Ok(());
    }
    Err(refused(queue, QueueFault::Count { count, most: BATCH }))
}

/// Checks a visibility timeout, which must be a whole number of seconds from `least` to seven days.
///
/// # Errors
/// `OutOfRangeQueryParameterValue` if the timeout is out of range or not a whole number of seconds (QUE-8).
pub fn hidden(queue: &QueueName, time: Duration, least: Duration) -> Result<()> {
    if time.subsec_nanos() == 0 && (least..=HIDDEN).contains(&time) {
        return Ok(());
    }
    Err(refused(queue, QueueFault::Hidden { time, least, most: HIDDEN }))
}

/// Checks a message's text. It may have at most 64 KiB of UTF-8, and only characters that XML 1.0 can represent, because messages are sent as XML.
///
/// # Errors
/// - `RequestBodyTooLarge` if the text is larger than 64 KiB (QUE-6).
/// - `InvalidInput` if it contains a character that XML cannot represent (QUE-4).
///
/// ```
/// use table_core::queue::{QueueName, check};
///
/// let queue = QueueName::new("work")?;
/// assert!(check::text(&queue, "line\r\nline \u{1f600}").is_ok());
/// assert_eq!(check::text(&queue, "a\u{1}b").unwrap_err().rule(), Some("QUE-4"));
/// # Ok::<(), table_core::Error>(())
/// ```
pub fn text(queue: &QueueName, text: &str) -> Result<()> {
    if text.len() > TEXT_BYTES {
        return Err(refused(queue, QueueFault::Text { bytes: text.len(), most: TEXT_BYTES }));
    }
    let Some(illegal) = text.chars().find(|character| is_illegal(*character)) else { return Ok(()) };
    let message = format!(
        "queue `{queue}`: the message contains {}, which XML cannot represent; encode the message, for example in base64",
        illegal.escape_unicode()
    );
    Err(Error::new(ErrorCode::InvalidInput, message).with_rule("QUE-4"))
}

/// Returns `true` if XML 1.0 cannot represent a character, not even as a character reference.
const fn is_illegal(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}'
    )
}

/// Checks a new message's text, visibility delay and time to live.
///
/// # Errors
/// - `RequestBodyTooLarge` if the text exceeds 64 KiB (QUE-6).
/// - `InvalidInput` if XML cannot represent the text (QUE-4).
/// - `OutOfRangeQueryParameterValue` if a duration is out of range or not a whole number of seconds (QUE-7, QUE-8).
/// - `InvalidQueryParameterValue` if the message would expire before it becomes visible (QUE-8).
pub fn message(queue: &QueueName, message: &PutMessage) -> Result<()> {
    text(queue, &message.text)?;
    hidden(queue, message.hidden, Duration::ZERO)?;
    let TimeToLive::For(time) = message.time_to_live else { return Ok(()) };
    if time.subsec_nanos() != 0 || time.is_zero() {
        return Err(refused(queue, QueueFault::TimeToLive(time)));
    }
    if message.hidden >= time {
        return Err(refused(queue, QueueFault::HiddenTooLong { lives: time, hidden: message.hidden }));
    }
    Ok(())
}
