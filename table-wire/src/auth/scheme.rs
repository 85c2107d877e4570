//! Authorization schemes. A scheme defines the string to sign and the `Authorization` header.

use super::AccountKey;
use super::canonical::{SignedParts, shared_key, shared_key_lite, shared_key_table, shared_key_table_lite};

/// The signature scheme of a service.
///
/// ```
/// use http::HeaderMap;
/// use table_wire::auth::{AccountKey, Scheme, SignedParts};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ms-date", "Fri, 20 Nov 2026 08:00:00 GMT".parse()?);
/// let parts = SignedParts { method: "GET", path: "/Tables", query: "$top=1", headers: &headers, length: 0 };
/// assert_eq!(Scheme::TableLite.string_to_sign(parts, "contoso"), "Fri, 20 Nov 2026 08:00:00 GMT\n/contoso/Tables");
///
/// let key = AccountKey::new("contoso", "a2V5")?;
/// assert!(Scheme::Table.authorization(&key, parts).starts_with("SharedKey contoso:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `SharedKey` of the table service (AUTH-3).
    Table,
    /// `SharedKeyLite` of the table service (AUTH-2).
    TableLite,
    /// `SharedKey` of the queue and blob services (AUTH-20).
    Storage,
    /// `SharedKeyLite` of the queue and blob services (AUTH-24).
    StorageLite,
}

impl Scheme {
    /// Returns the string to sign for a request to the given account.
    #[must_use]
    pub fn string_to_sign(self, parts: SignedParts<'_>, account: &str) -> String {
        match self {
            Self::Table => shared_key_table(parts, account),
            Self::TableLite => shared_key_table_lite(parts, account),
            Self::Storage => shared_key(parts, account),
            Self::StorageLite => shared_key_lite(parts, account),
        }
    }

    /// Signs a request with `key` and returns the `Authorization` header's value (AUTH-1).
    #[must_use]
    pub fn authorization(self, key: &AccountKey, parts: SignedParts<'_>) -> String {
        let (name, account) = (self.name(), key.account());
        format!("{name} {account}:{}", key.sign(&self.string_to_sign(parts, account)))
    }

    /// Returns the scheme name in the `Authorization` header.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Table | Self::Storage => "SharedKey",
            Self::TableLite | Self::StorageLite => "SharedKeyLite",
        }
    }
}
