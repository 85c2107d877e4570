//! Reads the body of an error: JSON, two shapes of XML, or anything else (ERR-1, ERR-2).

use serde::Deserialize;
use serde_json::Value;

/// Characters of a service's message that are kept.
const MOST_TEXT: usize = 1_000;

/// What the body of an error says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// The service's code.
    pub(crate) code: Option<String>,
    /// The message, without the index, request id and time that the service writes into it.
    pub(crate) message: String,
    /// The position of the operation that failed, from the front of the message (EGT-34).
    pub(crate) index: Option<usize>,
    /// Whether it was the body of a storage service at all: a proxy's page is none.
    pub(crate) known: bool,
}

impl ErrorBody {
    /// Reads a body of whatever form.
    pub(crate) fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        let (code, message) = json(text).or_else(|| xml(text)).unwrap_or_default();
        let known = code.is_some() || message.is_some();
        let message = message.unwrap_or_default();
        // Text, request id and time stand in one string, a line each (ERR-1).
        let message = message.trim().lines().next().unwrap_or_default();
        let (index, message) = match message.split_once(':') {
            Some((index, rest)) if is_index(index) => (index.parse().ok(), rest),
            _ => (None, message),
        };
        let message = scrub(message.trim());
        let code = code.map(|code| code.trim().to_owned()).filter(|code| !code.is_empty());
        Self { code, message, index, known }
    }
}

fn is_index(text: &str) -> bool {
    (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Cut to a length, and with the value of every `sig=` gone: services repeat URLs.
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

fn json(text: &str) -> Option<Read> {
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

fn xml(text: &str) -> Option<Read> {
    // The OData shape writes its names in lower case, with a prefix.
    let root = text.contains("<Error>") || text.contains("<Error ") || text.contains("<m:error");
    let find = |upper: &str, lower: &str| element(text, upper).or_else(|| element(text, lower));
    root.then(|| (find("Code", "m:code"), find("Message", "m:message")))
}

/// The text of the first element of a name.
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
    fn err_2_and_key_5_anything_else_is_survived() {
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
    fn signatures_are_not_repeated() {
        let body = "<Error><Code>X</Code><Message>at /T?sv=1&amp;sig=c2Vj%2BmV0%3D&amp;se=2 and sig=c2Vj</Message></Error>";
        assert_eq!(read(body).1, "at /T?sv=1&sig=***&se=2 and sig=***");
    }

    proptest! {
        #[test]
        fn no_body_is_too_strange(body in prop::collection::vec(any::<u8>(), 0..200), text in "[<>/A-Za-z:&;{}\"]{0,80}") {
            ErrorBody::read(&body);
            ErrorBody::read(text.as_bytes());
            ErrorBody::read(format!("<Error><Code>{text}</Code><Message>{text}sig={text}</Message></Error>").as_bytes());
        }
    }
}
