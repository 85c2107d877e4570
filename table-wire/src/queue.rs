//! Messages of queues as XML, both ways (QUE-4, QUE-5, QUE-7).

use std::fmt::Write;

use chrono::{DateTime, Datelike, Utc};
use table_core::queue::{Lease, Message, MessageId, PopReceipt};

use crate::auth::{parse_http_date, print_http_date};
use crate::xml::{self, Record, content};

/// The name of the element of a message: the records of [`message`] and [`lease`].
pub const RECORD: &str = "QueueMessage";

/// The expiry of a message that does not expire (QUE-7).
const NEVER: &str = "Fri, 31 Dec 9999 23:59:59 GMT";

/// The body that puts or updates a message (QUE-4).
///
/// ```
/// use table_wire::queue;
///
/// let body = queue::write_text("a < b");
/// assert_eq!(queue::read_text(&body).as_deref(), Some("a < b"));
/// ```
#[must_use]
pub fn write_text(text: &str) -> String {
    format!("<QueueMessage><MessageText>{}</MessageText></QueueMessage>", content(text))
}

/// The text of a body that puts or updates a message; `None` if it is not one.
#[must_use]
pub fn read_text(body: &str) -> Option<String> {
    xml::read(body, RECORD)?.pop()?.remove("MessageText")
}

/// Reads a message; one that was just put is not sent back with its text (QUE-5), which is `put`.
#[must_use]
pub fn message(record: &Record, put: Option<&str>) -> Option<Message> {
    let get = |name: &str| record.get(name).map(String::as_str);
    let expires = parse_http_date(get("ExpirationTime")?)?;
    // The end of the calendar is never (QUE-7).
    let expires: Option<DateTime<Utc>> = (expires.year() < 9999).then_some(expires);
    let text = put.or_else(|| get("MessageText"))?;
    let dequeue_count = get("DequeueCount").map_or(Some(0), |count| count.trim().parse().ok())?;
    let inserted = parse_http_date(get("InsertionTime")?)?;
    Some(Message::new(MessageId::new(get("MessageId")?), text.to_owned(), inserted, expires, dequeue_count))
}

/// Reads a message with its receipt.
///
/// ```
/// use chrono::DateTime;
/// use table_core::queue::{Lease, Message, MessageId, PopReceipt};
/// use table_wire::{queue, xml};
///
/// let at = |seconds: i64| DateTime::from_timestamp(1_795_161_600 + seconds, 0).unwrap();
/// let message = Message::new(MessageId::new("7"), "a < b".to_owned(), at(0), None, 1);
/// let received = Lease::new(message, PopReceipt::new("r"), at(30));
///
/// let body = queue::write_received(&[received.clone()]);
/// let records = xml::read(&body, queue::RECORD).unwrap();
/// assert_eq!(queue::lease(&records[0], None), Some(received));
/// ```
#[must_use]
pub fn lease(record: &Record, put: Option<&str>) -> Option<Lease> {
    let receipt = PopReceipt::new(record.get("PopReceipt")?.as_str());
    let visible = parse_http_date(record.get("TimeNextVisible")?)?;
    Some(Lease::new(message(record, put)?, receipt, visible))
}

/// The answer to a put: the message without its text and its count (QUE-5).
#[must_use]
pub fn write_put(put: &Lease) -> String {
    list(|xml| element(xml, &put.message, Some(put), false))
}

/// The answer to a receive.
#[must_use]
pub fn write_received(leases: &[Lease]) -> String {
    list(|xml| leases.iter().for_each(|lease| element(xml, &lease.message, Some(lease), true)))
}

/// The answer to a peek: without receipts (QUE-5).
#[must_use]
pub fn write_peeked(messages: &[Message]) -> String {
    list(|xml| messages.iter().for_each(|message| element(xml, message, None, true)))
}

fn list(write: impl FnOnce(&mut String)) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?><QueueMessagesList>");
    write(&mut xml);
    xml + "</QueueMessagesList>"
}

