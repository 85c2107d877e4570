//! Entity group transactions: several writes in one request, all or none (EGT rules).

mod reader;
mod writer;

use reqwest::Method;
use table_core::odata::MetadataLevel;
use table_core::store::Committed;
use table_core::{ETag, Error, ErrorCode, Operation, Result, TableName};

use crate::client::AzureTables;
use crate::failure::{ErrorBody, ServiceError, error_code};
use crate::http::{Answer, Request};
use crate::write::WriteRequest;
use reader::{Part, read_parts};
use writer::write_batch;

const OPERATION: &str = "batch";

impl AzureTables {
    pub(crate) async fn write_batch(
        &self,
        table: &TableName,
        partition_key: &str,
        operations: &[Operation],
    ) -> Result<Committed> {
        let requests = operations
            .iter()
            .map(|operation| Ok(WriteRequest::new(table, partition_key, operation)?.to(self.target())))
            .collect::<Result<Vec<_>>>()?;
        let request = self.batch_request(&requests)?;
        let answer = match self.pipeline().send(&request).await {
            Ok(answer) => answer,
            // Nothing was applied, or it is not known (EGT-38).
            Err(failure) => return Err(failure.into_error(false)),
        };
        let refusal = match outcome(&answer, operations.len()) {
            Ok(committed) => return Ok(committed),
            Err(error) => error,
        };
        let refusal = match refusal.operation().and_then(|index| operations.get(index)) {
            Some(operation) => refusal.with_key(partition_key, operation.row_key.as_str()),
            None => refusal,
        };
        match answer.doubt {
            Some(doubt) if is_of_state(refusal.code()) => {
                self.verdict(table, partition_key, operations, doubt).await.settle(refusal)
            }
            _ => Err(refusal),
        }
    }

    fn batch_request(&self, requests: &[WriteRequest]) -> Result<Request> {
        let id = uuid::Uuid::new_v4();
        let body = write_batch(self.pipeline().endpoint().base(), requests, id);
        let most = self.known_capabilities().limits.transaction_bytes;
        if body.len() > most {
            let message =
                format!("the batch has {} bytes; at most {most} are allowed: commit it in parts", body.len());
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

/// Whether a refusal is about what is stored, so that the batch's own first attempt may be its reason.
const fn is_of_state(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::EntityAlreadyExists | ErrorCode::ResourceNotFound | ErrorCode::UpdateConditionNotSatisfied
    )
}

/// What a batch's answer says: the number of parts is read, not assumed (EGT-37).
fn outcome(answer: &Answer, operations: usize) -> Result<Committed> {
    let parts = read_parts(answer.header("content-type"), &answer.body);
    let parts = match parts {
        Ok(parts) => parts,
        Err(why) => return Err(unreadable(&why)),
    };
    if let Some((position, part)) = parts.iter().enumerate().find(|(_, part)| part.status >= 400) {
        return Err(refusal(answer, part, position, operations));
    }
    if parts.len() != operations || parts.iter().any(|part| !(200..300).contains(&part.status)) {
        let found = parts.len();
        return Err(unreadable(&format!(
            "it has {found} parts for {operations} operations, none of them an error"
        )));
    }
    Ok(parts.iter().map(|part| ETag::parse(part.header("etag")).ok()).collect())
}

/// The service took the batch and nobody knows what it did with it.
fn unreadable(why: &str) -> Error {
    let message = format!(
        "{OPERATION}: the answer cannot be read: {why}; the batch may have been applied: read before it is tried again"
    );
    Error::new(ErrorCode::OperationTimedOut, message).with_rule("CON-11")
}

fn refusal(answer: &Answer, part: &Part<'_>, position: usize, operations: usize) -> Error {
    let body = ErrorBody::read(part.body);
    let service = ServiceError::new(OPERATION, answer, &ErrorBody::default()).of_part(part.status, &body);
    let code = error_code(part.status, service.code(), OPERATION);
    let error = Error::new(code, service.summary()).with_source(service);
    // The prefix is optional where there is one operation (EGT-35); after parts of success, the place tells.
    let only = (operations == 1).then_some(0);
    let index = body.index.or(only).or((position > 0).then_some(position));
    match index.filter(|index| *index < operations) {
        Some(index) => error.with_operation(index),
        None => error,
    }
}

#[cfg(test)]
mod tests;
