//! The stored access policies of a table or a queue as XML, both ways (ACL rules).

use std::fmt::{Display, Write};
use std::str::FromStr;

use chrono::{DateTime, Datelike, SubsecRound, Timelike, Utc};

use crate::sas::{AccessPolicy, StoredAccessPolicy};
use crate::xml::{self, Record};

/// The list of policies of a table or a queue as the body of a request or an answer.
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
        xml.push_str("<AccessPolicy>");
        element(&mut xml, "Start", policy.start.map(instant));
        element(&mut xml, "Expiry", policy.expiry.map(instant));
        element(&mut xml, "Permission", policy.permissions.as_ref().map(P::to_string));
        xml.push_str("</AccessPolicy></SignedIdentifier>");
    }
    xml + "</SignedIdentifiers>"
}

/// With seven digits of a second, as the service keeps them, where it is not whole.
fn instant(instant: DateTime<Utc>) -> String {
    let ticks = instant.nanosecond() % 1_000_000_000 / 100;
    let fraction = if ticks == 0 { String::new() } else { format!(".{ticks:07}") };
    format!("{}{fraction}Z", instant.format("%Y-%m-%dT%H:%M:%S"))
}

/// Reads a list; `None` if it is not one, or a policy of it cannot be one. How many there may be, and that each has a name of its own, is
/// [checked](StoredAccessPolicy::check) apart.
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
    xml::read(text, "SignedIdentifiers")?.pop()?;
    xml::read(text, "SignedIdentifier")?.iter().map(policy).collect()
}

fn policy<P: FromStr>(record: &Record) -> Option<StoredAccessPolicy<P>> {
    let said = |name: &str| record.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    let instant = |name: &str| match said(name) {
        Some(text) => {
            let instant = DateTime::parse_from_rfc3339(text).ok()?.to_utc().trunc_subsecs(7);
            // An offset may lead out of the years that can be written.
            (1..=9999).contains(&instant.year()).then_some(Some(instant))
        }
        None => Some(None),
    };
    let permissions = said("Permission").map(P::from_str).transpose().ok()?;
    let policy = AccessPolicy { start: instant("Start")?, expiry: instant("Expiry")?, permissions };
    StoredAccessPolicy::new(record.get("Id")?, policy).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sas::TablePermissions;

    #[test]
    fn acl_2_what_is_written_is_read() {
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
    }

    #[test]
    fn acl_2_parts_of_a_second_are_kept() {
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
        assert_eq!(policy("9999-12-31T23:59:59-01:00"), None);
    }
}
