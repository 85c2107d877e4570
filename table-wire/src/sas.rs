//! Shared access signatures: made from typed scopes, read, verified and enforced without the service (SAS, ASAS rules).
//!
//! [`TableSas`] and [`AccountSas`] say what is allowed and sign it with an [`AccountKey`](crate::auth::AccountKey); the [`SasToken`] that comes out is
//! what a client puts in its connection string. [`Authority`] is the other side: it verifies tokens as the service does, and
//! its [`scoped`](Authority::scoped) view of any store, of an embedded engine too, lets through what a token allows and
//! refuses the rest with the service's codes.
//!
//! A token that its bearer could alter without a trace is refused: `docs/azure.md` lists these.
//!
//! The text of a token is a secret: no `Debug` or error of this module shows one.

mod account;
mod authority;
mod caller;
mod fault;
mod grant;
mod instant;
mod lifetime;
mod parameters;
mod permissions;
mod policy;
mod queue;
mod range;
mod scoped;
mod table;
mod token;
mod version;

pub use account::{AccountSas, ResourceTypes, Services};
pub use authority::Authority;
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
pub use version::SignedVersion;

#[cfg(test)]
mod tests;
