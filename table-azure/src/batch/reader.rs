//! Reads the answer to a batch: parts inside parts, lines that end with CRLF or LF (EGT-30 to EGT-39).

/// The answer to one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) status: u16,
    headers: Vec<(&'a str, &'a str)>,
    pub(super) body: &'a [u8],
}

impl Part<'_> {
    /// A header; empty if it is missing.
    pub(super) fn header(&self, name: &str) -> &str {
        find(&self.headers, name)
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
        let (headers, content) = head(part)?;
        let Some(inner) = boundary(find(&headers, "content-type")) else {
            answers.push(answer(content)?);
            continue;
        };
        let split = split(content, inner);
        for part in &split.parts {
            let (_, content) = head(part)?;
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

struct Split<'a> {
    parts: Vec<&'a [u8]>,
    /// Whether the closing delimiter was there.
    closed: bool,
}

/// What stands between the delimiters of a boundary.
fn split<'a>(body: &'a [u8], boundary: &str) -> Split<'a> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (None, 0);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let end = at + line.len();
        let rest =
            line.trim_ascii_end().strip_prefix(b"--").and_then(|line| line.strip_prefix(boundary.as_bytes()));
        if let Some(rest @ (b"" | b"--")) = rest {
            if let Some(part) = start.and_then(|start| body.get(start..at)) {
                parts.push(part);
            }
            start = Some(end);
            if rest == b"--" {
                return Split { parts, closed: true };
            }
        }
        at = end;
    }
    // What follows the last delimiter has no end: it is cut off.
    if let Some(part) = start.and_then(|start| body.get(start..)) {
        parts.push(part);
    }
    Split { parts, closed: false }
}

type Head<'a> = (Vec<(&'a str, &'a str)>, &'a [u8]);

/// Headers up to an empty line, and what follows.
fn head(part: &[u8]) -> Result<Head<'_>, String> {
    let mut headers = Vec::new();
    let mut at = 0;
    for line in part.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        let text = std::str::from_utf8(line).map_err(|_| "a header is no text".to_owned())?.trim();
        if text.is_empty() {
            break;
        }
        if let Some((name, value)) = text.split_once(':') {
            headers.push((name.trim(), value.trim()));
        }
    }
    Ok((headers, part.get(at..).unwrap_or_default()))
}

/// A status line, headers, a body.
fn answer(content: &[u8]) -> Result<Part<'_>, String> {
    let content = content.trim_ascii_start();
    let end = content.iter().position(|byte| *byte == b'\n').unwrap_or(content.len());
    let (line, rest) = content.split_at(end);
    let status = std::str::from_utf8(line)
        .ok()
        .filter(|line| line.starts_with("HTTP/"))
        .and_then(|line| line.split_ascii_whitespace().nth(1)?.parse().ok())
        .ok_or_else(|| "a part has no status".to_owned())?;
    let (headers, body) = head(rest.get(1..).unwrap_or_default())?;
    Ok(Part { status, headers, body: body.trim_ascii() })
}

fn find<'a>(headers: &[(&'a str, &'a str)], name: &str) -> &'a str {
    headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}
