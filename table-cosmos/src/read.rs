//! Reads: one item by its key, one page of a query, each item held to the levels that were asked for.

use std::num::NonZeroU32;

use azure_data_cosmos::CosmosError;
use azure_data_cosmos::feed::ContinuationToken;
use azure_data_cosmos::options::{FeedOptions, MaxItemCountHint, QueryOptions};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::StreamExt;
use serde_json::Value as Json;
use table_core::filter::Matcher;
use table_core::key::order;
use table_core::limits::PAGE_ENTITIES;
use table_core::query::{Continuation, EntityRef, Page, Position, Query, Rows, Select};
use table_core::store::StoredRow;
use table_core::{EntityKey, Error, ErrorCode, Result, TableName};

use crate::client::CosmosTables;
use crate::container::Container;
use crate::item::{self, Item};
use crate::scope::Scope;
use crate::sql::Sql;
use crate::{failure, key};

/// What begins the client's own tokens, before text of base64.
const TOKEN: &str = "c1.";

impl CosmosTables {
    /// One item; `None` if it is not there, or no item can have this key.
    pub(crate) async fn read_item(
        &self,
        table: &TableName,
        container: &Container,
        levels: &[String],
        row_key: &str,
    ) -> Result<Option<Item>> {
        let (partition_key, id) = (key::partition_key(levels)?, key::id(row_key));
        let read = || container.client.read_item(partition_key.clone(), &id, None);
        match self.options().while_moving(read).await {
            Ok(answer) => {
                let json: Json = answer.into_model().map_err(|error| failure::error("get", error))?;
                let item = item::read(&json, container.depth)?;
                if item.levels != levels || item.row_key != row_key {
                    return Err(foreign(&item));
                }
                Ok(Some(item))
            }
            Err(error) if failure::is_container_gone(&error) => Err(self.gone(table, error)),
            Err(error) if failure::is_absent(&error) => Ok(None),
            Err(error) => Err(failure::error("get", error)),
        }
    }

    /// The error of a container that is not there any more.
    pub(crate) fn gone(&self, table: &TableName, error: CosmosError) -> Error {
        self.containers().forget(table);
        failure::error("the container is gone", error).with_table(table.as_str())
    }

