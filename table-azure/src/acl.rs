//! Reads and replaces a table's stored access policies (ACL rules).

use reqwest::Method;
use table_core::{Error, Result, TableName};
use table_wire::acl;

use crate::client::AzureTables;
use crate::failure::AnswerFault;
use crate::http::Request;
use crate::sas::StoredAccessPolicy;

const OPERATION: &str = "get table policies";

impl AzureTables {
    /// Returns the stored access policies of a table. Requires an account key (ACL-1).
    ///
    /// # Errors
    /// - `TableNotFound` or `ResourceNotFound` if the table does not exist.
    /// - An authorization error if the credential is not an account key.
    pub async fn access_policies(&self, table: &TableName) -> Result<Vec<StoredAccessPolicy>> {
        let table = table.clone();
        self.run(|client| async move { client.get_policies(&table).await }).await
    }

    /// Replaces the stored access policies of a table. A table can have at most five. Requires an account key (ACL-1).
    ///
    /// The change takes effect within 30 seconds (ACL-3). Removing a policy revokes every token that refers to it (ACL-4).
    ///
    /// # Errors
    /// - `InvalidInput` if the list contains more than five policies or a duplicate identifier (ACL-2).
    /// - `TableNotFound` or `ResourceNotFound` if the table does not exist.
    /// - An authorization error if the credential is not an account key.
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
        let (table, body) = (table.clone(), acl::write(policies));
        self.run(|client| async move { client.set_policies(&table, body).await }).await
    }

    async fn get_policies(&self, table: &TableName) -> Result<Vec<StoredAccessPolicy>> {
        let request = Request::new(OPERATION, Method::GET, format!("/{table}"))
            .fixed("accept", "application/xml")
            .query("comp", "acl");
        let sent = self.pipeline().send(&request).await;
        let answer = sent.map_err(|failure| failure.into_error(true).with_table(table.as_str()))?;
        let text = std::str::from_utf8(&answer.body).ok();
        text.and_then(acl::read)
            .ok_or_else(|| Error::of(AnswerFault::Policies(OPERATION)).with_table(table.as_str()))
    }

    async fn set_policies(&self, table: &TableName, body: String) -> Result<()> {
        let request = Request::new("set table policies", Method::PUT, format!("/{table}"))
            .acknowledged_by(&[204])
            .fixed("accept", "application/xml")
            .query("comp", "acl")
            .body("application/xml", body);
        let sent = self.pipeline().send(&request).await;
        sent.map(|_| ()).map_err(|failure| failure.into_error(false).with_table(table.as_str()))
    }
}
