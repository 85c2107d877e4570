//! Converts Azure SDK errors to table errors.

use azure_data_cosmos::CosmosError;
use azure_data_cosmos::diagnostics::DiagnosticsContext;
use table_core::{Error, ErrorCode};

/// The sub-status code for a query that needs more partitions than `Options::fan_out` allows (RUST-6).
const FAN_OUT: u16 = 20118;
/// The sub-status code for a write to a partition key that has reached 20 GB (LIM-1).
const LOGICAL_FULL: u16 = 1014;
/// The sub-status code from a replica that lacks writes already seen by the client's session.
const SESSION_BEHIND: u16 = 1002;
/// The sub-status code for a request whose container was deleted or replaced.
const OWNER_NOT_FOUND: u16 = 1003;
/// The status and sub-status codes for a request to a container that was replaced. The new container has the same name.
///
/// Over HTTP/2, a gateway with an outdated container cache may send 410/1000 instead. After either response, the Azure SDK looks up the container. If the
/// container was replaced, the SDK reports this itself. A 410/1000 without a replacement is temporary, like every 410.
const REPLACED: (u16, u16) = (400, 1024);

/// The Azure SDK's sub-status code for a query that it abandons after repeated partition splits.
const SPLIT_RETRIES: u16 = 20206;

/// Returns an error's status and sub-status codes.
pub(crate) fn status(error: &CosmosError) -> (u16, u16) {
    let status = error.status();
    (u16::from(status.status_code()), status.sub_status().map_or(0, |sub| sub.value()))
}

/// Returns `true` if the container itself does not exist.
pub(crate) fn is_container_gone(error: &CosmosError) -> bool {
    matches!(status(error), (404, OWNER_NOT_FOUND))
}

/// Returns `true` if a query's error means that the container or its database does not exist. A query never returns 404 for a missing item.
pub(crate) fn is_owner_gone(error: &CosmosError) -> bool {
    is_container_gone(error) || is_absent(error)
}

/// Returns `true` if the item or the named container does not exist.
///
/// A 404 with a sub-status has a different meaning. For example, 1002 means that a replica has not caught up with the session.
pub(crate) fn is_absent(error: &CosmosError) -> bool {
    status(error) == (404, 0) && is_from_service(error)
}

/// Returns `true` if a container or a database does not exist.
pub(crate) fn is_missing(error: &CosmosError) -> bool {
    status(error).0 == 404 && is_from_service(error)
}

/// Returns `true` if the service does not permit the request with this credential.
pub(crate) fn is_forbidden(error: &CosmosError) -> bool {
    matches!(status(error).0, 401 | 403) && is_from_service(error)
}

/// Returns `true` if the response came from the service itself. Every response from the service has an activity ID. The error page of a gateway has none.
pub(crate) fn is_from_service(error: &CosmosError) -> bool {
    error.response().is_some_and(|response| response.headers().activity_id.is_some())
}

/// Returns `true` if a status reports the state of an item, a container or a partition.
///
/// Only the service knows this state. The same status from a gateway or proxy proves nothing.
pub(crate) const fn reports_state(status: u16) -> bool {
    matches!(status, 404 | 409 | 410 | 412)
}

/// Returns `true` if the status would report such a state, but the response came from a gateway or proxy.
fn is_page(error: &CosmosError) -> bool {
    let (status, sub) = status(error);
    sub == 0 && reports_state(status) && !is_from_service(error)
}

/// Returns `true` if the container was recreated after the previous page of the query.
///
/// The service reports a new container with a status. If the Azure SDK detects it first, only the error message shows this.
pub(crate) fn is_container_new(error: &CosmosError) -> bool {
    let is_told = || {
        let message = error.to_string();
        message.contains("was recreated") || message.contains("does not match the operation's container rid")
    };
    status(error) == REPLACED || status(error).0 == 400 && !error.is_from_wire() && is_told()
}

/// Returns `true` if a request failed because its partition is being split, merged or moved. The request had no effect (MAP-12).
pub(crate) fn is_moving(error: &CosmosError) -> bool {
    matches!(status(error), (410, _) | (500, SPLIT_RETRIES)) && !is_page(error)
}

/// The possible effect of a failed write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No request was sent, for example because no connection could be opened.
    Unsent,
    /// The write may have been applied.
    Doubtful,
    /// The service rejected the write, which had no effect.
    Refused,
}

/// Determines from an error whether a write to an item or a container may have taken effect.
pub(crate) fn verdict(error: &CosmosError) -> Verdict {
    let is_refused = is_refusal(status(error).0) && error.is_from_wire();
    if is_unsent(error) {
        Verdict::Unsent
    } else if is_refused && !is_page(error) && !is_repeated(error) {
        Verdict::Refused
    } else {
        Verdict::Doubtful
    }
}

/// Returns `true` if the Azure SDK had already sent the failed request and had lost the response.
pub(crate) fn is_repeated(error: &CosmosError) -> bool {
    error.diagnostics().is_some_and(|diagnostics| was_repeated(&diagnostics))
}

/// Returns `true` if the failed operation never sent a request, for example because no connection could be opened.
fn is_unsent(error: &CosmosError) -> bool {
    error.diagnostics().is_some_and(|diagnostics| {
        let requests = diagnostics.requests();
        !requests.is_empty() && !requests.iter().any(|request| request.request_sent().may_have_been_sent())
    })
}