    /// One entity.
    pub(crate) async fn entity(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> Result<Option<StoredRow>> {
        let container = self.container(table).await?;
        let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
        // What cannot have been written is not there (KEY-9).
        let Ok(levels) = key::checked_levels(partition_key, container.depth) else { return Ok(None) };
        if key::check_id(row_key).is_err() {
            return Ok(None);
        }
        let Some(item) = self.read_item(table, &container, &levels, row_key).await? else { return Ok(None) };
        Ok(Some(StoredRow { row: select.project(item.row)?, etag: item.etag }))
    }

    /// One page of a query.
    pub(crate) async fn page(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> Result<Page> {
        query.check(self.known_capabilities().top)?;
        let position = from.map(|from| from.service_position(table, query)).transpose()?;
        let container = self.container(table).await?;
        let scope = Scope::of(&query.keys.partition_key, container.depth);
        let nothing = scope == Scope::Nothing || query.keys.row_key.is_empty() || query.top == Some(0);
        if nothing {
            return Ok(Page::default());
        }
        let mut wanted = Wanted::new(query, &scope);
        if let (Scope::Key(levels), Some(row_key)) = (&scope, query.keys.row_key.single()) {
            // A whole key and an id: a point read, at a third of the price of a query.
            let found = match key::check_id(row_key) {
                Ok(()) => self.read_item(table, &container, levels, row_key).await?,
                Err(_) => None,
            };
            return Ok(Page {
                rows: wanted.rows(found.into_iter().collect())?,
                continuation: None,
                rows_read: None,
            });
        }
        let (items, next) = self.items(table, &container, query, &scope, position).await?;
        let items: Result<Vec<Item>> = items.iter().map(|json| item::read(json, container.depth)).collect();
        let read = items.as_ref().map_or(0, Vec::len);
        let rows = wanted.rows(items?)?;
        let continuation = next.map(|position| Continuation::of_service(table, query, position));
        tracing::debug!(
            target: "table_cosmos",
            operation = "query",
            table = table.as_str(),
            class = %query.keys.class(),
            rows_read = read,
            rows_returned = rows.len(),
            more = continuation.is_some(),
        );
        Ok(Page { rows, continuation, rows_read: u64::try_from(read).ok() })
    }

    /// The items of one page of the client's, and its token for the next one.
    async fn items(
        &self,
        table: &TableName,
        container: &Container,
        query: &Query,
        scope: &Scope,
        from: Option<&Position>,
    ) -> Result<(Vec<Json>, Option<Position>)> {
        let after = from.and_then(|from| from.row_key.as_deref());
        let sql = Sql::of(query, scope, after).into_query()?;
        let feed = scope.feed()?;
        let most = query.top.unwrap_or(PAGE_ENTITIES).min(PAGE_ENTITIES);
        let most = u32::try_from(most).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        let mut options = FeedOptions::default()
            .with_max_item_count(MaxItemCountHint::Limit(most))
            .with_max_fan_out(self.options().fan_out);
        if let Some(from) = from.filter(|_| after.is_none()) {
            options =
                options.with_continuation_token(ContinuationToken::from_string(from.partition_key.clone()));
        }
        let options = QueryOptions::default().with_feed_options(options);
        let page = || async {
            let iterator = container
                .client
                .query_items::<Json>(sql.clone(), feed.clone(), Some(options.clone()))
                .await?;
            let mut pages = Box::pin(iterator.into_pages());
            match pages.next().await.transpose()? {
                None => Ok((Vec::new(), None)),
                Some(page) => {
                    let token = pages.to_continuation_token()?;
                    Ok((page.into_items(), Some(token.as_str().to_owned())))
                }
            }
        };
        match self.options().while_moving(page).await {
            Ok((items, token)) => {
                let token = token.filter(|token| !is_end(token));
                let next = token.map(|token| next(scope, &items, token));
                Ok((items, next))
            }
            Err(error) if failure::is_container_gone(&error) => Err(self.gone(table, error)),
            Err(error) if failure::is_container_new(&error) => {
                self.containers().forget(table);
                let message =
                    "the table was dropped and created again since the page before: begin the query anew";
                Err(Error::new(ErrorCode::InvalidInput, message).with_rule("PAGE-9").with_source(error))
            }
            Err(error) => Err(failure::error("query", error)),
        }
    }
}

/// Where the next page begins: after the last id of a whole key, which is in the order of ids; else where the client says.
fn next(scope: &Scope, items: &[Json], token: String) -> Position {
    let last = items.last().and_then(|item| item["id"].as_str());
    match (scope, last) {
        (Scope::Key(_), Some(last)) => {
            Position { partition_key: String::new(), row_key: Some(last.to_owned()) }
        }
        _ => Position { partition_key: token, row_key: None },
    }
}

/// Whether a token of the client's says that nothing is left. One that cannot be read is sent back, and answers so itself.
fn is_end(token: &str) -> bool {
    let state = token.strip_prefix(TOKEN).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let state = state.and_then(|json| serde_json::from_slice::<Json>(&json).ok());
    state.is_some_and(|state| state["root"]["kind"] == "drained")
}

/// An item with other levels than were asked for: never an answer (RT-5, RT-6).
fn foreign(item: &Item) -> Error {
    let message = "the service answered with an item of other levels than were asked for: nothing of the answer is used";
    Error::new(ErrorCode::InternalError, message)
        .with_rule("RT-5")
        .with_key(item.partition_key.as_str(), item.row_key.as_str())
}

/// What of the items found is the answer.
struct Wanted<'a> {
    query: &'a Query,
    scope: &'a Scope,
    matcher: Option<Matcher>,
}

impl<'a> Wanted<'a> {
    fn new(query: &'a Query, scope: &'a Scope) -> Self {
        Self { query, scope, matcher: query.filter.as_ref().map(Matcher::new) }
    }

    /// The rows in key order.
    fn rows(&mut self, mut items: Vec<Item>) -> Result<Rows> {
        items.sort_by(|left, right| {
            order::compare(&left.partition_key, &right.partition_key)
                .then_with(|| order::compare(&left.row_key, &right.row_key))
        });
        let mut rows =
            Rows::with_capacity(items.len(), items.iter().map(|item| item.row.as_bytes().len()).sum());
        for item in &items {
            if !item.levels.starts_with(self.scope.levels()) {
                return Err(foreign(item));
            }
            let entity = EntityRef::new(&item.partition_key, &item.row_key, item.row.view());
            let inside = self.query.keys.contains(&item.partition_key, &item.row_key);
            if inside && self.matcher.as_mut().map_or(Ok(true), |matcher| matcher.matches(entity))? {
                let narrowed = self.query.select.project(item.row.clone())?;
                rows.push(&item.partition_key, &item.row_key, narrowed.view(), Some(item.etag.clone()));
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_5_the_end_of_a_query_is_read_from_the_clients_token() {
        let token = |json: &str| format!("{TOKEN}{}", URL_SAFE_NO_PAD.encode(json));
        assert!(is_end(&token(r#"{"op":"Query","rid":"x","root":{"kind":"drained"}}"#)));
        assert!(!is_end(&token(
            r#"{"op":"Query","rid":"x","root":{"kind":"request","server_continuation":"7"}}"#
        )));
        assert!(!is_end("anything") && !is_end("c1.%%") && !is_end("c1."));
    }
}
