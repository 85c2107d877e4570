//! The faults of filters: in their text, and in those built in code.

use crate::error::{Error, ErrorCode, Fault};

/// A fault at a place of a filter's text: the number of the character, the first being 1 (FIL-5).
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

/// A filter that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilterFault {
    #[error("`{found}` has no meaning here: {instead}", found = .found.escape_debug())]
    Character { found: char, instead: &'static str },
    #[error("a constant ends here: put a space before what follows")]
    NoSpace,
    #[error("the quote that opens here is not closed: end with `'`, and double a quote inside")]
    OpenQuote,
    #[error("arithmetic is not supported: compute the constant before")]
    Sign,
    #[error("`{0}`: arithmetic is not supported: compute the constant before")]
    Arithmetic(String),
    #[error("`{name}(…)`: functions are not supported: {instead}")]
    Function { name: String, instead: &'static str },
    #[error("`{found}`: keywords are lower case: write `{lower}`")]
    Keyword { found: String, lower: String },
    #[error("expected {expected}, found {found}")]
    Expected { expected: &'static str, found: String },
    #[error("this `)` closes nothing: remove it, or open it before")]
    Close,
    #[error("this `(` is not closed")]
    Open,
    #[error("a constant alone is not a condition: compare a property with it")]
    Alone,
    #[error("two constants cannot be compared: one side is a property")]
    TwoConstants,
    #[error("`{left}` and `{right}` are two properties, which cannot be compared; put text in single quotes")]
    TwoNames { left: String, right: String },
    #[error("null is not a value: where P is absent, `not (P ne '') and not (P eq '')` holds (FIL-12)")]
    Null,
    #[error("`{0}` is outside Edm.Int32: for an Edm.Int64 write `{0}L`")]
    Int32(String),
    #[error("`{0}` is outside Edm.Int64")]
    Int64(String),
    #[error("`{0}` is outside Edm.Double; infinities and NaN have no constant")]
    Double(String),
    #[error("`{0}` is not a number: write 34, 34L for an Edm.Int64, 2.5, 3.4e1 or 3D")]
    Number(String),
    #[error("write an instant as datetime'2014-08-22T00:50:32.1234567Z', in the years 1 to 9999")]
    DateTime,
    #[error("write a Guid as guid'c9da6455-213d-42c9-9a79-3e9149a57833'")]
    Guid,
    #[error("write bytes as X'01ff': an even number of hexadecimal digits, not base64")]
    Binary,
    #[error(
        "`{0}'…'` is not a constant: put a space before the quote, or write datetime'…', guid'…' or X'…'"
    )]
    Prefix(String),
    #[error("`{0}` is a word of the filter grammar: a property of this name cannot be filtered on")]
    Reserved(String),
    #[error("filter: {0}")]
    Name(Error),
    #[error("`{name}` cannot be compared with {number}: the filter grammar has no word for it")]
    NotFinite { name: String, number: f64 },
    #[error("`{0}` cannot be compared with an instant outside the years 1 to 9999")]
    Instant(String),
}

impl Fault for FilterFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let (code, rule) = match self {
            Self::Sign | Self::Arithmetic(_) | Self::Function { .. } => (ErrorCode::NotImplemented, "QRY-2"),
            Self::TwoConstants | Self::TwoNames { .. } => (ErrorCode::NotImplemented, "FIL-4"),
            Self::NoSpace | Self::Keyword { .. } | Self::Reserved(_) | Self::Name(_) => {
                (ErrorCode::InvalidInput, "FIL-1")
            }
            Self::Prefix(_) => (ErrorCode::InvalidInput, "LIT-1"),
            Self::Int32(_) | Self::Int64(_) => (ErrorCode::InvalidInput, "LIT-2"),
            Self::Null => (ErrorCode::InvalidInput, "LIT-3"),
            Self::NotFinite { .. } => (ErrorCode::InvalidInput, "FIL-17"),
            Self::Instant(_) => (ErrorCode::InvalidInput, "TYPE-6"),
            Self::Character { .. }
            | Self::OpenQuote
            | Self::Expected { .. }
            | Self::Close
            | Self::Open
            | Self::Alone
            | Self::Double(_)
            | Self::Number(_)
            | Self::DateTime
            | Self::Guid
            | Self::Binary => (ErrorCode::InvalidInput, "FIL-5"),
        };
        (code, Some(rule))
    }
}
