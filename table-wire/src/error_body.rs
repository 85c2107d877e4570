//! Parsing and creation of error bodies in JSON and in two XML formats (ERR-1, ERR-2).

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::xml::content;

/// The maximum length of a service's message, in characters. Longer messages are truncated.
const MOST_TEXT: usize = 1_000;

/// An error parsed from a response body.
///
/// ```
/// use table_wire::ErrorBody;
///
/// let body = ErrorBody::read(br#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"3:It exists.\nRequestId:x"}}}"#);
/// assert_eq!((body.code.as_deref(), body.message.as_str(), body.index), (Some("EntityAlreadyExists"), "It exists.", Some(3)));
/// assert!(!ErrorBody::read(b"<html>").known);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// The service's error code.
    pub code: Option<String>,
    /// The message as a single line, without the index, request ID and time added by the service.
    pub message: String,
    /// The index of the failed operation in its batch. It is read from the start of the service's message (EGT-34).
    pub index: Option<usize>,
    /// `true` if the body has the format of a storage service. `false` for any other body, such as a proxy's error page.
    pub known: bool,
}

impl ErrorBody {
    /// Reads an error body in any format. This function never fails. For an unknown format, [`known`](Self::known) is `false`.
    #[must_use]
    pub fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        let (code, message) = of_json(text).or_else(|| of_xml(text)).unwrap_or_default();
        let known = code.is_some() || message.is_some();
        let message = message.unwrap_or_default();
        // The text, the request ID and the time are on separate lines of the message (ERR-1).
        let lines =
            message.trim().lines().take_while(|line| !line.to_ascii_lowercase().starts_with("requestid:"));
        let message = lines.map(str::trim).collect::<Vec<_>>().join(" ");
        let (index, message) = match message.split_once(':') {
            Some((index, rest)) if is_index(index) => (index.parse().ok(), rest),
            _ => (None, message.as_str()),
        };
        let message = scrub(message.trim());
        let code = code.map(|code| code.trim().to_owned()).filter(|code| !code.is_empty());
        Self { code, message, index, known }
    }
}

fn is_index(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Truncates a message and masks every `sig=` value, because services repeat URLs in their messages.
fn scrub(message: &str) -> String {
    let mut rest: String = message.chars().take(MOST_TEXT).collect();
    let mut clean = String::with_capacity(rest.len());
    while let Some(at) = rest.find("sig=") {
        let (before, secret) = rest.split_at(at + 4);
        clean.push_str(before);
        clean.push_str("***");
        rest =
            secret.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "%+/=".contains(c)).to_owned();
    }
    clean + &rest
}

type Read = (Option<String>, Option<String>);

fn of_json(text: &str) -> Option<Read> {
    #[derive(Deserialize)]
    struct Envelope {
        #[serde(rename = "odata.error", alias = "error")]
        error: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        code: Option<String>,
        message: Option<Value>,
    }
    let Envelope { error } = serde_json::from_str(text).ok()?;
    let message = error.message.and_then(|message| match message {
        Value::String(text) => Some(text),
        Value::Object(mut members) => members.remove("value")?.as_str().map(str::to_owned),
        _ => None,
    });
    Some((error.code, message))
}

fn of_xml(text: &str) -> Option<Read> {
    // In the OData format, element names are lower-case and prefixed.
    let root = text.contains("<Error>") || text.contains("<Error ") || text.contains("<m:error");
    let find = |upper: &str, lower: &str| element(text, upper).or_else(|| element(text, lower));
    root.then(|| (find("Code", "m:code"), find("Message", "m:message")))
}

/// Returns the text of the first element with the given name.
fn element(text: &str, name: &str) -> Option<String> {
    let open = format!("<{name}");
    let mut rest = text;
    loop {
        rest = rest.get(rest.find(&open)? + open.len()..)?;
        if rest.starts_with(['>', ' ']) {
            let content = rest.get(rest.find('>')? + 1..)?;
            let end = content.find(&format!("</{name}>"))?;
            return content.get(..end).map(unescape);
        }
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}

/// An error that a server sends.
///
/// ```
/// use chrono::DateTime;
/// use table_wire::{ErrorBody, NewError};
///
/// let time = DateTime::from_timestamp(1_795_161_600, 0).unwrap();
/// let message = "The table specified does not exist.";
/// let error = NewError { code: "TableNotFound", message, help: "create it first", index: Some(0), request_id: "c0ffee", time };
/// for body in [error.to_json(), error.to_odata_xml(), error.to_storage_xml()] {
///     let read = ErrorBody::read(body.as_bytes());
///     let text = "The table specified does not exist. create it first";
///     assert_eq!((read.code.as_deref(), read.message.as_str(), read.index), (Some(error.code), text, Some(0)));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewError<'a> {
    /// The service's error code.
    pub code: &'a str,
    /// The message, on a single line. For a code that the service defines, use the service's [error message](crate::error_message).
    pub message: &'a str,
    /// The cause and remedy, written on a second line. Empty if the message is sufficient.
    pub help: &'a str,
    /// The index of the failed operation in its batch (EGT-34).
    pub index: Option<usize>,
    /// The request ID.
    pub request_id: &'a str,
    /// The time of the failure.
    pub time: DateTime<Utc>,
}

