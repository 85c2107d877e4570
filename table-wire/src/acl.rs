//! Reads and writes XML lists of stored access policies for tables and queues (ACL rules).

use std::fmt::{Display, Write};
use std::str::FromStr;

use chrono::{DateTime, Utc};
use table_core::ticks;

use crate::sas::{AccessPolicy, StoredAccessPolicy, instant};
use crate::xml::{self, Element};

/// Returns the request body that sets the policies of a table or queue. Times have a precision of 100 ns and are clamped to the years 1 to 9999.
///
/// ```
/// use table_wire::acl;
/// use table_wire::sas::{AccessPolicy, StoredAccessPolicy, TablePermissions};
///
/// let readers = AccessPolicy { permissions: Some(TablePermissions::READ), ..AccessPolicy::default() };
/// let policies = [StoredAccessPolicy::new("readers", readers)?];
/// assert_eq!(acl::read(&acl::write(&policies)).as_deref(), Some(&policies[..]));
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub fn write<P: Display>(policies: &[StoredAccessPolicy<P>]) -> String {
    write_with(policies, instant::write_ticks, true)
}

/// Returns the response body that lists the policies of a table or queue.
///
/// - Times have seven fractional digits, as in the service's responses. The JavaScript client `azure-storage` cannot read a time without a fraction.
/// - A policy without values is written without an `AccessPolicy` element. The Python client `azure-data-tables` reads such a policy as `None`.
///
/// ```
/// use chrono::DateTime;
/// use table_wire::acl;
/// use table_wire::sas::{AccessPolicy, StoredAccessPolicy, TablePermissions};
///
/// let readers = AccessPolicy { permissions: Some(TablePermissions::READ), expiry: DateTime::from_timestamp(0, 0), start: None };
/// let policies = [StoredAccessPolicy::new("readers", readers)?];
/// let body = acl::write_response(&policies);
/// assert!(body.contains("<Expiry>1970-01-01T00:00:00.0000000Z</Expiry>"));
/// assert_eq!(acl::read(&body).as_deref(), Some(&policies[..]));
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub fn write_response<P: Display>(policies: &[StoredAccessPolicy<P>]) -> String {
    write_with(policies, instant::write_padded, false)
}

fn write_with<P: Display>(
    policies: &[StoredAccessPolicy<P>],
    print: impl Fn(DateTime<Utc>) -> String,
    with_empty: bool,
) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>".to_owned();
    // Writing to a `String` cannot fail.
    let element = |xml: &mut String, name: &str, text: Option<String>| {
        if let Some(text) = text {
            let _ = write!(xml, "<{name}>{text}</{name}>");
        }
    };
    for stored in policies {
        let policy = stored.policy();
        xml.push_str("<SignedIdentifier>");
        element(&mut xml, "Id", Some(xml::content(stored.id())));
        let is_empty = policy.start.is_none() && policy.expiry.is_none() && policy.permissions.is_none();
        if with_empty || !is_empty {
            xml.push_str("<AccessPolicy>");
            element(&mut xml, "Start", policy.start.map(&print));
            element(&mut xml, "Expiry", policy.expiry.map(&print));
            element(&mut xml, "Permission", policy.permissions.as_ref().map(P::to_string));
            xml.push_str("</AccessPolicy>");
        }
        xml.push_str("</SignedIdentifier>");
    }
    xml + "</SignedIdentifiers>"
}

/// Reads a list of policies. Times may have any format accepted by the service (see [`ticks::read`]).
///
/// Returns `None` if the body is not a list of policies, or if a policy is invalid. Use [`StoredAccessPolicy::check`] to check the number of policies and the
/// uniqueness of their identifiers.
///
/// ```
/// use table_wire::acl;
/// use table_wire::sas::{QueuePermissions, TablePermissions};
///
/// let body = "<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy/></SignedIdentifier></SignedIdentifiers>";
/// assert_eq!(acl::read::<TablePermissions>(body).unwrap()[0].id(), "readers");
/// assert_eq!(acl::read::<QueuePermissions>("<SignedIdentifiers/>"), Some(Vec::new()));
/// assert_eq!(acl::read::<TablePermissions>("no list"), None);
/// ```
#[must_use]
pub fn read<P: FromStr>(text: &str) -> Option<Vec<StoredAccessPolicy<P>>> {
    let list = Element::of_request(text).filter(|list| list.name() == "SignedIdentifiers")?;
    list.each("SignedIdentifier").map(policy).collect()
}

