//! Entity group transactions: several writes in one atomic request (EGT rules).

mod writer;

use reqwest::Method;
use table_core::odata::MetadataLevel;
use table_core::store::Committed;
use table_core::{ETag, Error, ErrorCode, Operation, Result, TableName};
use table_wire::ErrorBody;
use table_wire::batch::{ResponsePart, read_responses};
use tokio::time::Instant;

use crate::client::AzureTables;
use crate::failure::{AnswerFault, ServiceError};
use crate::http::{Answer, Failure, Request};
use crate::retry::retry_after;
use crate::write::{Unacknowledged, WriteRequest};
use writer::write_batch;

const OPERATION: &str = "batch";

impl AzureTables {
    /// Creates the request for a batch of writes in one partition.
    pub(crate) fn batch(
        &self,
        table: &TableName,
        partition_key: &str,
        operations: &[Operation],
    ) -> Result<Request> {
        let requests = operations
            .iter()
            .map(|operation| Ok(WriteRequest::new(table, partition_key, operation)?.to(self.target())))
            .collect::<Result<Vec<_>>>()?;
        self.batch_request(&requests)
    }

    /// Sends a batch. Retries it if the request or one of its operations fails transiently.
    pub(crate) async fn write_batch(
        &self,
        request: &Request,
        partition_key: &str,
        operations: &[Operation],
        by: Instant,
    ) -> Result<Committed, Unacknowledged> {
        let read = |answer: Answer| {
            let after = retry_after(&answer.headers, self.pipeline().now());
            outcome(&answer, operations.len()).map_err(|failure| Failure { after, ..failure })
        };
        // If the service rejects a whole batch, it applies none of its operations (EGT-38).
        self.pipeline().send_and_read(request, by, read).await.map_err(|failed| {
            Unacknowledged::of(failed).map(|error| {
                match error.operation().and_then(|at| operations.get(at)) {
                    Some(operation) => error.with_key(partition_key, operation.row_key.as_str()),
                    None => error,
                }
            })
        })
    }

    fn batch_request(&self, requests: &[WriteRequest]) -> Result<Request> {
        let id = uuid::Uuid::new_v4();
        let body = write_batch(self.pipeline().endpoint().base(), requests, id);
        let most = self.known_capabilities().limits.transaction_bytes;
        if body.len() > most {
            let message =
                format!("the batch has {} bytes, at most {most} are allowed; commit it in parts", body.len());
            return Err(Error::new(ErrorCode::RequestBodyTooLarge, message).with_rule("EGT-3"));
        }
        let mut request = Request::new(OPERATION, Method::POST, "/$batch")
            .fixed("accept", MetadataLevel::Minimal.media_type())
            .fixed("dataserviceversion", "3.0")
            .fixed("maxdataserviceversion", "3.0;NetFx")
            .header("content-type", &format!("multipart/mixed; boundary=batch_{id}"))?;
        request.body = body.into();
        Ok(request)
    }
}

/// Reads the parts of a batch response, and checks that the number of parts is correct (EGT-37).
fn outcome(answer: &Answer, operations: usize) -> Result<Committed, Failure> {
    let parts = read_responses(answer.header("content-type"), &answer.body).map_err(unreadable)?;
    if let Some((position, part)) = parts.iter().enumerate().find(|(_, part)| part.status >= 400) {
        return Err(refusal(answer, part, position, operations));
    }
    if parts.len() != operations || parts.iter().any(|part| !(200..300).contains(&part.status)) {
        let found = parts.len();
        return Err(unreadable(format!(
            "it has {found} parts for {operations} operations, none of them an error"
        )));
    }
    Ok(parts.iter().map(|part| ETag::parse(part.header("etag")).ok()).collect())
}

/// Returns the failure for an unreadable batch response. The batch may have been applied, because the service received it.
fn unreadable(why: String) -> Failure {
    Failure::of_unreadable(AnswerFault::Batch { operation: OPERATION, why })
}

fn refusal(answer: &Answer, part: &ResponsePart<'_>, position: usize, operations: usize) -> Failure {
    let body = ErrorBody::read(part.body);
    let service =
        ServiceError::new(OPERATION, answer.status, |name| answer.header(name), &ErrorBody::default())
            .of_part(part.status, &body);
    let failure = Failure::of_rejection(service, body.known, false);
    // If the batch has only one operation, the message may lack the index (EGT-35). If the index is missing after successful parts, the failed operation's
    // index is the number of those parts.
    let only = (operations == 1).then_some(0);
    let index = body.index.or(only).or((position > 0).then_some(position));
    match index.filter(|index| *index < operations) {
        Some(index) => Failure { error: failure.error.with_operation(index), ..failure },
        None => failure,
    }
}

#[cfg(test)]
mod tests;