impl NewError<'_> {
    /// Returns the body in the table service's JSON format, which is the same at every metadata level (ERR-1).
    #[must_use]
    pub fn to_json(&self) -> String {
        let error = json!({ "code": self.code, "message": { "lang": "en-US", "value": self.text() } });
        json!({ "odata.error": error }).to_string()
    }

    /// Returns the body in the table service's XML format, for a client that did not request JSON (ERR-2).
    #[must_use]
    pub fn to_odata_xml(&self) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\
             <m:error xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\">\
             <m:code>{}</m:code><m:message xml:lang=\"en-US\">{}</m:message></m:error>",
            content(self.code),
            content(&self.text()),
        )
    }

    /// Returns the body in the queue service's XML format. The table service also uses this format if it cannot parse a request (ERR-2, QUE-1).
    #[must_use]
    pub fn to_storage_xml(&self) -> String {
        let detail = if self.code == "AuthenticationFailed" && !self.help.is_empty() {
            format!("<AuthenticationErrorDetail>{}</AuthenticationErrorDetail>", content(self.help))
        } else {
            String::new()
        };
        format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{}</Code><Message>{}</Message>{detail}</Error>",
            content(self.code),
            content(&self.text()),
        )
    }

    /// Returns the message, the help, the request ID and the time, each on its own line. Empty help is omitted. If an index is set, it precedes the message.
    fn text(&self) -> String {
        let index = self.index.map(|index| format!("{index}:")).unwrap_or_default();
        let below = if self.help.is_empty() { "" } else { "\n" };
        // Unlike an entity's times, this one always has seven fractional digits.
        let (time, ticks) = (self.time.format("%Y-%m-%dT%H:%M:%S"), self.time.timestamp_subsec_nanos() / 100);
        let Self { message, help, request_id, .. } = self;
        format!("{index}{message}{below}{help}\nRequestId:{request_id}\nTime:{time}.{ticks:07}Z")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(body: &str) -> (Option<String>, String, Option<usize>, bool) {
        let ErrorBody { code, message, index, known } = ErrorBody::read(body.as_bytes());
        (code, message, index, known)
    }

    #[test]
    fn err_1_egt_34_and_cos_9_json() {
        let body = r#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US","value":"3:The specified entity already exists.\nRequestId:x\nTime:y"}}}"#;
        let expected = (
            Some("EntityAlreadyExists".into()),
            "The specified entity already exists.".into(),
            Some(3),
            true,
        );
        assert_eq!(read(body), expected);
        let body = r#"{"odata.error":{"code":"BadRequest","message":{"lang":"en-us","value":"Wrong: at 7\nRequestID:x\n"}}}"#;
        assert_eq!(read(body), (Some("BadRequest".into()), "Wrong: at 7".into(), None, true));
        let body = r#"{"error":{"code":"Unauthorized","message":"no"}}"#;
        assert_eq!(read(body), (Some("Unauthorized".into()), "no".into(), None, true));
    }

    #[test]
    fn err_2_both_shapes_of_xml() {
        let body = "\u{feff}<?xml version=\"1.0\"?><Error><Code>AuthenticationFailed</Code><Message>Not &lt;you&gt;.\nRequestId:x</Message></Error>";
        assert_eq!(read(body), (Some("AuthenticationFailed".into()), "Not <you>.".into(), None, true));
        let body = r#"<?xml version="1.0"?><m:error xmlns:m="http://x"><m:code>InvalidInput</m:code><m:message xml:lang="en-US">Bad.</m:message></m:error>"#;
        assert_eq!(read(body), (Some("InvalidInput".into()), "Bad.".into(), None, true));
    }

    #[test]
    fn err_2_and_key_5_other_bodies_have_no_code() {
        for body in [
            "",
            "<html><title>Bad Request</title></html>",
            "{",
            "[1]",
            "{\"odata.error\":{}}",
            "<Error><Code>x",
        ] {
            let (code, _, index, _) = read(body);
            assert_eq!((code, index), (None, None), "{body}");
        }
        assert!(!ErrorBody::read(b"<html><Code>x</Code></html>").known);
        assert_eq!(read(r#"{"odata.error":{"code":"","message":{"value":"x"}}}"#).0, None); // AZ-7
    }

    #[test]
    fn signatures_are_redacted_in_messages() {
        let body = "<Error><Code>X</Code><Message>at /T?sv=1&amp;sig=c2Vj%2BmV0%3D&amp;se=2 and sig=c2Vj</Message></Error>";
        assert_eq!(read(body).1, "at /T?sv=1&sig=***&se=2 and sig=***");
    }

    proptest! {
        #[test]
        fn any_body_is_read(body in prop::collection::vec(any::<u8>(), 0..200), text in "[<>/A-Za-z:&;{}\"]{0,80}") {
            let whole = format!("<Error><Code>{text}</Code><Message>{text}sig={text}</Message></Error>");
            for body in [&*body, text.as_bytes(), whole.as_bytes()] {
                let _ = ErrorBody::read(body);
            }
        }

        #[test]
        fn err_1_2_and_egt_34_a_written_error_is_read_back(
            code in "[A-Z][A-Za-z]{0,20}", message in "[A-Z][ -~]{0,60}", index in prop::option::of(0_usize..100),
        ) {
            // `ErrorBody::read` masks signatures in the message and trims it.
            prop_assume!(!message.contains("sig=") && message.trim() == message);
            let time = DateTime::from_timestamp(1_795_161_600, 0).unwrap();
            let error = NewError { code: &code, message: &message, help: "", index, request_id: "c0ffee", time };
            for body in [error.to_json(), error.to_odata_xml(), error.to_storage_xml()] {
                prop_assert_eq!(read(&body), (Some(code.clone()), message.clone(), index, true), "{}", body);
                prop_assert!(body.contains("Time:2026-11-20T08:00:00.0000000Z"), "{}", body);
            }
        }
    }
}
