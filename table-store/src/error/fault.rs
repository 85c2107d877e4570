//! `Fault`: the trait for error enums that can be converted to [`Error`](crate::Error).

use std::error::Error as StdError;

use crate::error::code::ErrorCode;
use crate::error::shortened::MESSAGE;

/// The error enum of a module. [`Error::of`](crate::Error::of) converts its values to [`Error`](crate::Error).
///
/// Each module lists its errors in one enum. `thiserror` derives the message and the source. `#[derive(Fault)]` derives the code and the rule from
/// `#[fault(Code, "RULE")]` on each variant. The rule is optional. It can also be the name of a field that contains the rule. `#[fault(…)]` on the enum applies
/// to variants without a code.
///
/// A message states the problem and how to solve it, in lower case and without a full stop. It does not repeat the source's message, which is printed after it.
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
    /// Returns the error code, and the violated rule, if any.
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>);

    /// Returns the maximum length of the message, in characters. The middle of a longer message is omitted. Override the default only for errors with many
    /// lines.
    #[doc(hidden)]
    fn longest_message(&self) -> usize {
        MESSAGE
    }
}
