//! Error methods and error codes under the names used by other libraries. Using one is a compile error whose message suggests the right name.

use crate::error::{Error, ErrorCode};

/// A trait that no type implements. Error methods with names from other libraries require this trait, so a call of such a method fails to compile with this
/// message.
///
/// The trait has a lifetime parameter because rustc rejects an unsatisfiable bound without generic parameters where the method is defined.
#[diagnostic::on_unimplemented(
    message = "[T247] an error has no method of this name: its reason is an `ErrorCode`",
    label = "write `code()`, or a question such as `is_already_exists()`",
    note = "`error.code() == ErrorCode::EntityAlreadyExists` compares the code, `error.code().status() == 409` its HTTP status",
    note = "the questions: `is_not_found()`, `is_already_exists()`, `is_conflict()`, `is_precondition_failed()`, `is_throttled()`, `is_invalid_input()`"
)]
pub trait HasKind<'a> {
    /// Serves as the body of methods bounded by this trait. It is never called, because no type implements the trait.
    fn refuse<R>(&self) -> R;
}

/// Declares methods with names from other libraries. They take `&mut self`, which method resolution tries last. A method of the same name from one of the
/// program's traits therefore takes precedence if it takes `self` or `&self`.
macro_rules! refused_of_errors {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        pub fn $name<R>(&mut self) -> R
        where
            for<'a> Self: HasKind<'a>,
        {
            HasKind::refuse(self)
        }
    )*};
}

impl Error {
    refused_of_errors! {
        kind status status_code http_status error_code as_database_error as_service_error into_service_error is_unique_violation is_unique is_duplicate
        is_status is_request_error is_timeout is_exists is_missing is_transient is_retryable is_version_conflict is_stale is_bad_request is_unavailable code_str
        is_row_not_found is_conditional_check_failed is_etag_mismatch
    }
}

/// Declares traits that no type implements, and constants that require them. The constants have names from other libraries. Using one fails to compile with a
/// message that suggests the `ErrorCode` to write instead.
macro_rules! refused_codes {
    ($($(#[$docs:meta])* $bound:ident, $form:literal: $($name:ident)* / $($of_error:ident)*;)*) => {$(
        $(#[$docs])*
        #[diagnostic::on_unimplemented(
            message = "[T247] there is no `ErrorCode` of this name: the codes are those of the service",
            label = $form,
            note = "an error is a struct, not an enum: `if error.code() == ErrorCode::EntityAlreadyExists`"
        )]
        pub trait $bound<'a> {}

        impl ErrorCode
        where
            for<'a> Self: $bound<'a>,
        {
            refused_codes! { of (): $($name)* }
        }

        impl Error
        where
            for<'a> Self: $bound<'a>,
        {
            refused_codes! { of (): $($name)* $($of_error)* }
        }
    )*};
    (of (): $($name:ident)*) => {$(
        #[doc(hidden)]
        #[expect(non_upper_case_globals, reason = "the name of a variant")]
        pub const $name: () = ();
    )*};
}

refused_codes! {
    /// Required by other libraries' names for `ErrorCode::ResourceNotFound`. No type implements this trait.
    HasNotFound, "write `ErrorCode::ResourceNotFound`, or `error.is_not_found()`": NotFound EntityNotFound KeyNotFound ItemNotFound RowNotFound / ResourceNotFound;
    /// Required by other libraries' names for `ErrorCode::EntityAlreadyExists`. No type implements this trait.
    HasExists, "write `ErrorCode::EntityAlreadyExists`, or `error.is_already_exists()`": AlreadyExists EntityExists Conflict Duplicate DuplicateKey
        / EntityAlreadyExists UniqueViolation;
    /// Required by other libraries' names for `ErrorCode::UpdateConditionNotSatisfied`. No type implements this trait.
    HasCondition, "write `ErrorCode::UpdateConditionNotSatisfied`, or `error.is_precondition_failed()`": PreconditionFailed ConditionNotMet
        ConditionalCheckFailed ConditionFailed VersionMismatch ETagMismatch ConcurrencyConflict
        / UpdateConditionNotSatisfied;
}
