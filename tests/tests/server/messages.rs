//! Tests queue messages at their limits: times, counts, receipts and texts.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tests::ask::{Answer, Ask};

use crate::SERVER;

fn create(queue: &str) {
    assert_eq!(Ask::queue("PUT", queue).of(&SERVER).status, 201);
}

fn body(text: &str) -> String {
    format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>")
}

fn put(queue: &str, query: &str, text: &str) -> Answer {
    Ask::queue("POST", format!("{queue}/messages{query}")).body("application/xml", body(text)).of(&SERVER)
}

fn get(queue: &str, query: &str) -> Answer {
    Ask::queue("GET", format!("{queue}/messages{query}")).of(&SERVER)
}

/// Returns the text of each element called `name` in a response.
fn elements(answer: &Answer, name: &str) -> Vec<String> {
    let tag = format!("<{name}>");
    let parts = answer.body.split(&tag).skip(1);
    parts.map(|part| part.split('<').next().unwrap().to_owned()).collect()
}

/// The id and pop receipt of a received message, encoded for a URL.
struct Leased {
    id: String,
    receipt: String,
}

impl Leased {
    fn of(answer: &Answer) -> Self {
        let [id, receipt] = ["MessageId", "PopReceipt"].map(|name| elements(answer, name).remove(0));
        Self { id, receipt: encoded(&receipt) }
    }

    fn target(&self, queue: &str) -> String {
        format!("{queue}/messages/{}?popreceipt={}", self.id, self.receipt)
    }

    fn update(&self, queue: &str, seconds: &str, text: Option<&str>) -> Answer {
        let ask = Ask::queue("PUT", format!("{}&visibilitytimeout={seconds}", self.target(queue)));
        match text {
            Some(text) => ask.body("application/xml", body(text)).of(&SERVER),
            None => ask.of(&SERVER),
        }
    }

    fn delete(&self, queue: &str) -> Answer {
        Ask::queue("DELETE", self.target(queue)).of(&SERVER)
    }
}

