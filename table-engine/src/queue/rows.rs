//! The rows of a queue (`docs/format.md`, "Queues"). Each message has two rows: one keyed by its id, and one keyed by the time at which it becomes visible. A
//! corrupted visibility row is set aside, which means that it is moved to a separate key.

use std::iter;

use chrono::{DateTime, Utc};
use table_store::query::{KeyRange, TextRange};
use table_store::queue::{Message, MessageId, PopReceipt};
use table_store::row::{Row, RowView, RowWriter};
use table_store::{Error, ErrorCode, Result, ValueRef, ticks};
use uuid::Uuid;

use crate::base::Skipped;
use crate::event::event;
use crate::front::Front;
use crate::key::{self, Key, Span};
use crate::queue::fault::StoredQueueFault;
use crate::state::State;

/// The partition of all rows of a queue. A queue has only one partition, because both rows of a message are changed in one transaction.
pub(crate) const PARTITION: &str = "";
/// The number of digits of a time in a key. The time is in ticks.
const TICKS: usize = 19;
/// The maximum number of bytes that are kept of a corrupted row. An intact row has about 100 bytes.
const ASIDE: usize = 1_024;
/// The number of digits in a key for a message's index within its transaction.
const PLACE: usize = 2;

/// Returns the key of a message's visibility row, and the pop receipt. The receipt consists of the digits of the key.
///
/// `ticks` is the Timestamp of the transaction that writes the key. `place` is the message's index in this transaction.
pub(crate) fn shown_key(table: u32, visible: u64, ticks: u64, place: usize) -> (Key, PopReceipt) {
    let receipt = format!("{visible:0TICKS$}{ticks:0TICKS$}{place:0PLACE$}");
    (key_of(table, &format!("v{receipt}")), PopReceipt::new(receipt))
}

/// Returns the key to which a receipt refers, or `None` if the receipt is malformed.
pub(crate) fn key_of_receipt(table: u32, receipt: &PopReceipt) -> Option<Key> {
    let digits = receipt.as_str();
    let legal = digits.len() == 2 * TICKS + PLACE && digits.bytes().all(|byte| byte.is_ascii_digit());
    legal.then(|| key_of(table, &format!("v{digits}")))
}

/// Returns the key of the message with the given id, or `None` if the id is not a GUID.
pub(crate) fn message_key(table: u32, id: &MessageId) -> Option<Key> {
    let id = Uuid::parse_str(id.as_str()).ok()?;
    Some(key_of(table, &format!("m{}", id.simple())))
}

/// Returns the id of a new message: a GUID that sorts by the time the message was put.
pub(crate) fn new_id(ticks: u64) -> MessageId {
    MessageId::new(Uuid::from_u128(u128::from(ticks)).hyphenated().to_string())
}

/// Returns the key for a corrupted row that is set aside. It consists of an `x` and the row's `RowKey`.
pub(super) fn aside_key(table: u32, damaged: &[u8]) -> Result<Key> {
    let (_, row_key) = key::KeyReader::default().split(damaged)?;
    Ok(key_of(table, &format!("x{}", String::from_utf8_lossy(row_key))))
}

/// Returns the replacement for a corrupted row that is set aside. It contains the reason, and the first bytes of the corrupted row.
pub(super) fn aside(damaged: RowView<'_>, reason: &Error) -> Row {
    let (shape, body) = damaged.parts();
    let mut bytes = [shape, body].concat();
    bytes.truncate(ASIDE);
    let mut writer = RowWriter::with_capacity(2);
    writer.property("Reason", ValueRef::String(&reason.to_string()));
    writer.property("Row", ValueRef::Binary(&bytes));
    writer.finish()
}

fn key_of(table: u32, row_key: &str) -> Key {
    let mut bytes = Vec::new();
    key::encode(table, PARTITION, row_key, &mut bytes);
    bytes.into()
}

/// Returns the span of the messages at or after a position. It ends with the last message that becomes visible no later than a given time.
pub(crate) fn shown_span(table: u32, from: Front, to: u64) -> Span {
    let Front { instant, ticks } = from;
    let lower = std::ops::Bound::Included(format!("v{instant:0TICKS$}{ticks:0TICKS$}"));
    let upper = std::ops::Bound::Excluded(format!("v{:0TICKS$}", to.saturating_add(1)));
    Span::of(table, &KeyRange::rows(PARTITION, TextRange { lower, upper }))
}

/// Returns the position of a message in visibility order, given the key of its visibility row.
///
/// In a corrupted key, the number ends at the first byte that is not a digit, and the missing digits count as zeros. No intact key then lies between the
/// returned position and the corrupted key.
pub(crate) fn front_of(key: &[u8]) -> Result<Front> {
    let (_, row_key) = key::KeyReader::default().split(key)?;
    let mut digits =
        row_key.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).chain(iter::repeat(&b'0'));
    let mut number = || {
        let digits = digits.by_ref().take(TICKS);
        digits.fold(0_u64, |number, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
    };
    Ok(Front { instant: number(), ticks: number() })
}

