//! The faults of signed requests. None repeats a signature or a key.

use table_core::ErrorCode;
use table_core::error::Fault;

/// A key that cannot be read, or a request that is not signed by one.
#[derive(Debug, thiserror::Error)]
pub(super) enum AuthFault {
    #[error("the key of account `{}` is not base64: copy it whole, with its closing `=`", .0.escape_debug())]
    Key(String),
    #[error("the header is neither `SharedKey account:signature` nor `SharedKeyLite account:signature`")]
    Header,
    #[error("the signature is not that of this request by a key of the account")]
    Signature,
    #[error("the request has no date, or one that is not in the form of HTTP")]
    Date,
    #[error("the date of the request is more than 15 minutes away: set the clock")]
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
