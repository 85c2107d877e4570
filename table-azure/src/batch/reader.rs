//! Reads the answer to a batch: parts inside parts, lines that end with CRLF or LF (EGT-30 to EGT-39).
//!
//! What is looked for is found in the bytes of the answer, and nothing is made of what is not looked for: an answer to 100
//! operations has some thousand lines of headers, of which 100 are read.

use memchr::{memchr, memmem};

/// The answer to one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) status: u16,
    head: &'a [u8],
    pub(super) body: &'a [u8],
}

impl<'a> Part<'a> {
    /// A header; empty if it is missing or no text.
    pub(super) fn header(&self, name: &str) -> &'a str {
        find(self.head, name)
    }
}

/// The answers in the body of a type such as `multipart/mixed; boundary=batchresponse_…`.
///
/// # Errors
/// Why it cannot be read: no such type, no answer in a part, or cut off before its end.
pub(super) fn read_parts<'a>(content_type: &str, body: &'a [u8]) -> Result<Vec<Part<'a>>, String> {
    let outer = boundary(content_type).ok_or_else(|| format!("its type is `{content_type}`"))?;
    let mut answers = Vec::new();
    // Inside the outer parts there are change sets, and in these the answers: two levels and no more.
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

/// The boundary of a multipart type.
fn boundary(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').map(str::trim);
    let kind = parameters.next()?;
    if !kind.get(..10)?.eq_ignore_ascii_case("multipart/") {
        return None;
    }
    let is_boundary = |(name, _): &(&str, &str)| name.trim().eq_ignore_ascii_case("boundary");
    let (_, value) = parameters.filter_map(|parameter| parameter.split_once('=')).find(is_boundary)?;
    Some(value.trim().trim_matches('"')).filter(|value| !value.is_empty())
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split<'a> {
    pub(super) parts: Vec<&'a [u8]>,
    /// Whether the closing delimiter was there.
    pub(super) closed: bool,
}

/// What stands between the delimiters of a boundary, each of which has a line for itself.
pub(super) fn split<'a>(body: &'a [u8], boundary: &str) -> Split<'a> {
    let delimiter = format!("--{boundary}");
    let (mut parts, mut start) = (Vec::new(), None);
    for at in memmem::find_iter(body, &delimiter) {
        let Some((before, found)) = body.split_at_checked(at) else { continue };
        if before.last().is_some_and(|byte| *byte != b'\n') {
            continue;
        }
        let (line, _) = line(found);
        let rest = line.get(delimiter.len()..).unwrap_or_default().trim_ascii_end();
        if !matches!(rest, b"" | b"--") {
            continue;
        }
        parts.extend(start.and_then(|start| body.get(start..at)));
        start = Some(at + line.len());
        if rest == b"--" {
            return Split { parts, closed: true };
        }
    }
    // What follows the last delimiter has no end: it is cut off.
    parts.extend(start.and_then(|start| body.get(start..)));
    Split { parts, closed: false }
}

/// The first line with its end, and what follows.
fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    memchr(b'\n', bytes).and_then(|end| bytes.split_at_checked(end + 1)).unwrap_or((bytes, b""))
}

/// Headers up to an empty line, and what follows.
fn head(part: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = part;
    while !rest.is_empty() {
        let (first, others) = line(rest);
        if first.trim_ascii().is_empty() {
            let headers = part.len() - rest.len();
            return (part.get(..headers).unwrap_or_default(), others);
        }
        rest = others;
    }
    (part, b"")
}

/// A status line, headers, a body.
fn answer(content: &[u8]) -> Result<Part<'_>, String> {
    let (first, rest) = line(content.trim_ascii_start());
    let status = std::str::from_utf8(first)
        .ok()
        .filter(|line| line.starts_with("HTTP/"))
        .and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok())
        .ok_or_else(|| "a part has no status".to_owned())?;
    let (head, body) = head(rest);
    Ok(Part { status, head, body: body.trim_ascii() })
}

/// The value of a header among others; empty if it is missing or no text.
fn find<'a>(mut headers: &'a [u8], name: &str) -> &'a str {
    while !headers.is_empty() {
        let (first, others) = line(headers);
        if let Some(value) = value_of(first.trim_ascii_start(), name) {
            return std::str::from_utf8(value.trim_ascii()).unwrap_or_default();
        }
        headers = others;
    }
    ""
}

/// What follows the name and its colon.
fn value_of<'a>(header: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (found, rest) = header.split_at_checked(name.len())?;
    if found.eq_ignore_ascii_case(name.as_bytes()) {
        rest.trim_ascii_start().strip_prefix(b":")
    } else {
        None
    }
}
