//! Filter errors: syntax errors, and programmatically built filters that the grammar cannot express.

use crate::error::{Error, ErrorCode, Fault, quoted};

/// A syntax error and its position in the filter, in characters counted from 1 (FIL-5).
#[derive(Debug, thiserror::Error)]
#[error("filter, character {character}: {fault}")]
pub(super) struct SyntaxFault {
    pub(super) character: usize,
    pub(super) fault: FilterFault,
}

impl Fault for SyntaxFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        self.fault.code_and_rule()
    }
}

/// An error in a filter, which was either parsed from text or built programmatically.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum FilterFault {
    #[error("unexpected `{found}`; {instead}", found = .found.escape_debug())]
    #[fault(InvalidInput, "FIL-5")]
    Character { found: char, instead: &'static str },
    #[error("a constant ends here; insert a space")]
    #[fault(InvalidInput, "FIL-1")]
    NoSpace,
    #[error("unterminated string; end it with `'`, and double any quote inside")]
    #[fault(InvalidInput, "FIL-5")]
    OpenQuote,
    #[error("arithmetic is not supported; compute the constant first")]
    #[fault(NotImplemented, "QRY-2")]
    Sign,
    #[error("`{}`: arithmetic is not supported; compute the constant first", quoted(.0))]
    #[fault(NotImplemented, "QRY-2")]
    Arithmetic(String),
    #[error("`{name}(…)`: functions are not supported; {instead}", name = quoted(.name))]
    #[fault(NotImplemented, "QRY-2")]
    Function { name: String, instead: &'static str },
    #[error("`{found}`: keywords are lower case; write `{lower}`", found = quoted(.found), lower = quoted(.lower))]
    #[fault(InvalidInput, "FIL-1")]
    Keyword { found: String, lower: String },
    #[error("expected {expected}, found {found}")]
    #[fault(InvalidInput, "FIL-5")]
    Expected { expected: &'static str, found: String },
    #[error("unmatched `)`; remove it, or add the opening `(`")]
    #[fault(InvalidInput, "FIL-5")]
    Close,
    #[error("this `(` is not closed; add the `)`")]
    #[fault(InvalidInput, "FIL-5")]
    Open,
    #[error("a constant is not a condition; compare a property with it")]
    #[fault(InvalidInput, "FIL-5")]
    Alone,
    #[error("two constants cannot be compared; one side must be a property")]
    #[fault(NotImplemented, "FIL-4")]
    TwoConstants,
    #[error(
        "`{left}` and `{right}` are two properties, which cannot be compared; put text in single quotes",
        left = quoted(.left), right = quoted(.right)
    )]
    #[fault(NotImplemented, "FIL-4")]
    TwoNames { left: String, right: String },
    #[error(
        "null is not a value; to find entities without P, write `not (P ne '') and not (P eq '')` (FIL-12)"
    )]
    #[fault(InvalidInput, "LIT-3")]
    Null,
    #[error("`{number}` is out of range for Edm.Int32; write `{number}L` for an Edm.Int64", number = quoted(.0))]
    #[fault(InvalidInput, "LIT-2")]
    Int32(String),
    #[error("`{}` is out of range for Edm.Int64", quoted(.0))]
    #[fault(InvalidInput, "LIT-2")]
    Int64(String),
    #[error("`{}` is out of range for Edm.Double; infinities and NaN cannot be written", quoted(.0))]
    #[fault(InvalidInput, "FIL-5")]
    Double(String),
    #[error("`{}` is not a number; write 34, 34L for an Edm.Int64, 2.5, 3.4e1 or 3D", quoted(.0))]
    #[fault(InvalidInput, "FIL-5")]
    Number(String),
    #[error("write an instant as datetime'2014-08-22T00:50:32.1234567Z', in the years 1 to 9999")]
    #[fault(InvalidInput, "FIL-5")]
    DateTime,
    #[error("write a Guid as guid'c9da6455-213d-42c9-9a79-3e9149a57833'")]
    #[fault(InvalidInput, "FIL-5")]
    Guid,
    #[error("write bytes as X'01ff': an even number of hexadecimal digits, not base64")]
    #[fault(InvalidInput, "FIL-5")]
    Binary,
    #[error(
        "`{}'…'` is not a constant; insert a space before the quote, or write datetime'…', guid'…' or X'…'",
        quoted(.0)
    )]
    #[fault(InvalidInput, "LIT-1")]
    Prefix(String),
    #[error("`{}` is a keyword of filters; a property with this name cannot be filtered", quoted(.0))]
    #[fault(InvalidInput, "FIL-1")]
    Reserved(String),
    #[error("filter: {0}")]
    #[fault(InvalidInput, "FIL-1")]
    Name(Error),
    #[error("`{}` cannot be compared with {number}, which filters cannot express", quoted(.name))]
    #[fault(InvalidInput, "FIL-17")]
    NotFinite { name: String, number: f64 },
    #[error("`{}` cannot be compared with an instant outside the years 1 to 9999", quoted(.0))]
    #[fault(InvalidInput, "TYPE-6")]
    Instant(String),
}
