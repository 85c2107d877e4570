//! Faults of signed requests. No message repeats a signature or a key.

use table_core::ErrorCode;
use table_core::error::Fault;

/// A fault of an account key or of the signature of a request.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthFault {
    #[error("the key of account `{}` is not base64; copy it whole, with its closing `=`", .0.escape_debug())]
    Key(String),
    #[error(
        "invalid `Authorization` header; write `SharedKey account:signature` or `SharedKeyLite account:signature`"
    )]
    Header,
    #[error("the signature does not match this request and the keys of the account")]
    Signature,
    #[error("the request has no date, or its date is not an HTTP date")]
    Date,
    #[error("the date of the request is more than 15 minutes off; set the clock")]
    Skew,
}

impl Fault for AuthFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = match self {
            Self::Key(_) => "AUTH-11",
            Self::Header | Self::Signature => "AUTH-1",
            Self::Date | Self::Skew => "AUTH-9",
        };
        (ErrorCode::AuthenticationFailed, Some(rule))
    }
}
