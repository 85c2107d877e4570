//! Fuzz targets for text formats: continuation tokens, filters and JSON.

use table_core::filter::Matcher;
use table_core::odata::{self, EntityBody, Sender};
use table_core::query::{Continuation, EntityRef, KeyRange, Query};
use table_core::{Filter, TableName};

use super::samples;

/// Parses a continuation token. An accepted token must survive formatting and parsing.
pub(super) fn token(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(token) = text.parse::<Continuation>() else { return false };
    assert_eq!(token.to_string().parse().ok().as_ref(), Some(&token), "a token that was written again");
    let table = TableName::new("Readings").unwrap_or_else(|error| panic!("{error}"));
    let query = Query::new(KeyRange::ALL);
    let _ = token.check(&table, &query);
    let _ = token.position(&table, &query);
    let _ = token.service_position(&table, &query);
    let _ = token.check_incarnation(&table, 1);
    true
}

/// Parses a filter. An accepted filter must survive formatting and parsing. It is then evaluated for an entity.
pub(super) fn filter(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(Some(filter)) = Filter::parse(text) else { return false };
    let printed = filter.to_string();
    assert_eq!(Filter::parse(&printed).ok().flatten().as_ref(), Some(&filter), "{text} printed as {printed}");
    let row = samples::row(1);
    let answer = Matcher::new(&filter).matches(EntityRef::new("p", "r", row.view()));
    assert!(answer.is_ok(), "{text} has the answer {answer:?}");
    true
}

/// Parses JSON as an entity and as a page. Both functions that parse pages must agree. An accepted entity must survive a round trip.
pub(super) fn json(bytes: &[u8]) -> bool {
    let bodies = [Sender::Client, Sender::Service].map(|sender| odata::read_entity(bytes, sender));
    for body in bodies.iter().flatten() {
        let written = odata::write_body(None, body.row.view());
        let read = written.and_then(|json| odata::read_entity(json.as_bytes(), Sender::Client));
        if let Ok(read) = &read {
            let properties =
                |body: &EntityBody| format!("{:?}", body.row.view().properties().collect::<Vec<_>>());
            assert_eq!(properties(read), properties(body), "an entity that was written again");
        }
    }
    let (page, rows) = (odata::read_page(bytes), odata::read_rows(bytes));
    let keyed = page.as_ref().is_ok_and(|page| page.iter().all(|body| body.key().is_ok()));
    assert_eq!(keyed, rows.is_ok(), "one reader takes what the other refuses: {page:?}, {rows:?}");
    if let (Ok(page), Ok(rows)) = (&page, &rows) {
        assert_eq!(page.len(), rows.len());
        for (body, row) in page.iter().zip(rows.iter()) {
            let key = (body.partition_key.as_deref(), body.row_key.as_deref());
            assert_eq!(key, (Some(row.partition_key), Some(row.row_key)));
            assert_eq!(body.row, row.row.to_row(), "the rows of two readers");
            assert_eq!(body.etag.clone().unwrap_or_else(|| body.row.view().etag()), row.etag());
        }
    }
    page.is_ok() || bodies.iter().any(Result::is_ok)
}