fn policy<P: FromStr>(identifier: &Element) -> Option<StoredAccessPolicy<P>> {
    let empty = Element::default();
    let policy = identifier.child("AccessPolicy").unwrap_or(&empty);
    let said = |name: &str| policy.text_of(name).map(str::trim).filter(|text| !text.is_empty());
    let instant = |name: &str| match said(name) {
        Some(text) => ticks::read(text).and_then(ticks::to_datetime).map(Some),
        None => Some(None),
    };
    let permissions = said("Permission").map(P::from_str).transpose().ok()?;
    let policy = AccessPolicy { start: instant("Start")?, expiry: instant("Expiry")?, permissions };
    StoredAccessPolicy::new(identifier.text_of("Id")?, policy).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use table_core::{Clock, TableName};

    use super::*;
    use crate::auth::AccountKey;
    use crate::sas::{Lifetime, SasToken, SasVerifier, TablePermissions, TableSas};

    /// Generates chrono times. Most are in whole seconds, which policies store without rounding.
    fn instants() -> impl Strategy<Value = DateTime<Utc>> {
        let (least, most) = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);
        let seconds = (least.timestamp()..=most.timestamp())
            .prop_map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap());
        prop_oneof![Just(least), Just(most), seconds, seconds_of_the_service()]
    }

    /// Generates times in the years 1 to 9999, in whole seconds and excluding the last second.
    fn seconds_of_the_service() -> impl Strategy<Value = DateTime<Utc>> {
        let end = ticks::to_datetime(ticks::MAX).unwrap().timestamp();
        (ticks::to_datetime(0).unwrap().timestamp()..end)
            .prop_map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap())
    }

    /// Returns `true` if a token that refers to the policy is valid at the given time.
    fn permits(policy: &StoredAccessPolicy, token: &SasToken, key: &AccountKey, now: DateTime<Utc>) -> bool {
        let verifier = SasVerifier::new(key.clone()).clock(Clock::of_instants(move || now));
        verifier.set_policies(&TableName::new("Employee").unwrap(), vec![policy.clone()]).unwrap();
        verifier.verify(token).is_ok()
    }

    proptest! {
        #[test]
        fn acl_2_a_policy_permits_the_same_after_it_is_written(
            start in prop::option::of(instants()),
            expiry in prop::option::of(instants()),
            nows in prop::collection::vec(seconds_of_the_service(), 1..4),
        ) {
            let policy = AccessPolicy { start, expiry, permissions: Some(TablePermissions::READ) };
            let policy = StoredAccessPolicy::new("readers", policy).unwrap();
            let key = AccountKey::new("contoso", "a2V5").unwrap();
            let own = TableSas::table(TableName::new("Employee").unwrap()).policy("readers");
            let own = if expiry.is_some() { own } else { own.lifetime(Lifetime::until(DateTime::<Utc>::MAX_UTC)) };
            let token = own.sign(&key).unwrap();
            for body in [write(std::slice::from_ref(&policy)), write_response(std::slice::from_ref(&policy))] {
                let [stored] = &read(&body).unwrap()[..] else { panic!("{body}") };
                prop_assert_eq!(stored.policy().start.is_some(), start.is_some());
                prop_assert_eq!(stored.policy().expiry.is_some(), expiry.is_some());
                for now in nows.iter().copied() {
                    prop_assert_eq!(permits(stored, &token, &key, now), permits(&policy, &token, &key, now));
                }
            }
        }
    }

    #[test]
    fn acl_2_written_policies_are_read_back() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0);
        let whole = AccessPolicy {
            start: at(1_767_225_600),
            expiry: at(1_893_456_000),
            permissions: Some(TablePermissions::READ.and(TablePermissions::DELETE)),
        };
        let policies = [("a <&> b", whole), ("nothing", AccessPolicy::default())]
            .map(|(id, policy)| StoredAccessPolicy::new(id, policy).unwrap());
        let xml = write(&policies);
        assert!(xml.contains(
            "<Start>2026-01-01T00:00:00Z</Start><Expiry>2030-01-01T00:00:00Z</Expiry><Permission>rd<"
        ));
        assert_eq!(read(&xml).unwrap(), policies);
        assert_eq!(read(&write::<TablePermissions>(&[])), Some(Vec::<StoredAccessPolicy>::new()));
        let response = write_response(&policies);
        assert!(response.contains("<Id>nothing</Id></SignedIdentifier>"), "{response}");
        assert_eq!(read(&response).unwrap(), policies);
    }

    #[test]
    fn acl_2_fractions_of_a_second_are_kept() {
        let policy = |expiry: &str| {
            let identifier = "<SignedIdentifier><Id>a</Id><AccessPolicy>";
            let list = format!(
                "<SignedIdentifiers>{identifier}<Expiry>{expiry}</Expiry></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
            );
            read::<TablePermissions>(&list)
        };
        let read_before = policy("2030-01-01T00:00:00.123456789Z").unwrap();
        let xml = write(&read_before);
        assert!(xml.contains("<Expiry>2030-01-01T00:00:00.1234567Z</Expiry>"), "{xml}");
        assert_eq!(read(&xml), Some(read_before));
        for (form, written) in [
            ("2030-01-01", "2030-01-01T00:00:00Z"),
            ("2030-01-01T08:00Z", "2030-01-01T08:00:00Z"),
            ("2030-01-01T08:00:00+01:00", "2030-01-01T07:00:00Z"),
        ] {
            assert!(write(&policy(form).unwrap()).contains(&format!("<Expiry>{written}</Expiry>")), "{form}");
        }
        assert_eq!(policy("9999-12-31T23:59:59-01:00"), None);
    }
}
