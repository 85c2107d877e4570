//! Derives a rejection's error code (ERR-4, COS-12).
//!
//! The code comes from the service's own code. If the response has no known code, it comes from the HTTP status.

use table_core::ErrorCode;

/// Returns the error code for a rejection. If only the HTTP status is known, `operation` determines which conflict code is returned.
pub(crate) fn error_code(status: u16, code: Option<&str>, operation: &str) -> ErrorCode {
    code.and_then(of_name).unwrap_or_else(|| of_status(status, operation))
}

fn of_name(code: &str) -> Option<ErrorCode> {
    ErrorCode::from_service(code).or_else(|| {
        Some(match code {
            "InvalidAuthenticationInfo" => ErrorCode::AuthenticationFailed,
            "AccountIsDisabled" | "InsufficientAccountPermissions" => ErrorCode::AuthorizationFailure,
            _ => return None,
        })
    })
}

fn of_status(status: u16, operation: &str) -> ErrorCode {
    match status {
        401 => ErrorCode::AuthenticationFailed,
        403 => ErrorCode::AuthorizationFailure,
        404 => ErrorCode::ResourceNotFound,
        405 | 406 | 415 | 501 => ErrorCode::NotImplemented,
        408 | 504 => ErrorCode::OperationTimedOut,
        409 => match operation {
            "create table" => ErrorCode::TableAlreadyExists,
            "create queue" => ErrorCode::QueueAlreadyExists,
            _ => ErrorCode::EntityAlreadyExists,
        },
        412 => ErrorCode::UpdateConditionNotSatisfied,
        413 => ErrorCode::RequestBodyTooLarge,
        429 | 503 => ErrorCode::ServerBusy,
        400..=499 => ErrorCode::InvalidInput,
        _ => ErrorCode::InternalError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn err_4_the_code_takes_precedence_over_the_status() {
        for (status, code, expected) in [
            (404, Some("TableNotFound"), ErrorCode::TableNotFound),
            (404, Some("EntityNotFound"), ErrorCode::ResourceNotFound),
            (404, None, ErrorCode::ResourceNotFound),
            (403, Some("AuthorizationPermissionMismatch"), ErrorCode::AuthorizationPermissionMismatch),
            (401, Some("Unauthorized"), ErrorCode::AuthenticationFailed), // COS-12
            (400, Some("BadRequest"), ErrorCode::InvalidInput),
            (400, None, ErrorCode::InvalidInput),
            (412, Some("PreconditionFailed"), ErrorCode::UpdateConditionNotSatisfied),
            (429, None, ErrorCode::ServerBusy), // COS-13
            (503, Some("ServerBusy"), ErrorCode::ServerBusy),
            (500, Some("OperationTimedOut"), ErrorCode::OperationTimedOut),
            (504, None, ErrorCode::OperationTimedOut),
            (302, None, ErrorCode::InternalError),
        ] {
            assert_eq!(error_code(status, code, "get"), expected, "{status} {code:?}");
        }
        assert_eq!(error_code(409, None, "create table"), ErrorCode::TableAlreadyExists);
        assert_eq!(error_code(409, Some("Conflict"), "insert"), ErrorCode::EntityAlreadyExists);
    }
}
