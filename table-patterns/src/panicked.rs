//! Converts a panic of application code into an error of the item that caused it.
//!
//! Workers, followers and sweeps call the application's handlers, projections and codecs for one item after another. A panic becomes an error of the current
//! item, so all other items are still processed. If the program is built with `panic = "abort"`, a panic ends the process instead.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use table_core::{Error, Fault, Result};

/// A panic in application code.
#[derive(Debug, thiserror::Error, Fault)]
#[error("{code} panicked: {text}; correct it, then try the item again")]
#[fault(InvalidInput, "PAT-EC-4")]
struct Panicked {
    code: String,
    text: String,
}

impl Panicked {
    fn error(code: &str, panic: &(dyn Any + Send)) -> Error {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Error::of(Self { code: code.to_owned(), text: text.unwrap_or("no text").to_owned() })
    }
}

/// Calls application code. Converts a panic into an error that contains the description `code`.
///
/// # Errors
/// The code's error; `InvalidInput` if it panics.
pub(crate) fn caught<T>(code: &str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    // Values that are shared with later calls belong to the application. It is responsible for their state after a panic.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(Panicked::error(code, &*panic)))
}

/// Awaits a future that calls application code. Converts a panic into an error that contains the description `code`.
///
/// # Errors
/// The future's error, or `InvalidInput` if the code panics.
pub(crate) async fn caught_in<T>(code: &str, future: impl Future<Output = Result<T>>) -> Result<T> {
    let outcome = AssertUnwindSafe(future).catch_unwind().await;
    outcome.unwrap_or_else(|panic| Err(Panicked::error(code, &*panic)))
}
