//! Errors in connection strings. Their messages contain only keys, because values may be secrets.

use table_core::Fault;

/// An error in a connection string.
#[derive(Debug, thiserror::Error, Fault)]
#[fault(InvalidInput, "AUTH-31")]
pub(crate) enum ConnectionFault {
    #[error("part {0} of the connection string is not a `Key=Value`")]
    Part(usize),
    #[error("the connection string has `{0}` twice")]
    Twice(String),
    #[error(
        "the connection string has no credential; add `AccountName` with `AccountKey`, or `SharedAccessSignature`"
    )]
    NoCredential,
    #[error("`AccountName` may contain only letters, digits and `-`")]
    Account,
    #[error("the connection string names no endpoint; add `AccountName` or `TableEndpoint`")]
    NoEndpoint,
    #[error(
        "the connection string has the emulator's public key and names no endpoint; add `TableEndpoint`, or use the account's \
         own key"
    )]
    #[fault("AUTH-30")]
    NoEmulator,
    #[error("the connection string names no {service} service; add `{key}` or `AccountName`")]
    NoService { service: &'static str, key: &'static str },
}
