//! Batch requests. A batch is a multipart body with one change set and CRLF line endings (EGT-20 to EGT-25).

use std::fmt::Write;

use table_core::{Error, Result};

use super::fault::BatchFault;
use super::multipart::{boundary, find, find_all, head, line, split, values};

/// A client's write in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRequest<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The percent-encoded path, relative to the endpoint's base URL.
    pub path: &'a str,
    /// The value of `If-Match`, or `None` for an insert or an upsert (UPS-1).
    pub if_match: Option<&'a str>,
    /// `true` if a merge is sent as a `POST` with an `X-HTTP-Method` header (REQ-2).
    pub tunnelled: bool,
    /// `true` if the response to an insert must not contain the stored entity (INS-3).
    pub no_content: bool,
    /// The body in JSON, or `None` for a delete.
    pub body: Option<&'a str>,
}

/// Serializes the body of a batch request. Its content type is `multipart/mixed; boundary=batch_{id}`.
///
/// `base` is the endpoint's base URL. Each part contains an absolute URL that starts with it (EGT-22). `id` becomes part of the boundaries and must be unique.
///
/// ```
/// use table_wire::batch::{Batch, NewRequest, RequestPart, read_requests, write_requests};
///
/// let path = "/Employee(PartitionKey='Sales',RowKey='1')";
/// let delete =
///     NewRequest { method: "DELETE", path, if_match: Some("*"), tunnelled: false, no_content: false, body: None };
/// let body = write_requests("https://contoso.table.core.windows.net", &[delete], "7");
///
/// let Batch::ChangeSet(parts) = read_requests("multipart/mixed; boundary=batch_7", body.as_bytes())? else { unreachable!() };
/// let delete: &RequestPart<'_> = &parts[0];
/// assert_eq!((delete.method, delete.target(), delete.header("if-match")), ("DELETE", path, "*"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub fn write_requests(base: &str, requests: &[NewRequest<'_>], id: &str) -> String {
    let bytes: usize = requests.iter().map(|request| request.body.map_or(0, str::len)).sum();
    let mut body = String::with_capacity(bytes + requests.len() * 512 + 256);
    // Writing to a `String` cannot fail.
    let _ = write!(body, "--batch_{id}\r\nContent-Type: multipart/mixed; boundary=changeset_{id}\r\n\r\n");
    let begin = format!(
        "--changeset_{id}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
    );
    for NewRequest { method, path, if_match, tunnelled, no_content, body: entity } in requests {
        body.extend([begin.as_str(), method, " ", base, path, " HTTP/1.1\r\n"]);
        body.push_str("Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\n");
        if let Some(condition) = if_match {
            body.extend(["If-Match: ", condition, "\r\n"]);
        }
        if *tunnelled {
            body.push_str("X-HTTP-Method: MERGE\r\n");
        }
        if *no_content {
            body.push_str("Prefer: return-no-content\r\n");
        }
        match entity {
            Some(entity) => body.extend(["Content-Type: application/json\r\n\r\n", entity, "\r\n"]),
            None => body.push_str("\r\n\r\n"),
        }
    }
    let _ = write!(body, "--changeset_{id}--\r\n--batch_{id}--\r\n");
    body
}

/// A request in a batch received by a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPart<'a> {
    /// The HTTP method in the request line.
    pub method: &'a str,
    target: &'a str,
    head: &'a [u8],
    /// The body of the request.
    pub body: &'a [u8],
}

impl<'a> RequestPart<'a> {
    /// Returns the path and query as sent, without the scheme and host of an absolute URL (EGT-22).
    #[must_use]
    pub const fn target(&self) -> &'a str {
        self.target
    }

    /// Returns the value of a header, or an empty string if the header is missing or is not UTF-8.
    #[must_use]
    pub fn header(&self, name: &str) -> &'a str {
        find(self.head, name)
    }

    /// Returns the values of several headers, in the order of `names`. A header that is missing or is not UTF-8 has an empty value.
    ///
    /// ```
    /// use table_wire::batch::{Batch, read_requests};
    ///
    /// let body = b"--b\r\n\r\nGET /Employee(PartitionKey='Sales',RowKey='1') HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n--b--\r\n";
    /// let Batch::Query(query) = read_requests("multipart/mixed; boundary=b", body)? else { unreachable!() };
    /// assert_eq!(query.headers(["prefer", "accept"]), ["", "application/json"]);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn headers<const N: usize>(&self, names: [&str; N]) -> [&'a str; N] {
        find_all(self.head, names)
    }

    /// Returns the values of all headers with the given name, in order. Empty values are included.
    ///
    /// ```
    /// use table_wire::batch::{Batch, read_requests};
    ///
    /// let body = b"--b\r\n\r\nGET /Employee(PartitionKey='Sales',RowKey='1') HTTP/1.1\r\nPrefer:\r\nPrefer: a\r\n\r\n\r\n--b--\r\n";
    /// let Batch::Query(query) = read_requests("multipart/mixed; boundary=b", body)? else { unreachable!() };
    /// assert!(query.values("prefer").eq(["", "a"]));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn values(&self, name: &str) -> impl Iterator<Item = &'a str> {
        values(self.head, name)
    }
}

