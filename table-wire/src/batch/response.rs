//! Batch responses (EGT-30 to EGT-39).

use std::borrow::Cow;
use std::fmt::Write;

use http::StatusCode;

use super::multipart::{boundary, find, head, line, split};

/// The response to one operation of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponsePart<'a> {
    /// The HTTP status code.
    pub status: u16,
    head: &'a [u8],
    /// The response body.
    pub body: &'a [u8],
}

impl<'a> ResponsePart<'a> {
    /// Returns the value of a header, or an empty string if the header is missing or is not UTF-8.
    #[must_use]
    pub fn header(&self, name: &str) -> &'a str {
        find(self.head, name)
    }
}

/// Reads the response to each operation from the body of a batch response. Its content type is usually `multipart/mixed; boundary=batchresponse_…`. The caller
/// must check the number of responses (EGT-37).
///
/// ```
/// use table_wire::batch::{NewResponse, ResponsePart, read_responses, write_responses};
///
/// let done = NewResponse { status: 204, headers: vec![("ETag", "W/\"1\"".into())], body: String::new() };
/// let body = write_responses("7", &[done]);
/// let parts: Vec<ResponsePart<'_>> = read_responses("multipart/mixed; boundary=batchresponse_7", body.as_bytes()).unwrap();
/// assert_eq!((parts[0].status, parts[0].header("etag")), (204, "W/\"1\""));
/// ```
///
/// # Errors
/// A human-readable description if the content type is wrong, a part has no status, or the body is truncated.
pub fn read_responses<'a>(content_type: &str, body: &'a [u8]) -> Result<Vec<ResponsePart<'a>>, String> {
    let outer = boundary(content_type).ok_or_else(|| format!("its type is `{content_type}`"))?;
    let mut answers = Vec::new();
    // The outer parts are change sets, which contain the responses. Deeper levels are not read.
    for part in split(body, outer).parts {
        let (headers, content) = head(part);
        let Some(inner) = boundary(find(headers, "content-type")) else {
            answers.push(answer(content)?);
            continue;
        };
        let split = split(content, inner);
        for part in &split.parts {
            let (_, content) = head(part);
            answers.push(answer(content)?);
        }
        if !split.closed {
            return Err("it is cut off".to_owned());
        }
    }
    if answers.is_empty() { Err("it has no parts".to_owned()) } else { Ok(answers) }
}

/// Parses a response: status line, headers and body.
fn answer(content: &[u8]) -> Result<ResponsePart<'_>, String> {
    let (first, rest) = line(content.trim_ascii_start());
    let status = std::str::from_utf8(first)
        .ok()
        .filter(|line| line.starts_with("HTTP/"))
        .and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok())
        .ok_or_else(|| "a part has no status".to_owned())?;
    let (head, body) = head(rest);
    Ok(ResponsePart { status, head, body: body.trim_ascii() })
}

/// A server's response to one operation of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewResponse {
    /// The HTTP status code.
    pub status: u16,
    /// Header names and values. The case of names is preserved, because some clients look for exactly `ETag`.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The response body, which may be empty.
    pub body: String,
}

/// Serializes the body of a batch response. Its content type is `multipart/mixed; boundary=batchresponse_{id}`.
///
/// The body has one part per operation, or only one part for a failed operation (EGT-31, EGT-33). In both cases, the HTTP status of the batch response is 202
/// (EGT-30).
#[must_use]
pub fn write_responses(id: &str, responses: &[NewResponse]) -> String {
    let mut text = String::with_capacity(responses.iter().map(|response| response.body.len() + 512).sum());
    // Writing to a `String` cannot fail.
    let _ = write!(
        text,
        "--batchresponse_{id}\r\nContent-Type: multipart/mixed; boundary=changesetresponse_{id}\r\n\r\n"
    );
    let begin = format!(
        "--changesetresponse_{id}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 "
    );
    for NewResponse { status, headers, body } in responses {
        let reason = StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
        text.push_str(&begin);
        let _ = write!(text, "{status} {}\r\n", reason.unwrap_or("Unknown"));
        for (name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.extend(["\r\n", body, "\r\n"]);
    }
    let _ = write!(text, "--changesetresponse_{id}--\r\n--batchresponse_{id}--\r\n");
    text
}