/// The effect of a write, derived from a status. The status is that of the response, or of one operation in a batch response.
///
/// A batch is atomic, so the status of the failed operation applies to the entire batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The write had no effect, and a retry would have none either.
    Refused,
    /// The write had no effect, but a retry may succeed. Its partition is throttled or moving, or a concurrent write was in progress.
    Busy,
    /// The write may have been applied.
    Unknown,
}

/// Returns the effect of a write whose response has the given status.
pub(crate) const fn effect(status: u16) -> Effect {
    match status {
        410 | 429 | 449 => Effect::Busy,
        400 | 401 | 403 | 404 | 409 | 412 | 413 => Effect::Refused,
        _ => Effect::Unknown,
    }
}

/// Returns `true` if a status means that the request had no effect.
fn is_refusal(status: u16) -> bool {
    effect(status) != Effect::Unknown
}

/// Returns `true` if the Azure SDK sent a request again after a lost response. The first request may have been applied, so the last response may describe a
/// duplicate.
pub(crate) fn was_repeated(diagnostics: &DiagnosticsContext) -> bool {
    let requests = diagnostics.requests();
    let earlier = requests.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
    earlier.iter().any(|request| {
        let status = request.status();
        // The Azure SDK itself sets sub-statuses of 20000 and above. They mean that no response arrived.
        let is_clients = status.sub_status().is_some_and(|sub| sub.value() >= 20_000);
        request.request_sent().may_have_been_sent()
            && (is_clients || !is_refusal(u16::from(status.status_code())))
    })
}

/// Returns the error for an unconditional write that the Azure SDK has sent more than once.
pub(crate) fn repeated_by_client() -> Error {
    let message = "the vendor's client sent the write again after a lost answer, so it may have been applied twice; read the entity";
    Error::new(ErrorCode::InternalError, message).with_rule("CON-11")
}

/// Returns the error for a write whose acknowledgement did not come from the service. `help` tells the user how to find out whether the write was applied.
pub(crate) fn not_from_service(help: &str) -> Error {
    let message = format!(
        "the response to the write did not come from the service, but from a gateway or a proxy; {help}"
    );
    Error::new(ErrorCode::InternalError, message).with_rule("CON-11")
}

/// Returns the error code for a rejection. The code is never ambiguous, because rejected reads use it too.
///
/// The [`verdict`] or [`effect`] of a write decides whether its error is reported as ambiguous.
pub(crate) fn code(status: u16, sub: u16) -> ErrorCode {
    match (status, sub) {
        (400, FAN_OUT) => ErrorCode::Unsupported,
        (403, LOGICAL_FULL) => ErrorCode::DiskFull,
        (404, OWNER_NOT_FOUND) => ErrorCode::TableNotFound,
        (404, SESSION_BEHIND) | (410 | 429 | 449 | 503, _) | (500, SPLIT_RETRIES) => ErrorCode::ServerBusy,
        (401, _) => ErrorCode::AuthenticationFailed,
        (403, _) => ErrorCode::AuthorizationFailure,
        (404, _) => ErrorCode::ResourceNotFound,
        (408, _) => ErrorCode::Io,
        (409, _) => ErrorCode::EntityAlreadyExists,
        (412, _) => ErrorCode::UpdateConditionNotSatisfied,
        // A single item that is too large causes a different error. This request is therefore a batch, and the caller can commit it in parts.
        (413, _) => ErrorCode::RequestBodyTooLarge,
        (400..=499, _) => ErrorCode::InvalidInput,
        _ => ErrorCode::InternalError,
    }
}

/// Returns the error for a failed request. `operation` is the verb in the error message.
pub(crate) fn error(operation: &str, failure: CosmosError) -> Error {
    let (status, sub) = status(&failure);
    if is_page(&failure) {
        let message = format!(
            "{operation} was answered with status {status} by a gateway or a proxy, and not by the service; check the endpoint and the network: \
             {failure}"
        );
        return Error::new(ErrorCode::InternalError, message).with_source(failure);
    }
    let message = format!("{operation} failed with status {status}/{sub}{}: {failure}", help(status, sub));
    let error = Error::new(code(status, sub), message).with_source(failure);
    if status == 413 { error.with_rule("EGT-3") } else { error }
}

/// Returns the advice for a rejection. It follows the status in the error message.
pub(crate) const fn help(status: u16, sub: u16) -> &'static str {
    match (status, sub) {
        (400, FAN_OUT) => {
            "; the query needs too many physical partitions, fix the first level or raise `Options::fan_out`"
        }
        (403, LOGICAL_FULL) => "; this partition key has reached 20 GB, add a level (HPK-26)",
        (429, _) => {
            "; the request units of the container are used up, spread the work or raise the throughput"
        }
        (404, SESSION_BEHIND) => "; no replica has caught up with the session, retry later",
        (413, _) => "; the request is too large, send it in parts",
        (410, _) | (500, SPLIT_RETRIES) => "; the partition is still being split or moved, retry later",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn con_11_no_status_makes_a_read_ambiguous() {
        let subs = [0, FAN_OUT, LOGICAL_FULL, SESSION_BEHIND, OWNER_NOT_FOUND, SPLIT_RETRIES, 20_008];
        for (status, sub) in (100..600).flat_map(|status| subs.map(|sub| (status, sub))) {
            assert!(!Error::new(code(status, sub), "rejected").is_ambiguous(), "{status}/{sub}");
        }
    }
}