/// Returns the start of the first part that a scan from `from` skipped because of a disk error. Returns the last position if the scan skipped no such part.
///
/// The part may become readable later, so the queue's head must not move past it. Corrupted parts do not count, because their messages are lost.
pub(super) fn end_of_readable(table: u32, from: Front, skipped: &Skipped) -> Result<Front> {
    let Some(first) = skipped.first_disk_error() else { return Ok(Front::LAST) };
    let is_before = first < shown_span(table, from, from.instant).start;
    if is_before { Ok(from) } else { front_of(&first) }
}

fn corrupted(part: &'static str) -> Error {
    Error::of(StoredQueueFault::Broken(part))
}

/// The row that contains the visibility of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) id: MessageId,
    pub(crate) expires: Option<u64>,
    pub(crate) dequeue_count: i32,
}

impl Shown {
    pub(crate) fn read(row: RowView<'_>) -> Result<Self> {
        let hint = &mut 0;
        let Some(ValueRef::Guid(id)) = row.find("Id", hint)? else { return Err(corrupted("id")) };
        let Some(ValueRef::Int32(dequeue_count)) = row.find("DequeueCount", hint)? else {
            return Err(corrupted("count"));
        };
        let id = MessageId::new(id.hyphenated().to_string());
        Ok(Self { id, dequeue_count, expires: instant(row, "Expires", hint)? })
    }

    pub(crate) fn write(&self) -> Row {
        let mut writer = RowWriter::with_capacity(3);
        writer.property("Id", ValueRef::Guid(Uuid::parse_str(self.id.as_str()).unwrap_or_default()));
        writer.property("DequeueCount", ValueRef::Int32(self.dequeue_count));
        if let Some(ticks) = self.expires {
            writer.property("Expires", ValueRef::DateTime(ticks));
        }
        writer.finish()
    }

    /// Returns `true` if the message's time to live has expired.
    pub(crate) fn is_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

fn instant(row: RowView<'_>, name: &str, hint: &mut usize) -> Result<Option<u64>> {
    match row.find(name, hint)? {
        None => Ok(None),
        Some(ValueRef::DateTime(ticks)) => Ok(Some(ticks)),
        Some(_) => Err(corrupted("instant")),
    }
}

/// The part of a message that a receive does not change, such as the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Body<'a> {
    pub(crate) text: &'a str,
    pub(crate) inserted: u64,
    expires: Option<u64>,
}

impl<'a> Body<'a> {
    pub(crate) fn write(text: &str, inserted: u64, expires: Option<u64>) -> Row {
        let mut writer = RowWriter::with_capacity(3);
        writer.property("Inserted", ValueRef::DateTime(inserted));
        if let Some(ticks) = expires {
            writer.property("Expires", ValueRef::DateTime(ticks));
        }
        // The text is stored as a binary value, because 64 KiB of UTF-8 (QUE-6) may exceed a string's 32,768 code units.
        writer.property("Text", ValueRef::Binary(text.as_bytes()));
        writer.finish()
    }

    pub(crate) fn read(row: RowView<'a>) -> Result<Self> {
        let hint = &mut 0;
        let inserted = instant(row, "Inserted", hint)?.ok_or_else(|| corrupted("instant"))?;
        let expires = instant(row, "Expires", hint)?;
        let Some(ValueRef::Binary(text)) = row.find("Text", hint)? else { return Err(corrupted("text")) };
        let text = std::str::from_utf8(text).map_err(|_| corrupted("text"))?;
        Ok(Self { text, inserted, expires })
    }

    /// Returns `true` if the message's time to live has expired.
    pub(crate) fn is_expired(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Builds a message from its two rows.
pub(crate) fn message(state: &State, table: u32, shown: &Shown) -> Result<Message> {
    let key = message_key(table, &shown.id).ok_or_else(|| corrupted("id"))?;
    let row = state.get(&key)?.ok_or_else(|| corrupted("text"))?;
    let body = Body::read(row.view()).map_err(|error| corrupted("text").with_source(error))?;
    let Body { text, inserted, .. } = body;
    let count = u32::try_from(shown.dequeue_count).unwrap_or_default();
    Ok(Message::new(
        shown.id.clone(),
        text.to_owned(),
        datetime(inserted),
        shown.expires.map(datetime),
        count,
    ))
}

/// Logs that a message's visibility row cannot be read.
pub(super) fn report(key: &[u8], error: &Error) {
    let row_key = key::KeyReader::default()
        .split(key)
        .map(|(_, row_key)| String::from_utf8_lossy(row_key).into_owned());
    let row_key = row_key.unwrap_or_default();
    event!(warn, row_key, %error, "the visibility of a message cannot be read");
}

/// Returns the message that its two rows describe, or `None` if its text is corrupted.
pub(crate) fn readable(state: &State, table: u32, shown: &Shown) -> Result<Option<Message>> {
    match message(state, table, shown) {
        Err(error) if error.code() == ErrorCode::Corrupted => {
            event!(warn, id = %shown.id, %error, "a message cannot be read");
            Ok(None)
        }
        message => message.map(Some),
    }
}

/// Converts a time from the engine's clock to `DateTime`, the type that callers receive.
pub(crate) fn datetime(instant: u64) -> DateTime<Utc> {
    ticks::to_datetime(instant).unwrap_or(DateTime::<Utc>::MAX_UTC)
}
