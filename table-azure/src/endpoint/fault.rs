//! Faults of endpoints, and of credentials that must not be sent to them.

use std::str::FromStr;

use reqwest::Url;
use table_core::ErrorCode;
use table_core::error::Fault;

/// A fault of an endpoint or a URL.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointFault {
    #[error("the endpoint is not a URL; write it as https://contoso.table.core.windows.net")]
    NotAUrl,
    #[error("the endpoint is not an http or https URL")]
    Scheme,
    #[error("the endpoint contains more than a host and a path; put a signature into the credential")]
    MoreThanAHost,
    #[error("the endpoint names no host")]
    NoHost,
    #[error("the endpoint has no account in its host; set the secondary endpoint")]
    NoAccount,
    #[error(
        "endpoint {0}: the emulator's public key is valid only for an emulator; use the key of the account"
    )]
    PublicKey(String),
    #[error(
        "endpoint {0}: a signature or token would be sent unencrypted; use https, or allow it with \
         `Options::allow_credentials_over_plain_http`"
    )]
    InTheClear(String),
    #[error(
        "the URL has {bytes} bytes, at most {most} can be sent and services accept about 32 KiB; send several queries with \
         shorter filters, or for fewer properties"
    )]
    TooLong { bytes: usize, most: usize },
    #[error("the URL of the request is not valid")]
    Request(#[source] <Url as FromStr>::Err),
}

impl Fault for EndpointFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = match self {
            Self::NotAUrl | Self::Scheme | Self::MoreThanAHost | Self::NoHost => Some("AUTH-31"),
            Self::NoAccount | Self::InTheClear(_) => Some("ACC-1"),
            Self::PublicKey(_) => Some("AUTH-30"),
            Self::TooLong { .. } => Some("FIL-8"),
            Self::Request(_) => None,
        };
        (ErrorCode::InvalidInput, rule)
    }
}
