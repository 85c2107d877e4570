//! A parser for multipart bodies with CRLF or LF line endings and nested parts.
//!
//! Headers are parsed lazily, and results borrow from the body. For example, a response to 100 operations has over a thousand header lines, but only 100 of
//! them are parsed.

use memchr::{memchr, memmem};

/// Returns the boundary in a `multipart/mixed` content type. A quoted boundary may contain spaces and semicolons.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    let (kind, mut rest) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    loop {
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => value.split_at(value.find(';').unwrap_or(value.len())),
        };
        // A parameter without a value may precede the name.
        let name = name.rsplit(';').next().unwrap_or(name).trim();
        if name.eq_ignore_ascii_case("boundary") {
            return Some(value.trim_end()).filter(|value| !value.is_empty());
        }
        rest = after;
    }
}

/// The parts of a multipart body.
#[derive(Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// The parts, including their headers.
    pub parts: Vec<&'a [u8]>,
    /// `true` if the body contains the closing delimiter. Otherwise, the body may be truncated.
    pub closed: bool,
}

/// Splits a body at its delimiter lines, which end with CRLF or LF (EGT-39).
///
/// ```
/// use table_wire::batch::{Split, split};
///
/// let body = b"--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n";
/// let Split { parts, closed } = split(body, "b");
/// assert!(closed);
/// assert_eq!(parts, [b"\r\none\r\n", b"\r\ntwo\r\n"]);
/// ```
#[must_use]
pub fn split<'a>(body: &'a [u8], boundary: &str) -> Split<'a> {
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
    // The last part may be truncated. The caller can reject it, because `closed` is `false`.
    parts.extend(start.and_then(|start| body.get(start..)));
    Split { parts, closed: false }
}

/// Returns the first line, including its line ending, and the remaining bytes.
pub(super) fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    memchr(b'\n', bytes).and_then(|end| bytes.split_at_checked(end + 1)).unwrap_or((bytes, b""))
}

/// Splits a part at the empty line after its headers. Returns the headers and the content.
pub(super) fn head(part: &[u8]) -> (&[u8], &[u8]) {
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

/// Returns the value of a header, or an empty string if the header is missing or is not UTF-8.
pub(super) fn find<'a>(headers: &'a [u8], name: &str) -> &'a str {
    let [value] = find_all(headers, [name]);
    value
}

/// Returns the values of several headers, in the order of `names`, in a single pass.
pub(super) fn find_all<'a, const N: usize>(mut headers: &'a [u8], names: [&str; N]) -> [&'a str; N] {
    let mut values = [None; N];
    while !headers.is_empty() {
        let (first, others) = line(headers);
        let first = first.trim_ascii_start();
        for (value, name) in values.iter_mut().zip(names).filter(|(value, _)| value.is_none()) {
            *value = value_of(first, name);
        }
        headers = others;
    }
    let text = |value: &'a [u8]| std::str::from_utf8(value.trim_ascii()).ok();
    values.map(|value| value.and_then(text).unwrap_or_default())
}

/// Returns the values of every header with the given name, in order. A value that is not UTF-8 becomes an empty string.
pub(super) fn values<'a>(headers: &'a [u8], name: &str) -> impl Iterator<Item = &'a str> {
    let lines =
        headers.split(|byte| *byte == b'\n').filter_map(move |line| value_of(line.trim_ascii(), name));
    lines.map(|value| std::str::from_utf8(value.trim_ascii()).unwrap_or_default())
}

/// Returns the value in a header line, or `None` if the header has a different name.
fn value_of<'a>(header: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let (found, rest) = header.split_at_checked(name.len())?;
    if found.eq_ignore_ascii_case(name.as_bytes()) {
        rest.trim_ascii_start().strip_prefix(b":")
    } else {
        None
    }
}
