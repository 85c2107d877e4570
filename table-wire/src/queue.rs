//! XML bodies of queue messages (QUE-4, QUE-5, QUE-7).

use std::fmt::Write;

use chrono::{DateTime, Datelike, Utc};
use table_core::queue::{Lease, Message, MessageId, PopReceipt};

use crate::auth::{parse_http_date, print_http_date};
use crate::xml::{Element, content};

/// The XML element name of a message.
pub const RECORD: &str = "QueueMessage";

/// The approximate XML size of a message without its text, in bytes.
const RECORD_BYTES: usize = 512;

/// The expiration date of a message that never expires (QUE-7).
const NEVER: &str = "Fri, 31 Dec 9999 23:59:59 GMT";

/// Returns the request body that adds or updates a message (QUE-4).
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

/// Reads the message text from the body of a put or update request.
///
/// Returns `None` unless the body is a `QueueMessage` with one `MessageText` that contains only text. Also returns `None` if the text contains a character that
/// is illegal in XML, because clients could not parse a response with such a text.
///
/// ```
/// use table_wire::queue;
///
/// let body = |text: &str| format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
/// assert_eq!(queue::read_text(&body("a&lt;b")).as_deref(), Some("a<b"));
/// assert_eq!(queue::read_text(&body("a<b/>")), None);
/// assert_eq!(queue::read_text(&body("&#1;")), None);
/// ```
#[must_use]
pub fn read_text(body: &str) -> Option<String> {
    let message = Element::of_request(body).filter(|message| message.name() == RECORD)?;
    match message.children() {
        [text] if text.name() == "MessageText" => text.text().map(str::to_owned),
        _ => None,
    }
}

/// Reads a message list. `read` parses one message. Pass [`message`] or [`lease`].
///
/// Returns `None` if the body is not XML or `read` returns `None` for a message.
#[must_use]
pub fn read_list<T>(body: &str, read: impl Fn(&Element) -> Option<T>) -> Option<Vec<T>> {
    Element::read(body)?.each(RECORD).map(read).collect()
}

/// Reads a message. The response to a put does not contain the message text (QUE-5). In that case, pass the text as `put`.
#[must_use]
pub fn message(record: &Element, put: Option<&str>) -> Option<Message> {
    let get = |name: &str| record.text_of(name);
    let expires = parse_http_date(get("ExpirationTime")?)?;
    // The year 9999 means that the message never expires (QUE-7).
    let expires: Option<DateTime<Utc>> = (expires.year() < 9999).then_some(expires);
    let text = put.or_else(|| get("MessageText"))?;
    let dequeue_count = get("DequeueCount").map_or(Some(0), |count| count.trim().parse().ok())?;
    let inserted = parse_http_date(get("InsertionTime")?)?;
    Some(Message::new(MessageId::new(get("MessageId")?), text.to_owned(), inserted, expires, dequeue_count))
}

/// Reads a message with its pop receipt and visibility time. For `put`, see [`message`].
///
/// ```
/// use chrono::DateTime;
/// use table_core::queue::{Lease, Message, MessageId, PopReceipt};
/// use table_wire::queue;
///
/// let at = |seconds: i64| DateTime::from_timestamp(1_795_161_600 + seconds, 0).unwrap();
/// let message = Message::new(MessageId::new("7"), "a < b".to_owned(), at(0), None, 1);
/// let received = Lease::new(message, PopReceipt::new("r"), at(30));
///
/// let body = queue::write_received(&[received.clone()]);
/// assert_eq!(queue::read_list(&body, |record| queue::lease(record, None)), Some(vec![received]));
/// ```
#[must_use]
pub fn lease(record: &Element, put: Option<&str>) -> Option<Lease> {
    let receipt = PopReceipt::new(record.text_of("PopReceipt")?);
    let visible = parse_http_date(record.text_of("TimeNextVisible")?)?;
    Some(Lease::new(message(record, put)?, receipt, visible))
}

/// Returns the response body for a put: the message without its text and dequeue count (QUE-5).
#[must_use]
pub fn write_put(put: &Lease) -> String {
    list(RECORD_BYTES, |xml| element(xml, &put.message, Some(put), false))
}

/// Returns the response body for a receive: the messages with their texts and pop receipts.
#[must_use]
pub fn write_received(leases: &[Lease]) -> String {
    let bytes = leases.iter().map(|lease| record_bytes(&lease.message)).sum();
    list(bytes, |xml| leases.iter().for_each(|lease| element(xml, &lease.message, Some(lease), true)))
}

/// Returns the response body for a peek: the messages with their texts, but without pop receipts (QUE-5).
#[must_use]
pub fn write_peeked(messages: &[Message]) -> String {
    let bytes = messages.iter().map(record_bytes).sum();
    list(bytes, |xml| messages.iter().for_each(|message| element(xml, message, None, true)))
}

