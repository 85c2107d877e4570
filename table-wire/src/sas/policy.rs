//! Stored access policies of a table or a queue (ACL rules, SAS-10).

use chrono::{DateTime, Utc};

use table_core::{Error, Result};

use super::TablePermissions;
use super::fault::SasFault;

/// The values that a policy supplies; a token must not repeat it and must add what is missing (SAS-10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessPolicy<P = TablePermissions> {
    /// Valid from here on.
    pub start: Option<DateTime<Utc>>,
    /// No longer valid from here on.
    pub expiry: Option<DateTime<Utc>>,
    /// The permissions.
    pub permissions: Option<P>,
}

/// A policy under the name that tokens have in `si` (ACL-2).
///
/// ```
/// use table_wire::sas::{AccessPolicy, StoredAccessPolicy, TablePermissions};
///
/// let readers = AccessPolicy { permissions: Some(TablePermissions::READ), ..AccessPolicy::default() };
/// assert_eq!(StoredAccessPolicy::new("readers", readers)?.id(), "readers");
/// assert_eq!(StoredAccessPolicy::new(&"x".repeat(65), readers).unwrap_err().rule(), Some("ACL-2"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAccessPolicy<P = TablePermissions> {
    id: String,
    policy: AccessPolicy<P>,
}

impl<P> StoredAccessPolicy<P> {
    /// The most that a table keeps (ACL-2).
    pub const MOST: usize = 5;

    /// A policy under a name of 1 to 64 characters.
    ///
    /// # Errors
    /// `InvalidInput` for another length or a control character (ACL-2).
    pub fn new(id: &str, policy: AccessPolicy<P>) -> Result<Self> {
        check_id(id)?;
        Ok(Self { id: id.to_owned(), policy })
    }

    /// The name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The values that it supplies.
    #[must_use]
    pub const fn policy(&self) -> &AccessPolicy<P> {
        &self.policy
    }

    /// Checks what the service would refuse of a table's list.
    ///
    /// # Errors
    /// `InvalidInput` for over five, or one name twice (ACL-2).
    pub fn check(policies: &[Self]) -> Result<()> {
        if policies.len() > Self::MOST {
            return Err(Error::of(SasFault::Policies { count: policies.len(), most: Self::MOST }));
        }
        for (index, policy) in policies.iter().enumerate() {
            if policies.iter().take(index).any(|earlier| earlier.id == policy.id) {
                return Err(Error::of(SasFault::PolicyTwice(policy.id.clone())));
            }
        }
        Ok(())
    }
}

/// Checks the name of a policy.
///
/// # Errors
/// `InvalidInput` for one that is empty, too long, or has a line break: it is a line of what is signed.
pub(super) fn check_id(id: &str) -> Result<()> {
    let characters = id.encode_utf16().count();
    if !(1..=64).contains(&characters) {
        return Err(Error::of(SasFault::PolicyLength(characters)));
    }
    if id.chars().any(char::is_control) {
        return Err(Error::of(SasFault::PolicyCharacter(id.to_owned())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acl_2_at_most_five_each_once() {
        let policy = |id: &str| -> StoredAccessPolicy {
            StoredAccessPolicy::new(id, AccessPolicy::default()).unwrap()
        };
        let five: Vec<_> = ["a", "b", "c", "d", "e"].map(policy).into();
        assert!(StoredAccessPolicy::check(&five).is_ok());
        let six = [five, vec![policy("f")]].concat();
        for refused in [six, vec![policy("a"), policy("a")]] {
            assert_eq!(StoredAccessPolicy::check(&refused).unwrap_err().rule(), Some("ACL-2"));
        }
        for id in ["", "a\n", "readers\r"] {
            assert!(<StoredAccessPolicy>::new(id, AccessPolicy::default()).is_err(), "{id:?}");
        }
    }
}
