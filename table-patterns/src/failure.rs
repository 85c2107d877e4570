//! Error classification for patterns that retry work, skip items, or set work aside as poison when it fails repeatedly.

use table_core::{Error, ErrorCode, Result};

/// The treatment of failed work, which depends on its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A failure of a store, a network or a credential, or contention, such as `ServerBusy`, `Io`, `AuthorizationFailure` or `UpdateConditionNotSatisfied`. The
    /// same work can succeed later. It never becomes poison.
    Outage,
    /// The work requires a newer version of the program: `SchemaMismatch`, `FormatTooNew` or `IndexNotReady`. It is left for that version and never becomes
    /// poison. If a handler returns a `SchemaMismatch`, the message has failed instead.
    Newer,
    /// The work cannot succeed. These are all other error codes, such as `InvalidInput` and `ResourceNotFound`. After several attempts, the work is set aside
    /// as poison.
    Lasting,
}

impl Failure {
    /// Classifies an error. If you change this list, also change the table in the documentation of [`Handler`](crate::work::Handler).
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
            ErrorCode::SchemaMismatch | ErrorCode::FormatTooNew | ErrorCode::IndexNotReady => Self::Newer,
            _ => Self::Lasting,
        }
    }

    /// Keeps an error until the remaining items have been processed. The first error is kept, but a `Newer` failure replaces a `Lasting` one. Otherwise, the
    /// work would become poison, or a backfill would complete, although a newer program can process the item.
    ///
    /// # Errors
    /// The error itself if it is an outage. An outage stops the work immediately.
    pub(crate) fn postpone(known: &mut Option<Error>, error: Error) -> Result<()> {
        let failure = Self::of(&error);
        let is_worse =
            known.as_ref().is_none_or(|known| Self::of(known) == Self::Lasting && failure == Self::Newer);
        match failure {
            Self::Outage => return Err(error),
            Self::Newer | Self::Lasting if is_worse => *known = Some(error),
            Self::Newer | Self::Lasting => {}
        }
        Ok(())
    }

    /// Returns `true` if another attempt within the next second may succeed.
    pub(crate) fn is_transient(error: &Error) -> bool {
        matches!(
            error.code(),
            ErrorCode::ServerBusy | ErrorCode::OperationTimedOut | ErrorCode::InternalError | ErrorCode::Io
        )
    }
}
