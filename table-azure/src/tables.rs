//! Creates, deletes and lists tables (OPT rules).

use std::time::Duration;

use reqwest::Method;
use serde::Deserialize;
use table_core::filter::Comparison;
use table_core::limits::PAGE_ENTITIES;
use table_core::query::TextRange;
use table_core::store::TablePage;
use table_core::{Error, ErrorCode, Filter, Result, TableName};
use tokio::time::Instant;

use crate::client::AzureTables;
use crate::http::Request;
use crate::json;

/// The first and the longest delay before the creation of a table is retried. It is retried while a table with the same name is being deleted (RTY-6).
const BEING_DELETED: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(40));

impl AzureTables {
    /// Creates a table. Waits while a table with the same name is being deleted (RTY-6).
    pub(crate) async fn create(&self, table: &TableName) -> Result<()> {
        table.require_creatable()?;
        let body = format!("{{\"TableName\":\"{table}\"}}");
        let request = Request::new("create table", Method::POST, "/Tables")
            .acknowledged_by(&[201, 204])
            .fixed("accept", JSON)
            .fixed("prefer", "return-no-content")
            .fixed("dataserviceversion", "3.0")
            .body("application/json", body);
        let (began, most) = (Instant::now(), self.pipeline().retry().table_deletion_wait);
        let mut delay = BEING_DELETED.0;
        loop {
            let Err(failure) = self.pipeline().send(&request).await else { return Ok(()) };
            let code = failure.error.code();
            let in_time = began.elapsed().checked_add(delay).is_some_and(|end| end <= most);
            if code != ErrorCode::TableBeingDeleted || failure.into_ambiguous || !in_time {
                return Err(failure.into_error(false).with_table(table.as_str()));
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(BEING_DELETED.1);
        }
    }

    /// Deletes a table.
    pub(crate) async fn delete(&self, table: &TableName) -> Result<()> {
        let request = Request::new("delete table", Method::DELETE, format!("/Tables('{table}')"))
            .acknowledged_by(&[204])
            .fixed("accept", JSON)
            .fixed("dataserviceversion", "3.0");
        let sent = self.pipeline().send(&request).await;
        sent.map(|_| ()).map_err(|failure| failure.into_error(false).with_table(table.as_str()))
    }

    /// Returns one page of table names (OPT-5, PAGE-12).
    pub(crate) async fn list(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        const OPERATION: &str = "list tables";
        #[derive(Deserialize)]
        struct Item {
            #[serde(rename = "TableName")]
            name: String,
        }
        if top > PAGE_ENTITIES {
            let message =
                format!("a page of {top} tables was requested, at most {PAGE_ENTITIES} are allowed");
            return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("TOP-2"));
        }
        if top == 0 {
            return Ok(TablePage::default()); // ENG-5
        }
        let mut request = Request::new(OPERATION, Method::GET, "/Tables")
            .fixed("accept", JSON)
            .fixed("dataserviceversion", "3.0")
            .query("$top", &top.to_string());
        if let Some(filter) = prefix_filter(prefix) {
            request = request.query("$filter", &filter.to_string());
        }
        if let Some(from) = from {
            request = request.query("NextTableName", from);
        }
        let answer = self.pipeline().send(&request).await.map_err(|failure| failure.into_error(true))?;
        let mut names = Vec::new();
        for Item { name } in json::values(OPERATION, &answer)? {
            let begins = name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
            if !begins {
                continue;
            }
            match TableName::new(&name) {
                Ok(name) => names.push(name),
                // Cosmos DB also lists invalid names (COS-3), and the service lists system tables (TBL-5). No other operation of this library accepts such
                // names.
                Err(error) => {
                    tracing::warn!(target: "table_azure", table = name, %error, "left out of the list");
                }
            }
        }
        let next = answer.position(OPERATION, "x-ms-continuation-nexttablename")?;
        Ok(TablePage { names, next })
    }
}

/// Returns a filter that selects table names with the given prefix.
///
/// Table names are case-insensitive (TBL-2), but some services compare them case-sensitively. The filter therefore covers the range from the upper-case prefix
/// to the last name with the lower-case prefix, which includes every spelling.
fn prefix_filter(prefix: &str) -> Option<Filter> {
    let name = |operator, text: String| Filter::compare("TableName", operator, text);
    if prefix.is_empty() {
        return None;
    }
    let lower = name(Comparison::Ge, prefix.to_ascii_uppercase());
    Some(match TextRange::prefix(&prefix.to_ascii_lowercase()).upper {
        std::ops::Bound::Excluded(upper) => lower.and(name(Comparison::Lt, upper)),
        _ => lower,
    })
}

/// The media type for table lists: JSON without metadata.
const JSON: &str = "application/json;odata=nometadata";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opt_5_and_tbl_2_a_prefix_in_any_case() {
        let text = prefix_filter("Emp").unwrap().to_string();
        assert_eq!(text, "TableName ge 'EMP' and TableName lt 'emq'");
        assert_eq!(prefix_filter(""), None);
    }
}
