//! Which string a service wants signed, and the header that carries the signature.

use crate::auth::{AccountKey, SignedParts, shared_key, shared_key_table, shared_key_table_lite};

/// How a service wants its requests signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// The table service, all that is signed there (AUTH-3).
    Table,
    /// The table service, the short form (AUTH-2).
    TableLite,
    /// The queue and blob services (AUTH-20).
    Storage,
}

impl Scheme {
    /// The value of the `Authorization` header (AUTH-1).
    pub(crate) fn authorization(self, key: &AccountKey, parts: SignedParts<'_>) -> String {
        let account = key.account();
        let (name, text) = match self {
            Self::Table => ("SharedKey", shared_key_table(parts, account)),
            Self::TableLite => ("SharedKeyLite", shared_key_table_lite(parts, account)),
            Self::Storage => ("SharedKey", shared_key(parts, account)),
        };
        format!("{name} {account}:{}", key.sign(&text))
    }
}
