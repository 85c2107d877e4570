//! The trait of an area's faults, from which errors are made.

use std::error::Error as StdError;

use crate::error::code::ErrorCode;

/// A fault of one area of the code, to be turned into an [`Error`](crate::Error) by [`Error::of`](crate::Error::of).
///
/// An area lists what can go wrong in it as one enum: `thiserror` derives the texts and the cause, and this trait adds the code
/// and the rule. The text says what was wrong and what to do, in lower case, without a full stop, and without the text of the
/// cause, which is printed after it.
///
/// ```
/// use table_core::error::Fault;
/// use table_core::{Error, ErrorCode};
///
/// #[derive(Debug, thiserror::Error)]
/// enum CardFault {
///     #[error("the card has {0} digits; 16 are expected")]
///     Length(usize),
/// }
///
/// impl Fault for CardFault {
///     fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
///         (ErrorCode::InvalidInput, None)
///     }
/// }
///
/// let error = Error::of(CardFault::Length(15)).with_table("Cards");
/// assert_eq!(error.to_string(), "InvalidInput: the card has 15 digits; 16 are expected (table `Cards`)");
/// ```
pub trait Fault: StdError + Send + Sync + 'static {
    /// The code of the error, and the rule that was broken, where there is one.
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>);
}
