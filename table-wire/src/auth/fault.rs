//! Errors in signed requests. Messages never contain signatures or keys.

use table_core::Fault;

/// An error in an account key or a request signature.
#[derive(Debug, thiserror::Error, Fault)]
pub(super) enum AuthFault {
    #[error("the key of account `{}` is not base64; copy it whole, with its closing `=`", .0.escape_debug())]
    #[fault(AuthenticationFailed, "AUTH-11")]
    Key(String),
    #[error(
        "invalid `Authorization` header; write `SharedKey account:signature` or `SharedKeyLite account:signature`"
    )]
    #[fault(AuthenticationFailed, "AUTH-1")]
    Header,
    #[error("the signature does not match this request and the keys of the account")]
    #[fault(AuthenticationFailed, "AUTH-1")]
    Signature,
    #[error("the request has no date, or its date is not an HTTP date")]
    #[fault(AuthenticationFailed, "AUTH-9")]
    Date,
    #[error("the date of the request is more than 15 minutes off; set the clock")]
    #[fault(AuthenticationFailed, "AUTH-9")]
    Skew,
}
