//! Stored access policies for tables and queues (ACL rules, SAS-10).

use chrono::{DateTime, Utc};

use table_core::{Error, Result};

use super::TablePermissions;
use super::fault::SasFault;

/// The values of a policy. A token must supply every value that its policy does not set. It must not repeat a value that the policy sets (SAS-10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessPolicy<P = TablePermissions> {
    /// The inclusive start.
    pub start: Option<DateTime<Utc>>,
    /// The exclusive end.
    pub expiry: Option<DateTime<Utc>>,
    /// The granted permissions.
    pub permissions: Option<P>,
}

/// A stored access policy. Tokens refer to it by identifier, in the `si` parameter (ACL-2).
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
    /// The maximum number of policies on a table or queue (ACL-2).
    pub const MOST: usize = 5;

    /// Creates a policy with an identifier of 1 to 64 characters.
    ///
    /// # Errors
    /// `InvalidInput` if the identifier has a different length or contains a control character (ACL-2).
    pub fn new(id: &str, policy: AccessPolicy<P>) -> Result<Self> {
        check_id(id)?;
        Ok(Self { id: id.to_owned(), policy })
    }

    /// Returns the identifier of the policy.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the policy's values.
    #[must_use]
    pub const fn policy(&self) -> &AccessPolicy<P> {
        &self.policy
    }

    /// Checks a list of policies as the service does: at most five, with unique identifiers.
    ///
    /// # Errors
    /// `InvalidInput` if the list contains more than five policies or a duplicate identifier (ACL-2).
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

/// Checks a policy identifier.
///
/// # Errors
/// `InvalidInput` if the identifier is empty, is too long, or contains a control character. The identifier must fit on one line of a string to sign.
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
    fn acl_2_there_are_at_most_five_policies_with_distinct_ids() {
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
