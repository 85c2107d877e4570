//! Errors in endpoints, and errors for credentials that must not be sent to an endpoint.

use std::str::FromStr;

use reqwest::Url;
use table_core::Fault;

/// An error in an endpoint or a URL.
#[derive(Debug, thiserror::Error, Fault)]
pub(crate) enum EndpointFault {
    #[error("the endpoint is not a URL; write it as https://contoso.table.core.windows.net")]
    #[fault(InvalidInput, "AUTH-31")]
    NotAUrl,
    #[error("the endpoint is not an http or https URL")]
    #[fault(InvalidInput, "AUTH-31")]
    Scheme,
    #[error("the endpoint contains more than a host and a path; put a signature into the credential")]
    #[fault(InvalidInput, "AUTH-31")]
    MoreThanAHost,
    #[error("the endpoint names no host")]
    #[fault(InvalidInput, "AUTH-31")]
    NoHost,
    #[error("the endpoint has no account in its host; set the secondary endpoint")]
    #[fault(InvalidInput, "ACC-1")]
    NoAccount,
    #[error(
        "endpoint {0}: the emulator's public key is valid only for an emulator; use the key of the account"
    )]
    #[fault(InvalidInput, "AUTH-30")]
    PublicKey(String),
    #[error(
        "endpoint {0}: a signature or token would be sent unencrypted; use https, or allow it with \
         `Options::allow_credentials_over_plain_http`"
    )]
    #[fault(InvalidInput, "ACC-1")]
    InTheClear(String),
    #[error(
        "the URL has {bytes} bytes, at most {most} can be sent and services accept about 32 KiB; send several queries with \
         shorter filters, or for fewer properties"
    )]
    #[fault(InvalidInput, "FIL-8")]
    TooLong { bytes: usize, most: usize },
    #[error(
        "a name in the path of the URL is `.` or `..`, which addresses another resource; use another name"
    )]
    #[fault(InvalidInput, "REQ-5")]
    Path,
    #[error("the URL of the request is not valid")]
    #[fault(InvalidInput)]
    Request(#[source] <Url as FromStr>::Err),
}