/// Returns the approximate size of a message as XML, in bytes.
const fn record_bytes(message: &Message) -> usize {
    RECORD_BYTES + message.text.len()
}

/// Returns an XML message list. `write` appends the messages, whose approximate total size is `bytes`.
fn list(bytes: usize, write: impl FnOnce(&mut String)) -> String {
    let mut xml = String::with_capacity(128 + bytes);
    xml.push_str("<?xml version=\"1.0\" encoding=\"utf-8\"?><QueueMessagesList>");
    write(&mut xml);
    xml.push_str("</QueueMessagesList>");
    xml
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
        /// Generates leases with times in whole seconds, the precision of HTTP dates.
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
        fn que_4_5_and_7_written_messages_are_read_back(leases in prop::collection::vec(any_lease(), 0..4)) {
            let found = read_list(&write_received(&leases), |record| lease(record, None));
            prop_assert_eq!(found.as_ref(), Some(&leases));
            let messages: Vec<_> = leases.iter().map(|lease| lease.message.clone()).collect();
            let peeked = write_peeked(&messages);
            prop_assert_eq!(read_list(&peeked, |record| message(record, None)), Some(messages.clone()));
            prop_assert!(messages.is_empty() || read_list(&peeked, |record| lease(record, None)).is_none());
            for put in &leases {
                let text = put.message.text.as_str();
                let sent = read_text(&write_text(text));
                prop_assert_eq!(sent.as_deref(), Some(text));
                let list = Element::read(&write_put(put)).unwrap();
                let record = list.child(RECORD).unwrap();
                prop_assert!(record.child("MessageText").is_none() && record.child("DequeueCount").is_none());
                let found = lease(record, Some(text)).unwrap();
                prop_assert_eq!((&found.receipt, found.visible), (&put.receipt, put.visible));
                prop_assert_eq!((found.message.dequeue_count, &found.message.text), (0, &put.message.text));
            }
        }

        /// Tests that every accepted message text can be returned as XML.
        #[test]
        fn que_4_accepted_text_is_legal_xml(text in any::<String>()) {
            let raw = format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
            if let Some(accepted) = read_text(&raw) {
                prop_assert!(crate::xml::first_illegal(&accepted).is_none());
                prop_assert_eq!(read_text(&write_text(&accepted)), Some(accepted));
            }
        }
    }

    #[test]
    fn que_4_bodies_that_are_not_one_text_are_refused() {
        for body in [
            "",
            "<MessageText>a</MessageText>",
            "<QueueMessage/>",
            "<QueueMessage>a</QueueMessage>",
            "<Q><MessageText>a</MessageText></Q>",
            "<QueueMessage><MessageText>a</MessageText><MessageText>b</MessageText></QueueMessage>",
            "<QueueMessage><MessageText>a<b>c</b></MessageText></QueueMessage>",
            "<QueueMessage><MessageText><MessageText>a</MessageText></MessageText></QueueMessage>",
            "<QueueMessage><MessageText>&#0;</MessageText></QueueMessage>",
            "<QueueMessage><MessageText>&#xFFFF;</MessageText></QueueMessage>",
            "<QueueMessage><MessageText>\u{b}</MessageText></QueueMessage>",
            "<QueueMessage><MessageText>a & b</MessageText></QueueMessage>",
        ] {
            assert_eq!(read_text(body), None, "{body:?}");
        }
    }

    const RECEIVED: &str = "<QueueMessagesList><QueueMessage><MessageId>7</MessageId>\
        <InsertionTime>Fri, 20 Nov 2026 08:00:00 GMT</InsertionTime><ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>\
        <PopReceipt>a+/=</PopReceipt><TimeNextVisible>Fri, 20 Nov 2026 08:00:30 GMT</TimeNextVisible>\
        <DequeueCount>2</DequeueCount><MessageText> a &lt; b&#13;\n</MessageText></QueueMessage></QueueMessagesList>";

    #[test]
    fn que_5_and_7_a_received_message() {
        let leases = read_list(RECEIVED, |record| lease(record, None)).unwrap();
        let lease = &leases[0];
        assert_eq!((lease.message.text.as_str(), lease.message.dequeue_count), (" a < b\r\n", 2));
        assert_eq!((lease.receipt.as_str(), lease.message.expires), ("a+/=", None));
        assert_eq!((lease.visible - lease.message.inserted).num_seconds(), 30);
    }

    #[test]
    fn que_5_an_incomplete_message_is_refused() {
        let read = |body: &str| read_list(body, |record| lease(record, None));
        for missing in
            ["MessageId", "InsertionTime", "ExpirationTime", "PopReceipt", "TimeNextVisible", "MessageText"]
        {
            let other = RECEIVED
                .replace(&format!("<{missing}>"), "<Other>")
                .replace(&format!("</{missing}>"), "</Other>");
            assert_eq!(read(&other), None, "{missing}");
        }
        assert_eq!(read(&RECEIVED.replace(">2<", ">many<")), None);
    }
}
