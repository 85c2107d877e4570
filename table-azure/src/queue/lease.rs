//! Messages as the service writes them (QUE-5, QUE-7).

use chrono::{DateTime, Datelike, Utc};
use table_core::queue::{Lease, Message, MessageId, PopReceipt};

use crate::auth::parse_http_date;
use crate::xml::Record;

/// A message; one that was just put is not sent back with its text (QUE-5).
pub(super) fn message(record: &Record, put: Option<&str>) -> Option<Message> {
    let get = |name: &str| record.get(name).map(String::as_str);
    let expires = parse_http_date(get("ExpirationTime")?)?;
    // The end of the calendar is never (QUE-7).
    let expires: Option<DateTime<Utc>> = (expires.year() < 9999).then_some(expires);
    let text = put.or_else(|| get("MessageText"))?;
    let dequeue_count = get("DequeueCount").map_or(Some(0), |count| count.trim().parse().ok())?;
    let inserted = parse_http_date(get("InsertionTime")?)?;
    Some(Message::new(MessageId::new(get("MessageId")?), text.to_owned(), inserted, expires, dequeue_count))
}

/// A message with its receipt.
pub(super) fn lease(record: &Record, put: Option<&str>) -> Option<Lease> {
    let receipt = PopReceipt::new(record.get("PopReceipt")?.as_str());
    let visible = parse_http_date(record.get("TimeNextVisible")?)?;
    Some(Lease::new(message(record, put)?, receipt, visible))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml;

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
