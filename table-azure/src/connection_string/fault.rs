//! The faults of connection strings. They name keys only: a value may be a secret.

use table_core::ErrorCode;
use table_core::error::Fault;

/// A connection string that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionFault {
    #[error("part {0} of the connection string is not a `Key=Value`")]
    Part(usize),
    #[error("the connection string has `{0}` twice")]
    Twice(String),
    #[error(
        "the connection string has no credential: `AccountName` with `AccountKey`, or `SharedAccessSignature`"
    )]
    NoCredential,
    #[error("`AccountName` may hold only letters, digits and `-`")]
    Account,
    #[error("the connection string names no endpoint: add `AccountName` or `TableEndpoint`")]
    NoEndpoint,
    #[error(
        "the connection string has the emulator's public key and names no endpoint: add `TableEndpoint`, or put the account's \
         own key"
    )]
    NoEmulator,
    #[error("the connection string names no {service} service: add `{key}` or `AccountName`")]
    NoService { service: &'static str, key: &'static str },
}

impl Fault for ConnectionFault {
    fn code_and_rule(&self) -> (ErrorCode, Option<&'static str>) {
        let rule = if matches!(self, Self::NoEmulator) { "AUTH-30" } else { "AUTH-31" };
        (ErrorCode::InvalidInput, Some(rule))
    }
}
