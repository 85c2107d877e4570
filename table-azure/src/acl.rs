//! The stored access policies of a table, got and set (ACL rules).

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};
use reqwest::Method;
use table_core::{Error, ErrorCode, Result, TableName};

use crate::client::AzureTables;
use crate::http::Request;
use crate::sas::{AccessPolicy, StoredAccessPolicy, TablePermissions};
use crate::xml::{self, Record};

const OPERATION: &str = "get table policies";

impl AzureTables {
    /// The policies that a table keeps. With an account's key only (ACL-1).
    ///
    /// # Errors
    /// `TableNotFound` or `ResourceNotFound`; 403 for another credential.
    pub async fn access_policies(&self, table: &TableName) -> Result<Vec<StoredAccessPolicy>> {
        let table = table.clone();
        self.run(|client| async move { client.get_policies(&table).await }).await
    }

    /// Replaces the policies of a table: at most five. With an account's key only (ACL-1).
    ///
    /// It takes up to 30 seconds to take effect (ACL-3). Every token that names a policy which is gone is revoked (ACL-4).
    ///
    /// # Errors
    /// `InvalidInput` for over five policies, or one name twice (ACL-2); `TableNotFound` or `ResourceNotFound`; 403 for another
    /// credential.
    ///
    /// ```no_run
    /// use table_azure::AzureTables;
    /// use table_azure::sas::{AccessPolicy, StoredAccessPolicy, TablePermissions};
    /// use table_core::TableName;
    ///
    /// # async fn run() -> table_core::Result<()> {
    /// let tables = AzureTables::from_connection_string("UseDevelopmentStorage=true")?;
    /// let readers = AccessPolicy { permissions: Some(TablePermissions::READ), ..AccessPolicy::default() };
    /// tables.set_access_policies(&TableName::new("Employee")?, &[StoredAccessPolicy::new("readers", readers)?]).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_access_policies(
        &self,
        table: &TableName,
        policies: &[StoredAccessPolicy],
    ) -> Result<()> {
        StoredAccessPolicy::check(policies).map_err(|error| error.with_table(table.as_str()))?;
        let (table, body) = (table.clone(), write(policies));
        self.run(|client| async move { client.set_policies(&table, body).await }).await
    }

    async fn get_policies(&self, table: &TableName) -> Result<Vec<StoredAccessPolicy>> {
        let request = Request::new(OPERATION, Method::GET, format!("/{table}"))
            .fixed("accept", "application/xml")
            .query("comp", "acl");
        let sent = self.pipeline().send(&request).await;
        let answer = sent.map_err(|failure| failure.into_error(true).with_table(table.as_str()))?;
        let text = std::str::from_utf8(&answer.body).ok();
        let policies =
            text.and_then(|text| xml::read(text, "SignedIdentifier")?.iter().map(policy).collect());
        policies.ok_or_else(|| {
            let message = format!("{OPERATION}: the answer is no list of policies");
            Error::new(ErrorCode::InternalError, message).with_rule("ACL-2").with_table(table.as_str())
        })
    }

    async fn set_policies(&self, table: &TableName, body: String) -> Result<()> {
        let request = Request::new("set table policies", Method::PUT, format!("/{table}"))
            .fixed("accept", "application/xml")
            .query("comp", "acl")
            .body("application/xml", body);
        let sent = self.pipeline().send(&request).await;
        sent.map(|_| ()).map_err(|failure| failure.into_error(false).with_table(table.as_str()))
    }
}

/// ACL-2.
fn write(policies: &[StoredAccessPolicy]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>".to_owned();
    // Writing to a `String` cannot fail.
    let element = |xml: &mut String, name: &str, text: Option<String>| {
        if let Some(text) = text {
            let _ = write!(xml, "<{name}>{text}</{name}>");
        }
    };
    let instant = |instant: Option<DateTime<Utc>>| {
        instant.map(|instant| instant.to_rfc3339_opts(SecondsFormat::Secs, true))
    };
    for stored in policies {
        let policy = stored.policy();
        xml.push_str("<SignedIdentifier>");
        element(&mut xml, "Id", Some(xml::content(stored.id())));
        xml.push_str("<AccessPolicy>");
        element(&mut xml, "Start", instant(policy.start));
        element(&mut xml, "Expiry", instant(policy.expiry));
        element(&mut xml, "Permission", policy.permissions.map(|permissions| permissions.to_string()));
        xml.push_str("</AccessPolicy></SignedIdentifier>");
    }
    xml + "</SignedIdentifiers>"
}

fn policy(record: &Record) -> Option<StoredAccessPolicy> {
    let said = |name: &str| record.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
    let instant = |name: &str| match said(name) {
        Some(text) => DateTime::parse_from_rfc3339(text).ok().map(|instant| Some(instant.to_utc())),
        None => Some(None),
    };
    let permissions = said("Permission").map(TablePermissions::read).transpose().ok()?;
    let policy = AccessPolicy { start: instant("Start")?, expiry: instant("Expiry")?, permissions };
    StoredAccessPolicy::new(record.get("Id")?, policy).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let records = xml::read(&xml, "SignedIdentifier").unwrap();
        assert_eq!(records.iter().map(policy).collect::<Option<Vec<_>>>().unwrap(), policies);
        assert_eq!(xml::read(&write(&[]), "SignedIdentifier"), Some(Vec::new()));
    }
}
