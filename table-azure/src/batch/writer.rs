//! Writes a batch: one change set in one multipart body, CRLF throughout (EGT-20 to EGT-25).

use std::fmt::Write;

use uuid::Uuid;

use crate::write::WriteRequest;

/// The body of a batch. `base` begins the URLs of its parts, which are absolute (EGT-22); `id` is part of its boundaries and
/// so must be new each time.
pub(super) fn write_batch(base: &str, requests: &[WriteRequest], id: Uuid) -> String {
    let bytes: usize = requests.iter().map(|request| request.body.as_ref().map_or(0, String::len)).sum();
    let mut body = String::with_capacity(bytes + requests.len() * 512 + 256);
    // Writing to a `String` cannot fail.
    let _ = write!(body, "--batch_{id}\r\nContent-Type: multipart/mixed; boundary=changeset_{id}\r\n\r\n");
    let begin = format!(
        "--changeset_{id}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
    );
    for request in requests {
        let WriteRequest { method, tunnelled, path, if_match, no_content, body: entity, .. } = request;
        body.extend([&begin, method.as_str(), " ", base, path, " HTTP/1.1\r\n"]);
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
