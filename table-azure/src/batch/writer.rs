//! Serializes batches.

use table_wire::batch::{NewRequest, write_requests};
use uuid::Uuid;

use crate::write::WriteRequest;

/// Serializes the body of a batch request. `id` becomes part of the MIME boundaries, and must be unique to each batch.
pub(super) fn write_batch(base: &str, requests: &[WriteRequest], id: Uuid) -> String {
    let parts: Vec<_> = requests
        .iter()
        .map(|request| NewRequest {
            method: request.method.as_str(),
            path: &request.path,
            if_match: request.if_match.as_deref(),
            tunnelled: request.tunnelled,
            no_content: request.no_content,
            body: request.body.as_deref(),
        })
        .collect();
    write_requests(base, &parts, &id.to_string())
}
