//! The trait for enums of errors, from which [`Error`](crate::Error)s are created.

use std::error::Error as StdError;

use crate::error::code::ErrorCode;

/// The errors of one area of the code, convertible to an [`Error`](crate::Error) by [`Error::of`](crate::Error::of).
///
/// An area lists its errors in one enum. `thiserror` derives the messages and the cause, and `#[derive(Fault)]` the code and the rule, from
/// `#[fault(Code, "RULE")]` on each variant. The rule may be absent, or may be the name of a field that contains it; `#[fault(…)]` on the enum applies to
/// variants that name no code. A message states the fact and the remedy, in lower case, without a full stop and without the message of
/// the cause, which is printed after it.
///
/// ```
/// use table_core::Fault;
/// use table_core::Error;
///
/// #[derive(Debug, thiserror::Error, Fault)]
/// enum CardFault {
///     #[error("the card has {0} digits; 16 are expected")]
///     #[fault(InvalidInput)]
///     Length(usize),
///     #[error("the transaction writes the card twice; write it once")]
///     #[fault(InvalidInput, "EGT-4")]
///     WrittenTwice,
/// }
///
/// let error = Error::of(CardFault::Length(15)).with_table("Cards");
/// assert_eq!(error.to_string(), "InvalidInput: the card has 15 digits; 16 are expected (table `Cards`)");
/// ```
pub trait Fault: StdError + Send + Sync + 'static {
    /// Returns the code of the error, and the broken rule, if any.
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>);
}
