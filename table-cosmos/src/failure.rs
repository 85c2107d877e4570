//! Refusals and failures of the client as errors of tables.

use azure_data_cosmos::CosmosError;
use azure_data_cosmos::diagnostics::DiagnosticsContext;
use table_core::{Error, ErrorCode};

/// A query would ask more partitions than it may (RUST-6).
const FAN_OUT: u16 = 20118;
/// The whole key has no room left (LIM-1).
const LOGICAL_FULL: u16 = 1014;
/// A replica has not caught up with the session.
const SESSION_BEHIND: u16 = 1002;
/// The container is not the one that it was, or not there.
const OWNER_NOT_FOUND: u16 = 1003;

/// The client gave up a query after so many splits below it, or as many looks at one that is under way.
const SPLIT_RETRIES: u16 = 20206;

/// Status and sub-status.
pub(crate) fn status(error: &CosmosError) -> (u16, u16) {
    let status = error.status();
    (u16::from(status.status_code()), status.sub_status().map_or(0, |sub| sub.value()))
}

/// Whether the container itself is missing.
pub(crate) fn is_container_gone(error: &CosmosError) -> bool {
    matches!(status(error), (404, OWNER_NOT_FOUND))
}

/// Whether the item is not there, or the container that a name is asked of. A 404 with a sub-status says something else: with 1002, that a
/// replica has not caught up with the session.
pub(crate) fn is_absent(error: &CosmosError) -> bool {
    status(error) == (404, 0)
}

/// Whether the container is another one than the one a page before was read from: the client says so in words alone.
pub(crate) fn is_container_new(error: &CosmosError) -> bool {
    status(error).0 == 400 && !error.is_from_wire() && error.to_string().contains("was recreated")
}

/// Whether the partition is being split, merged or moved: nothing was done, and it will be another one soon (MAP-12).
pub(crate) fn is_moving(error: &CosmosError) -> bool {
    matches!(status(error), (410, _) | (500, SPLIT_RETRIES))
}

/// Whether a write that ended so may have been applied: every end that is not a plain refusal, and one of a repetition.
pub(crate) fn leaves_doubt(error: &CosmosError) -> bool {
    !is_refusal(status(error).0)
        || !error.is_from_wire()
        || error.diagnostics().is_some_and(|diagnostics| was_repeated(&diagnostics))
}

/// Whether a status says that nothing was done.
const fn is_refusal(status: u16) -> bool {
    matches!(status, 400 | 401 | 403 | 404 | 409 | 410 | 412 | 413 | 429 | 449)
}

/// Whether the client sent a request again whose first answer was lost, so that the last answer may be of its own repetition.
pub(crate) fn was_repeated(diagnostics: &DiagnosticsContext) -> bool {
    let requests = diagnostics.requests();
    let earlier = requests.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
    earlier.iter().any(|request| {
        let status = request.status();
        // Statuses from 20000 on are the client's own, for an answer that did not come.
        let is_clients = status.sub_status().is_some_and(|sub| sub.value() >= 20_000);
        request.request_sent().may_have_been_sent()
            && (is_clients || !is_refusal(u16::from(status.status_code())))
    })
}

/// The code of a refusal with this status.
pub(crate) fn code(status: u16, sub: u16) -> ErrorCode {
    match (status, sub) {
        (400, FAN_OUT) => ErrorCode::Unsupported,
        (403, LOGICAL_FULL) => ErrorCode::DiskFull,
        (404, OWNER_NOT_FOUND) => ErrorCode::TableNotFound,
        (404, SESSION_BEHIND) | (410 | 429 | 449 | 503, _) => ErrorCode::ServerBusy,
        (401, _) => ErrorCode::AuthenticationFailed,
        (403, _) => ErrorCode::AuthorizationFailure,
        (404, _) => ErrorCode::ResourceNotFound,
        (408, _) => ErrorCode::OperationTimedOut,
        (409, _) => ErrorCode::EntityAlreadyExists,
        (412, _) => ErrorCode::UpdateConditionNotSatisfied,
        (413, _) => ErrorCode::EntityTooLarge,
        (400..=499, _) => ErrorCode::InvalidInput,
        _ => ErrorCode::InternalError,
    }
}

/// The error of a failed request.
pub(crate) fn error(what: &str, failure: CosmosError) -> Error {
    let (status, sub) = status(&failure);
    let advice = match (status, sub) {
        (400, FAN_OUT) => {
            ": it would ask too many physical partitions: fix the first level, or raise `Options::fan_out`"
        }
        (403, LOGICAL_FULL) => ": this whole key has its 20 GB: add a level (HPK-26)",
        (429, _) => {
            ": more request units were asked for than there are: spread the work, or raise the throughput"
        }
        (404, SESSION_BEHIND) => ": no replica has caught up with the session: try later",
        (410, _) => ": the partition is still being split or moved: try later",
        _ => "",
    };
    let message = format!("{what}: status {status}/{sub}{advice}: {failure}");
    Error::new(code(status, sub), message).with_source(failure)
}
