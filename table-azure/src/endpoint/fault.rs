//! The faults of endpoints: of their URLs, and of credentials that may not be sent there.

use std::str::FromStr;

use reqwest::Url;
use table_core::ErrorCode;
use table_core::error::Fault;

/// A URL that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndpointFault {
    #[error("the endpoint is not a URL: write it as https://contoso.table.core.windows.net")]
    NotAUrl,
    #[error("the endpoint is not an http or https URL")]
    Scheme,
    #[error("the endpoint holds more than a host and a path: a signature belongs into the credential")]
    MoreThanAHost,
    #[error("the endpoint names no host")]
    NoHost,
    #[error("the endpoint has no account in its host: name the secondary endpoint")]
    NoAccount,
    #[error(
        "the endpoint {0}: the emulator's public key is for an emulator alone: use the account's own key"
    )]
    PublicKey(String),
    #[error(
        "the endpoint {0}: a signature or token would be sent in the clear: use https, or allow it by \
         `Options::allow_credentials_over_plain_http`"
    )]
    InTheClear(String),
    #[error(
        "the URL has {bytes} bytes; at most {most} can be sent, and services take about 32 KiB: ask several queries with \
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