fn element(xml: &mut String, message: &Message, lease: Option<&Lease>, whole: bool) {
    let expires = message.expires.map_or_else(|| NEVER.to_owned(), print_http_date);
    // Writing to a `String` cannot fail.
    let _ = write!(
        xml,
        "<QueueMessage><MessageId>{}</MessageId><InsertionTime>{}</InsertionTime><ExpirationTime>{expires}</ExpirationTime>",
        content(message.id.as_str()),
        print_http_date(message.inserted),
    );
    if let Some(lease) = lease {
        let (receipt, visible) = (content(lease.receipt.as_str()), print_http_date(lease.visible));
        let _ = write!(xml, "<PopReceipt>{receipt}</PopReceipt><TimeNextVisible>{visible}</TimeNextVisible>");
    }
    if whole {
        let (count, text) = (message.dequeue_count, content(&message.text));
        let _ = write!(xml, "<DequeueCount>{count}</DequeueCount><MessageText>{text}</MessageText>");
    }
    xml.push_str("</QueueMessage>");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        /// To the second, as dates are on the wire.
        fn any_lease()(
            (id, text, receipt) in ("[a-f0-9-]{1,36}", "[ -~\\r\\né\u{1F600}]{0,40}", "[A-Za-z0-9+/=]{1,20}"),
            (inserted, life, hidden) in (0_i64..4_000_000_000, prop::option::of(0_i64..9_000_000), 0_i64..9_000_000),
            count: u32,
        ) -> Lease {
            let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
            let expires = life.map(|life| at(inserted + life));
            let message = Message::new(MessageId::new(id), text, at(inserted), expires, count);
            Lease::new(message, PopReceipt::new(receipt), at(inserted + hidden))
        }
    }

    proptest! {
        #[test]
        fn que_4_5_and_7_what_is_written_is_read(leases in prop::collection::vec(any_lease(), 0..4)) {
            let read = xml::read(&write_received(&leases), RECORD).unwrap();
            let found: Option<Vec<_>> = read.iter().map(|record| lease(record, None)).collect();
            prop_assert_eq!(found.as_ref(), Some(&leases));
            let messages: Vec<_> = leases.iter().map(|lease| lease.message.clone()).collect();
            let read = xml::read(&write_peeked(&messages), RECORD).unwrap();
            let found: Option<Vec<_>> = read.iter().map(|record| message(record, None)).collect();
            prop_assert_eq!(found, Some(messages));
            prop_assert!(read.iter().all(|record| lease(record, None).is_none()));
            for put in &leases {
                let text = put.message.text.as_str();
                let sent = read_text(&write_text(text));
                prop_assert_eq!(sent.as_deref(), Some(text));
                let read = xml::read(&write_put(put), RECORD).unwrap();
                prop_assert!(!read[0].contains_key("MessageText") && !read[0].contains_key("DequeueCount"));
                let found = lease(&read[0], Some(text)).unwrap();
                prop_assert_eq!((&found.receipt, found.visible), (&put.receipt, put.visible));
                prop_assert_eq!((found.message.dequeue_count, &found.message.text), (0, &put.message.text));
            }
        }
    }

    const RECEIVED: &str = "<QueueMessagesList><QueueMessage><MessageId>7</MessageId>\
        <InsertionTime>Fri, 20 Nov 2026 08:00:00 GMT</InsertionTime><ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>\
        <PopReceipt>a+/=</PopReceipt><TimeNextVisible>Fri, 20 Nov 2026 08:00:30 GMT</TimeNextVisible>\
        <DequeueCount>2</DequeueCount><MessageText> a &lt; b&#13;\n</MessageText></QueueMessage></QueueMessagesList>";

    #[test]
    fn que_5_and_7_a_received_message() {
        let records = xml::read(RECEIVED, "QueueMessage").unwrap();
        let lease = lease(&records[0], None).unwrap();
        assert_eq!((lease.message.text.as_str(), lease.message.dequeue_count), (" a < b\r\n", 2));
        assert_eq!((lease.receipt.as_str(), lease.message.expires), ("a+/=", None));
        assert_eq!((lease.visible - lease.message.inserted).num_seconds(), 30);
    }

    #[test]
    fn que_5_what_lacks_something_is_no_message() {
        for missing in
            ["MessageId", "InsertionTime", "ExpirationTime", "PopReceipt", "TimeNextVisible", "MessageText"]
        {
            let mut record = xml::read(RECEIVED, "QueueMessage").unwrap().remove(0);
            record.remove(missing);
            assert_eq!(lease(&record, None), None, "{missing}");
        }
        let mut record = xml::read(RECEIVED, "QueueMessage").unwrap().remove(0);
        record.insert("DequeueCount".into(), "many".into());
        assert_eq!(lease(&record, None), None);
    }
}
