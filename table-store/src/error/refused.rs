//! Method names from other libraries that errors do not have. A call to such a method does not compile, and the error names the right method.

use crate::error::Error;

/// An error whose reason is read with a method of another library. No error implements this trait: methods that require it exist only to produce an error
/// message. It has a lifetime, because rustc rejects a bound without parameters that no type satisfies.
#[diagnostic::on_unimplemented(
    message = "[T247] an error has no method of this name: its reason is an `ErrorCode`",
    label = "write `code()`, or a question such as `is_already_exists()`",
    note = "`error.code() == ErrorCode::EntityAlreadyExists` compares the code, `error.code().status() == 409` its HTTP status",
    note = "the questions: `is_not_found()`, `is_already_exists()`, `is_conflict()`, `is_precondition_failed()`, `is_throttled()`, `is_invalid_input()`"
)]
pub trait HasKind<'a> {
    /// Returns a value of any type. No type implements this trait.
    fn refuse<R>(&self) -> R;
}

/// Declares methods of other libraries. They take `&mut self`, so rustc prefers a method with the same name in one of the program's traits that takes `&self`
/// or `self`.
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
        is_status is_request_error is_timeout
    }
}
