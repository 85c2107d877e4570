//! Conversions from the standard library's integer errors. With them, `?` can be used when an integer is converted, or is parsed for a key.

use std::num::{ParseIntError, TryFromIntError};

use crate::error::{Error, Fault};

/// An error from converting or parsing a number.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput)]
enum NumberFault {
    #[error("a number is out of the range of its type")]
    OutOfRange(#[source] TryFromIntError),
    #[error("a text is not a number of its type")]
    NotANumber(#[source] ParseIntError),
}

/// Converts the error to `InvalidInput`.
///
/// ```
/// use table_core::Result;
///
/// fn number(stored: i64) -> Result<u32> {
///     Ok(u32::try_from(stored)?)
/// }
/// assert_eq!(number(42)?, 42);
/// assert!(number(-1).unwrap_err().is_invalid_input());
/// # Result::<()>::Ok(())
/// ```
impl From<TryFromIntError> for Error {
    fn from(error: TryFromIntError) -> Self {
        Self::of(NumberFault::OutOfRange(error))
    }
}

/// Converts the error to `InvalidInput`.
///
/// ```
/// use table_core::Result;
///
/// fn number(text: &str) -> Result<u32> {
///     Ok(text.parse::<u32>()?)
/// }
/// assert_eq!(number("42")?, 42);
/// assert!(number("forty-two").unwrap_err().is_invalid_input());
/// # Result::<()>::Ok(())
/// ```
impl From<ParseIntError> for Error {
    fn from(error: ParseIntError) -> Self {
        Self::of(NumberFault::NotANumber(error))
    }
}