fn encoded(text: &str) -> String {
    text.replace('%', "%25").replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

const OUT_OF_RANGE: (u16, &str) = (400, "OutOfRangeQueryParameterValue");
const INVALID: (u16, &str) = (400, "InvalidQueryParameterValue");

#[test]
fn que_7_and_8_times_at_and_beyond_their_limits() {
    create("limits");
    for query in [
        "",
        "?visibilitytimeout=0",
        "?visibilitytimeout=604799",
        "?messagettl=1",
        "?messagettl=-1",
        "?messagettl=604801",
        "?messagettl=2147483647",
        "?messagettl=-1&visibilitytimeout=604800",
        "?visibilitytimeout=1&messagettl=2",
    ] {
        assert_eq!(put("limits", query, "a").status, 201, "{query}");
    }
    for (query, expected) in [
        ("?visibilitytimeout=604801", OUT_OF_RANGE),
        ("?visibilitytimeout=-1", OUT_OF_RANGE),
        ("?visibilitytimeout=99999999999999999999", OUT_OF_RANGE),
        ("?visibilitytimeout=", INVALID),
        ("?visibilitytimeout=a", INVALID),
        ("?visibilitytimeout=1.5", INVALID),
        ("?visibilitytimeout=%201", INVALID),
        ("?messagettl=99999999999999999999", OUT_OF_RANGE),
        ("?messagettl=a", INVALID),
        ("?messagettl=", INVALID),
        ("?messagettl=5&visibilitytimeout=5", INVALID),
        ("?messagettl=5&visibilitytimeout=6", INVALID),
        // By default, a message expires after seven days.
        ("?visibilitytimeout=604800", INVALID),
    ] {
        assert_eq!(put("limits", query, "a").code(), expected, "{query}");
    }
    for query in ["?messagettl=0", "?messagettl=-2", "?messagettl=-99999999999999999999"] {
        assert_eq!(put("limits", query, "a").status, 400, "{query}");
    }
    for query in [
        "?visibilitytimeout=1",
        "?visibilitytimeout=604800",
        "?numofmessages=1",
        "?numofmessages=32",
        "?peekonly=true&numofmessages=32",
        "?peekonly=false",
    ] {
        assert_eq!(get("limits", query).status, 200, "{query}");
    }
    for (query, expected) in [
        ("?visibilitytimeout=0", OUT_OF_RANGE),
        ("?visibilitytimeout=604801", OUT_OF_RANGE),
        ("?numofmessages=0", OUT_OF_RANGE),
        ("?numofmessages=33", OUT_OF_RANGE),
        ("?numofmessages=-1", OUT_OF_RANGE),
        ("?numofmessages=99999999999999999999", OUT_OF_RANGE),
        ("?numofmessages=", INVALID),
        ("?numofmessages=a", INVALID),
        ("?peekonly=true&numofmessages=0", OUT_OF_RANGE),
        ("?peekonly=true&numofmessages=33", OUT_OF_RANGE),
    ] {
        assert_eq!(get("limits", query).code(), expected, "{query}");
    }
}

#[test]
fn que_11_12_and_13_a_receipt_is_for_its_message_until_the_next_one() {
    create("receipts");
    let [first, second] = ["a", "b"].map(|text| {
        assert_eq!(put("receipts", "", text).status, 201);
        Leased::of(&get("receipts", ""))
    });
    let mismatch = (400, "PopReceiptMismatch");
    let swapped = Leased { id: first.id.clone(), receipt: second.receipt.clone() };
    assert_eq!(swapped.delete("receipts").code(), mismatch);
    assert_eq!(swapped.update("receipts", "0", Some("c")).code(), mismatch);
    for receipt in ["", "a", "AAAA", "%00", "%FF", &first.receipt[1..], &format!("{}x", first.receipt)] {
        let wrong = Leased { id: first.id.clone(), receipt: receipt.to_owned() };
        assert_eq!(wrong.delete("receipts").status, 400, "{receipt}");
        assert_eq!(wrong.update("receipts", "1", None).status, 400, "{receipt}");
    }
    let missing =
        Leased { id: "00000000-0000-0000-0000-000000000000".to_owned(), receipt: first.receipt.clone() };
    assert_eq!(missing.delete("receipts").code(), (404, "MessageNotFound"));
    for (verb, target, code) in [
        ("DELETE", format!("receipts/messages/{}", first.id), "MissingRequiredQueryParameter"),
        (
            "PUT",
            format!("receipts/messages/{}?visibilitytimeout=1", first.id),
            "MissingRequiredQueryParameter",
        ),
        ("PUT", first.target("receipts"), "MissingRequiredQueryParameter"),
    ] {
        assert_eq!(Ask::queue(verb, target).of(&SERVER).code(), (400, code));
    }
    for (seconds, expected) in [("604801", OUT_OF_RANGE), ("-1", OUT_OF_RANGE), ("a", INVALID)] {
        assert_eq!(first.update("receipts", seconds, None).code(), expected, "{seconds}");
    }
    // An update returns a new receipt and keeps the dequeue count and the text. The old receipt becomes invalid.
    let updated = first.update("receipts", "0", None);
    assert_eq!(updated.status, 204, "{}", updated.body);
    let renewed = encoded(updated.header("x-ms-popreceipt").unwrap());
    assert_eq!(first.delete("receipts").code(), mismatch);
    assert_eq!(first.update("receipts", "0", None).code(), mismatch);
    let peeked = get("receipts", "?peekonly=true&numofmessages=32");
    assert_eq!(
        (elements(&peeked, "MessageText"), elements(&peeked, "DequeueCount")),
        (vec!["a".to_owned()], vec!["1".to_owned()])
    );
    assert!(
        elements(&peeked, "PopReceipt").is_empty() && elements(&peeked, "TimeNextVisible").is_empty(),
        "{}",
        peeked.body
    );
    // A second receive invalidates the receipt that the update returned.
    let again = get("receipts", "");
    assert_eq!(elements(&again, "DequeueCount"), ["2"]);
    assert_eq!(Leased { id: first.id.clone(), receipt: renewed }.delete("receipts").code(), mismatch);
    assert_eq!(Leased::of(&again).delete("receipts").status, 204);
    assert_eq!(Leased::of(&again).delete("receipts").code(), (404, "MessageNotFound"));
    // The receipt that a put returns is valid even while the message is hidden.
    let hidden = put("receipts", "?visibilitytimeout=100", "c");
    assert_eq!(Leased::of(&hidden).delete("receipts").status, 204);
    // After a clear, no operation finds the message by its receipt.
    assert_eq!(Ask::queue("DELETE", "receipts/messages").of(&SERVER).status, 204);
    assert_eq!(second.delete("receipts").code(), (404, "MessageNotFound"));
    assert_eq!(second.update("receipts", "1", Some("d")).code(), (404, "MessageNotFound"));
}

/// Tests several clients that use the same pop receipt concurrently. Exactly one of them must succeed.
#[test]
fn que_12_updates_with_one_receipt_race_for_it() {
    create("races");
    for round in 0..8 {
        let leased = Leased::of(&put("races", "", "a"));
        let succeeded = AtomicUsize::new(0);
        thread::scope(|scope| {
            for client in 0..8 {
                let (leased, succeeded) = (&leased, &succeeded);
                scope.spawn(move || {
                    let answer = leased.update("races", "0", Some(&format!("client {client}")));
                    match answer.code() {
                        (204, _) => drop(succeeded.fetch_add(1, Ordering::Relaxed)),
                        code => assert_eq!(code, (400, "PopReceiptMismatch"), "{}", answer.body),
                    }
                });
            }
        });
        assert_eq!(succeeded.into_inner(), 1, "round {round}");
        let peeked = get("races", "?peekonly=true");
        assert!(elements(&peeked, "MessageText")[0].starts_with("client "), "{}", peeked.body);
        assert_eq!(Ask::queue("DELETE", "races/messages").of(&SERVER).status, 204);
    }
}

#[test]
fn que_4_and_6_a_text_comes_back_as_it_was_sent_or_is_refused() {
    create("texts");
    for (sent, expected) in [
        ("plain", "plain"),
        ("", ""),
        (" spaces at both ends ", " spaces at both ends "),
        ("&lt;a&gt; &amp; &quot;b&apos;", "<a> & \"b'"),
        ("&#65;&#x42;", "AB"),
        ("line\nline", "line\nline"),
        ("tab\there", "tab\there"),
        ("<![CDATA[<a>&amp;]]>", "<a>&amp;"),
        ("aGVsbG8=", "aGVsbG8="),
        ("not base64!", "not base64!"),
        ("\u{e9}\u{4e2d}\u{1f600}", "\u{e9}\u{4e2d}\u{1f600}"),
        ("{\"a\":1}", "{\"a\":1}"),
    ] {
        let answer = put("texts", "", sent);
        assert_eq!(answer.status, 201, "{sent:?}: {}", answer.body);
        let found = get("texts", "");
        let text = elements(&found, "MessageText").remove(0);
        let text = text
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&apos;", "'")
            .replace("&#xA;", "\n");
        assert_eq!(text.replace("&amp;", "&"), expected, "{sent:?}: {}", found.body);
        assert_eq!(Leased::of(&found).delete("texts").status, 204);
    }
    for sent in [
        "a & b",
        "<b>a</b>",
        "&nbsp;",
        "&#0;",
        "&#xFFFE;",
        "\u{1}",
        "&#55296;",
        "&#99999999;",
        "<!-- a",
        "a]]>",
    ] {
        assert_eq!(put("texts", "", sent).code(), (400, "InvalidXmlDocument"), "{sent:?}");
    }
    for document in [
        "",
        "a",
        "<QueueMessage/>",
        "<QueueMessage></QueueMessage>",
        "<MessageText>a</MessageText>",
        "<QueueMessage><MessageText>a</QueueMessage>",
        "<QueueMessage><MessageText>a</MessageText></QueueMessage><QueueMessage/>",
        "<QueueMessage><MessageText>a</MessageText><MessageText>b</MessageText></QueueMessage>",
        "<!DOCTYPE a [<!ENTITY e \"x\">]><QueueMessage><MessageText>&e;</MessageText></QueueMessage>",
        "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><QueueMessage><MessageText>a</MessageText></QueueMessage>",
        "<queuemessage><messagetext>a</messagetext></queuemessage>",
    ] {
        let answer = Ask::queue("POST", "texts/messages").body("application/xml", document).of(&SERVER);
        assert_eq!(answer.code(), (400, "InvalidXmlDocument"), "{document}: {}", answer.body);
    }
    // The limit applies to the text in UTF-8, after XML entities have been replaced.
    assert_eq!(put("texts", "", &"x".repeat(65_536)).status, 201);
    assert_eq!(put("texts", "", &"x".repeat(65_537)).code(), (413, "RequestBodyTooLarge"));
    assert_eq!(put("texts", "", &"\u{e9}".repeat(32_769)).code(), (413, "RequestBodyTooLarge"));
    assert_eq!(put("texts", "", &"&amp;".repeat(65_536)).status, 201);
}
