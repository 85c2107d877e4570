//! Shared access signatures (SAS): creation from typed scopes, parsing, verification, and enforcement without the service (SAS, ASAS rules).
//!
//! [`TableSas`] and [`AccountSas`] describe permissions and sign them with an [`AccountKey`](crate::auth::AccountKey). The result is a [`SasToken`], which a
//! client adds to its connection string.
//!
//! On the server side, [`SasVerifier`] verifies tokens as the service does. [`scoped`](SasVerifier::scoped) wraps any store, including an embedded engine. The
//! wrapper executes permitted operations and rejects all others with the service's error codes.
//!
//! A token is rejected if its bearer could alter it without invalidating the signature. `docs/azure.md` lists these cases.
//!
//! A token's text is a secret. It never appears in `Debug` output or in this module's error messages.

mod account;
mod caller;
mod fault;
mod grant;
pub(crate) mod instant;
mod lifetime;
mod parameters;
mod permissions;
mod policy;
mod queue;
mod range;
mod scoped;
mod string_to_sign;
mod table;
mod token;
mod verifier;
mod version;

pub use account::{AccountSas, ResourceTypes, Services};
pub use caller::Caller;
pub use grant::{AccountGrant, Grant, TableGrant};
pub use lifetime::Lifetime;
pub use permissions::{AccountPermissions, Protocol, QueuePermissions, TablePermissions};
pub use policy::{AccessPolicy, StoredAccessPolicy};
pub use queue::QueueToken;
pub use range::SignedRange;
pub use scoped::Scoped;
pub use table::TableSas;
pub use token::SasToken;
pub use verifier::SasVerifier;
pub use version::SignedVersion;

#[cfg(test)]
mod tests;
