//! Continuation tokens in the service's format (PAGE-2, PAGE-6, PAGE-8).
//!
//! As in the service, a token contains only a key, so a client may continue with a different `$select`, or with a recomputed filter.

use std::borrow::Cow;
use std::ops::Bound;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use table_core::TableName;
use table_core::key::order;
use table_core::query::{Continuation, KeyRange, Position, Query, TextRange};

use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// The start of a page: the query to send to the store, and its continuation, or `None` for the beginning of the query.
pub(super) type Start<'a> = (Cow<'a, Query>, Option<Continuation>);

/// Returns the token for a key. It contains the length of the encoded key, and the key in base64 with a URL-safe alphabet.
pub(super) fn write(key: &str) -> String {
    let base64 = STANDARD.encode(key).replace('+', "*").replace('/', "_").replace('=', "-");
    format!("1!{}!{base64}", base64.len())
}

/// Returns the key in a token.
///
/// # Errors
/// `InvalidInput` if the token could not have been produced by [`write`] (PAGE-9).
fn read(token: &str) -> Result<String, Refusal> {
    let key = token.strip_prefix("1!").and_then(|rest| {
        let (length, base64) = rest.split_once('!')?;
        if length.parse() != Ok(base64.len()) {
            return None;
        }
        let bytes = STANDARD.decode(base64.replace('*', "+").replace('_', "/").replace('-', "=")).ok()?;
        String::from_utf8(bytes).ok()
    });
    key.ok_or_else(|| {
        Refusal::input("the continuation token was not created by this server; send it back unchanged, or omit the parameter if there is none")
    })
}

/// Returns the start of the requested page from the request's continuation token.
///
/// # Errors
/// `InvalidInput` if a token is malformed. An empty token is rejected, too: even the token of an empty key contains a length, and a client without a token must
/// omit the parameter.
pub(super) fn of<'a>(exchange: &Exchange, table: &TableName, query: &'a Query) -> Result<Start<'a>, Refusal> {
    let token = |name| exchange.query(name).map(|token| read(&token)).transpose();
    let row_key = token("NextRowKey")?;
    let Some(partition_key) = token("NextPartitionKey")? else { return Ok((Cow::Borrowed(query), None)) };
    Ok(place(table, query, partition_key, row_key))
}

/// Returns the start of the page that begins at a key. If the key is beyond the query's range, the result is a query with an empty range. The store still
/// rejects this query if it would reject the original one.
fn place<'a>(
    table: &TableName,
    query: &'a Query,
    partition_key: String,
    row_key: Option<String>,
) -> Start<'a> {
    let (partitions, rows) = (&query.keys.partition_key, &query.keys.row_key);
    if is_before(&partition_key, partitions) {
        return (Cow::Borrowed(query), None);
    }
    if !partitions.contains(&partition_key) {
        return (Cow::Owned(after_end(query)), None);
    }
    // In a single-partition query, the row keys limit the query's range. In a query over several partitions, they are a condition within each partition.
    if let (Some(_), Some(row)) = (partitions.single(), &row_key) {
        if is_before(row, rows) {
            return (Cow::Borrowed(query), None);
        }
        if !rows.contains(row) {
            return (Cow::Owned(after_end(query)), None);
        }
    }
    let at = Continuation::new(table, query, Position { partition_key, row_key });
    (Cow::Borrowed(query), Some(at))
}

/// Returns the query with an empty key range.
fn after_end(query: &Query) -> Query {
    let nothing = TextRange { lower: Bound::Unbounded, upper: Bound::Excluded(String::new()) };
    let keys = KeyRange { partition_key: nothing, row_key: TextRange::ALL };
    Query { keys, ..query.clone() }
}

/// Returns `true` if a string is below the lower bound of a range.
fn is_before(text: &str, range: &TextRange) -> bool {
    match &range.lower {
        Bound::Included(lower) => order::compare(text, lower).is_lt(),
        Bound::Excluded(lower) => order::compare(text, lower).is_le(),
        Bound::Unbounded => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_8_tokens_have_the_form_of_the_service() {
        assert_eq!(write("pk801016e8"), "1!16!cGs4MDEwMTZlOA--");
        assert_eq!(write("rk801016e8123"), "1!20!cms4MDEwMTZlODEyMw--");
        for key in ["", "a", "O'Neil", "\u{1F600}", "???>>>"] {
            assert_eq!(read(&write(key)).unwrap(), key);
        }
        for text in [
            "x",
            "1!4!YQ",
            "1!4!YQ==x",
            "2!4!YQ--",
            "1!16!cGs4MDEwMTZlOA-",
            "1!x!YQ--",
            "1!4!!!!!",
            "1!4!_v8-",
        ] {
            assert_eq!(read(text).unwrap_err().code, "InvalidInput", "{text}");
        }
    }

    #[test]
    fn page_7_a_position_is_valid_for_any_filter() {
        let table = TableName::new("Employee").unwrap();
        let place = |filter: &str, partition: &str, row: Option<&str>| {
            let query = Query::parse(filter).unwrap();
            match place(&table, &query, partition.to_owned(), row.map(str::to_owned)) {
                (started, None) if started.keys.is_empty() => "end",
                (started, None) => {
                    assert_eq!(*started, query);
                    "beginning"
                }
                (started, Some(at)) => at.position(&table, &started).map(|_| "at").unwrap(),
            }
        };
        for (filter, expected) in [
            ("", "at"),
            ("Age ge 5", "at"),
            ("PartitionKey eq 'm' and RowKey ge 'a'", "at"),
            ("PartitionKey eq 'm' and RowKey ge 'n'", "beginning"),
            ("PartitionKey eq 'm' and RowKey lt 'm'", "end"),
            ("PartitionKey ge 'a' and RowKey lt 'b'", "at"),
            ("PartitionKey gt 'm'", "beginning"),
            ("PartitionKey lt 'm'", "end"),
            ("false", "end"),
        ] {
            assert_eq!(place(filter, "m", Some("m")), expected, "{filter}");
        }
        assert_eq!(place("PartitionKey eq 'm' and RowKey ge 'n'", "m", None), "at");
    }
}