/// The contents of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch<'a> {
    /// Writes to apply atomically (EGT-9). A change set may be empty, because the Python client `azure-cosmosdb-table` sends such batches. The service responds
    /// to them with 202.
    ChangeSet(Vec<RequestPart<'a>>),
    /// A point query outside a change set (EGT-7).
    Query(RequestPart<'a>),
}

/// Reads a batch request. `content_type` must be `multipart/mixed` with a boundary, such as `multipart/mixed; boundary=batch_…`.
///
/// # Errors
/// - `InvalidInput` if the content type is not `multipart/mixed` with a boundary, or if a part is not a request.
/// - `InvalidInput` if the batch has more than one part (EGT-8), a query inside a change set or a write outside one (EGT-7), or no parts (EGT-12).
/// - `InvalidInput` if a change set contains text but no parts, which means that its boundary is wrong.
/// - `InvalidInput` if the body is truncated, because an incomplete batch must not be applied.
pub fn read_requests<'a>(content_type: &str, body: &'a [u8]) -> Result<Batch<'a>> {
    let outer = boundary(content_type).ok_or_else(|| Error::of(BatchFault::Type))?;
    let outer = split(body, outer);
    let parts = whole(&outer.parts, outer.closed)?;
    let [only] = parts else {
        return Err(Error::of(if parts.is_empty() { BatchFault::Empty } else { BatchFault::Several }));
    };
    let (headers, content) = head(only);
    let Some(inner) = boundary(find(headers, "content-type")) else {
        let query = request(content)?;
        return match query.method {
            "GET" => Ok(Batch::Query(query)),
            _ => Err(Error::of(BatchFault::NotAQuery)),
        };
    };
    let closing = format!("--{inner}--");
    let inner = split(content, inner);
    if inner.parts.is_empty() && inner.closed && content.trim_ascii() != closing.as_bytes() {
        // The parts use a boundary other than the declared one. Treating the change set as empty would silently drop the writes.
        return Err(Error::of(BatchFault::NoPart));
    }
    let requests: Vec<_> =
        whole(&inner.parts, inner.closed)?.iter().map(|part| request(head(part).1)).collect::<Result<_>>()?;
    if requests.iter().any(|request| request.method == "GET") {
        return Err(Error::of(BatchFault::QueryInside));
    }
    Ok(Batch::ChangeSet(requests))
}

fn whole<'a, 'b>(parts: &'b [&'a [u8]], closed: bool) -> Result<&'b [&'a [u8]]> {
    if closed { Ok(parts) } else { Err(Error::of(BatchFault::CutOff)) }
}

/// Parses a request: request line, headers and body.
fn request(content: &[u8]) -> Result<RequestPart<'_>> {
    let (first, rest) = line(content.trim_ascii_start());
    let mut words = std::str::from_utf8(first).unwrap_or_default().split_ascii_whitespace();
    let (method, uri, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(uri), Some(version), None) = (method, uri, version, words.next()) else {
        return Err(Error::of(BatchFault::RequestLine));
    };
    let token = method.bytes().all(|byte| byte.is_ascii_uppercase());
    let absolute = ["http://", "https://"].iter().find_map(|scheme| uri.strip_prefix(scheme));
    let target = absolute.map_or(uri, |rest| rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"));
    if !token || !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return Err(Error::of(BatchFault::Request));
    }
    let (head, body) = head(rest);
    if std::str::from_utf8(head).is_err() {
        return Err(Error::of(BatchFault::Header));
    }
    Ok(RequestPart { method, target, head, body: body.trim_ascii() })
}
