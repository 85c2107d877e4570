//! Kinds of errors: one table for every pattern that tries again, sets aside, or goes on without one item.

use table_core::error::{Error, ErrorCode};

/// The consequence of an error for the work that it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The store, the network, a credential or the contention of the moment. The same work succeeds later, and never becomes poison.
    Outage,
    /// The work needs a newer program. It is left to that, and never becomes poison.
    Newer,
    /// The work itself. It is set aside after some attempts.
    Lasting,
}

impl Failure {
    pub(crate) fn of(error: &Error) -> Self {
        match error.code() {
            ErrorCode::ServerBusy
            | ErrorCode::OperationTimedOut
            | ErrorCode::InternalError
            | ErrorCode::Io
            | ErrorCode::DiskFull
            | ErrorCode::EngineClosed
            | ErrorCode::EnginePoisoned
            | ErrorCode::FolderLocked
            | ErrorCode::ReadOnly
            | ErrorCode::TableBeingDeleted
            | ErrorCode::QueueBeingDeleted
            | ErrorCode::AuthenticationFailed
            | ErrorCode::AuthorizationFailure
            | ErrorCode::AuthorizationPermissionMismatch
            | ErrorCode::AuthorizationProtocolMismatch
            | ErrorCode::AuthorizationResourceTypeMismatch
            | ErrorCode::AuthorizationServiceMismatch
            | ErrorCode::AuthorizationSourceIPMismatch
            | ErrorCode::MessageNotFound
            | ErrorCode::PopReceiptMismatch
            | ErrorCode::UpdateConditionNotSatisfied => Self::Outage,
            ErrorCode::LayoutMismatch | ErrorCode::FormatTooNew | ErrorCode::IndexNotReady => Self::Newer,
            _ => Self::Lasting,
        }
    }

    /// Returns `true` if another attempt within a second may succeed.
    pub(crate) fn is_brief(error: &Error) -> bool {
        matches!(
            error.code(),
            ErrorCode::ServerBusy | ErrorCode::OperationTimedOut | ErrorCode::InternalError | ErrorCode::Io
        )
    }
}
