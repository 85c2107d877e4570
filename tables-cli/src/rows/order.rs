//! The tables of a store, in the order in which a command must read them.

use table_core::table::{FEEDS, LAYOUTS, OUTBOXES};
use table_core::{DynTableStore, TableName, TableStore};

use crate::failure::{Failure, Result};

/// Returns all tables of a store in the required reading order: first the schema table, last the tables that register outboxes and feeds.
///
/// # Errors
/// Any error from the store.
pub async fn all_tables(store: &DynTableStore) -> Result<Vec<TableName>> {
    let (mut from, mut names) = (None, Vec::new());
    loop {
        let page = store.list_tables("", from.as_deref(), 1_000).await?;
        names.extend(page.names);
        from = next_page(from.as_deref(), page.next)?;
        if from.is_none() {
            names.sort_by_key(|name| (is_read_last(name.as_str()), !is_read_first(name.as_str())));
            return Ok(names);
        }
    }
}

/// Returns the continuation token of a list of tables, or `None` after the last page.
///
/// # Errors
/// `Refused` if the store returned the continuation token that was sent with the request, because the list would then never end.
pub(crate) fn next_page(from: Option<&str>, next: Option<String>) -> Result<Option<String>> {
    if next.is_some() && next.as_deref() == from {
        let help = "check the endpoint and the proxies in between";
        return Err(Failure::Refused(format!(
            "the store returned the same page of its list of tables again; {help}"
        )));
    }
    Ok(next)
}

/// Returns `true` if a table must be read after all other tables: it registers outboxes or feeds. Programs register a partition before they write its first
/// row. Reading the registrations last ensures that a copy contains the registrations of all its rows.
#[must_use]
pub fn is_read_last(table: &str) -> bool {
    [OUTBOXES, FEEDS].iter().any(|own| own.eq_ignore_ascii_case(table))
}

/// Returns `true` if a table contains the schemas, which must be read first. Otherwise, an index backfill that finishes while rows are being read could leave
/// the copy with a ready index that lacks rows.
#[must_use]
pub fn is_read_first(table: &str) -> bool {
    LAYOUTS.eq_ignore_ascii_case(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_tables_that_does_not_advance_is_refused() {
        let token = |text: &str| Some(text.to_owned());
        assert_eq!(next_page(None, token("a")).unwrap(), token("a"));
        assert_eq!(next_page(Some("a"), token("b")).unwrap(), token("b"));
        assert_eq!(next_page(Some("a"), None).unwrap(), None);
        assert_eq!(next_page(None, None).unwrap(), None);
        next_page(Some("a"), token("a")).unwrap_err();
    }
}
