//! Reads single items and query pages. Checks that each item has the requested hierarchical partition key.

mod wanted;

use std::collections::HashMap;
use std::num::NonZeroU32;

use azure_data_cosmos::CosmosError;
use azure_data_cosmos::feed::ContinuationToken;
use azure_data_cosmos::options::{FeedOptions, ItemReadOptions, MaxItemCountHint, QueryOptions};
use futures_util::StreamExt;
use table_core::limits::PAGE_ENTITIES;
use table_core::query::{Continuation, Page, Position, Query, Select};
use table_core::store::StoredRow;
use table_core::{EntityKey, Error, ErrorCode, Result, TableName};

use crate::client::CosmosTables;
use crate::containers::Container;
use crate::item::{self, Found, Item, ItemKey, RawItem};
use crate::mapping::Mapping;
use crate::scope::Scope;
use crate::sql::Sql;
use crate::token::Token;
use crate::usage::{self, Form};
use crate::{failure, key};
use wanted::Wanted;

/// The items of one page.
struct Read {
    items: Vec<RawItem>,
    /// The number that identifies the page's container, or `None` if it cannot be determined.
    incarnation: Option<u32>,
    /// The start of the next page, or `None` if this is the last page.
    next: Option<Position>,
}

impl CosmosTables {
    /// Returns the document with the given key, or `None` if it does not exist.
    async fn find_item(
        &self,
        table: &TableName,
        container: &Container,
        levels: &[String],
        row_key: &str,
    ) -> Result<Option<Found>> {
        let raw = self.find_raw(table, container, levels, row_key).await?;
        raw.map(|raw| item::parse_raw(&raw).and_then(Found::new)).transpose()
    }

    /// Returns the JSON text of the item with the given key, or `None` if it does not exist.
    pub(crate) async fn find_raw(
        &self,
        table: &TableName,
        container: &Container,
        levels: &[String],
        row_key: &str,
    ) -> Result<Option<RawItem>> {
        let (partition_key, id) = (key::partition_key(levels)?, key::id(row_key));
        let options = ItemReadOptions::default().with_operation_options(self.options().reading());
        let read = || container.client.read_item(partition_key.clone(), &id, Some(options.clone()));
        match self.options().while_moving(read).await {
            Ok(answer) => {
                usage::charge(&answer.diagnostics());
                answer.into_model().map(Some).map_err(|error| failure::error("get", error))
            }
            Err(error) if failure::is_container_gone(&error) => Err(self.gone(table, error).await),
            Err(error) if failure::is_absent(&error) => Ok(None),
            Err(error) => Err(failure::error("get", error)),
        }
    }

    /// Returns the documents with the given levels and `RowKey`s, keyed by RowKey. One row is read with a point read, and several rows are read with one query.
    pub(crate) async fn find_items(
        &self,
        table: &TableName,
        container: &Container,
        levels: &[String],
        rows: &[&str],
    ) -> Result<HashMap<String, Found>> {
        let found = match rows {
            [] => Vec::new(),
            [only] => self.find_item(table, container, levels, only).await?.into_iter().collect(),
            several => {
                let sql = Sql::of_rows(&container.mapping, levels, several).into_query()?;
                let scope = Scope::Key(levels.to_vec());
                let feed = scope.feed()?;
                let options = QueryOptions::default().with_operation_options(self.options().reading());
                let read = || async {
                    let (client, options) = (&container.client, Some(options.clone()));
                    let items = client.query_items::<RawItem>(sql.clone(), feed.clone(), options).await?;
                    let mut pages = Box::pin(items.into_pages());
                    let mut found = Vec::with_capacity(several.len());
                    while let Some(page) = pages.next().await.transpose()? {
                        usage::charge(&page.diagnostics());
                        found.extend(page.into_items());
                    }
                    Ok(found)
                };
                match self.options().while_moving(read).await {
                    Ok(items) => {
                        let found = items.iter().map(|raw| item::parse_raw(raw).and_then(Found::new));
                        found.collect::<Result<_>>()?
                    }
                    Err(error) if failure::is_owner_gone(&error) => {
                        return Err(self.gone(table, error).await);
                    }
                    Err(error) => return Err(failure::error("query", error)),
                }
            }
        };
        Ok(found.into_iter().map(|found| (found.row_key().to_owned(), found)).collect())
    }

    /// Returns the item with the given key, or `None` if it does not exist.
    pub(crate) async fn read_item(
        &self,
        table: &TableName,
        container: &Container,
        levels: &[String],
        row_key: &str,
    ) -> Result<Option<Item>> {
        let found = self.find_item(table, container, levels, row_key).await?;
        found.map(|found| found.read(&container.mapping, ItemKey { levels, row_key })).transpose()
    }

    /// Removes a missing container from the cache, and returns the error. If the database is also missing, the error names the database.
    pub(crate) async fn gone(&self, table: &TableName, error: CosmosError) -> Error {
        self.containers().forget(table);
        if self.is_database_missing().await {
            return self.no_database().with_table(table.as_str());
        }
        failure::error("the container no longer exists; the request", error).with_table(table.as_str())
    }

    /// Returns the selected properties of an entity, or `None` if it does not exist.
    pub(crate) async fn entity(
        &self,
        table: &TableName,
        key: &EntityKey,
        select: &Select,
    ) -> Result<Option<StoredRow>> {
        let container = self.container(table).await?;
        let (partition_key, row_key) = (key.partition_key.as_str(), key.row_key.as_str());
        // No entity can exist under a key that cannot be written (KEY-9).
        let Ok(levels) = key::checked_levels(partition_key, container.mapping.depth()) else {
            return Ok(None);
        };
        if key::check_id(row_key).is_err() {
            return Ok(None);
        }
        let Some(item) = self.read_item(table, &container, &levels, row_key).await? else { return Ok(None) };
        Ok(Some(StoredRow { row: select.project(item.row)?, etag: item.etag }))
    }

    /// Returns one page of a query.
    pub(crate) async fn page(
        &self,
        table: &TableName,
        query: &Query,
        from: Option<&Continuation>,
    ) -> Result<Page> {
        query.check(self.known_capabilities().top)?;
        let position = from.map(|from| from.service_position(table, query)).transpose()?;
        let container = self.container(table).await?;
        let scope = Scope::of(&query.keys.partition_key, container.mapping.depth());
        let nothing = scope == Scope::Nothing || query.keys.row_key.is_empty() || query.top == Some(0);
        if nothing {
            return Ok(Page::default());
        }
        let mut wanted = Wanted::new(query, &scope);
        if let (Scope::Key(levels), Some(row_key)) = (&scope, query.keys.row_key.single()) {
            // If the partition key and the id are known, a point read replaces the query. It costs a third of the request units.
            let found = match key::check_id(row_key) {
                Ok(()) => self.read_item(table, &container, levels, row_key).await?,
                Err(_) => None,
            };
            self.add_page(table, Form::of(""));
            return Ok(Page { rows: wanted.rows(found.into_iter().collect())?, ..Page::default() });
        }
        let sql = Sql::of(query, &scope, &container.mapping);
        // Within one partition key, the SQL text of a later page has an additional condition. The charge of such a page is still recorded under the text of the
        // first page.
        let form = Form::of(&sql.text);
        let Read { items, incarnation, next } =
            self.items(table, &container, (query, sql), &scope, position).await?;
        if let (Some(from), Some(incarnation)) = (from, incarnation)
            && let Err(error) = from.check_incarnation(table, incarnation)
        {
            self.containers().forget(table);
            return Err(error);
        }
        self.add_page(table, form);
        let read = items.len();
        let entities = self.entities(table, &items, &container.mapping)?;
        let skipped = u64::try_from(read - entities.len()).unwrap_or(u64::MAX);
        let rows = wanted.rows(entities)?;
        let continuation = next.map(|position| Continuation::of_service(table, query, position));
        // A token of the Azure SDK identifies the container. An item id does not, so the container's number is added to the continuation.
        let continuation = match (continuation, incarnation) {
            (Some(continuation), Some(incarnation)) => Some(continuation.in_incarnation(incarnation)),
            (continuation, _) => continuation,
        };
        tracing::debug!(
            target: "table_cosmos",
            operation = "query",
            table = table.as_str(),
            class = %query.keys.class(),
            rows_read = read,
            rows_returned = rows.len(),
            more = continuation.is_some(),
        );
        Ok(Page { rows, continuation, rows_read: u64::try_from(read).ok(), skipped })
    }

    /// Returns the entities in `items`. Items that are not entities are skipped and reported, unless the options reject them (WIRE-6).
    fn entities(&self, table: &TableName, items: &[RawItem], mapping: &Mapping) -> Result<Vec<Item>> {
        let mut entities = Vec::with_capacity(items.len());
        for raw in items {
            let json = item::parse_raw(raw);
            // This library wrote every item with a write identifier. If it cannot be read, it is corrupted.
            let is_own = mapping.is_standard && json.as_ref().is_ok_and(|json| item::is_own(json, mapping));
            match json.and_then(|json| item::read(&json, mapping)) {
                Ok(item) => entities.push(item),
                Err(error) if self.options().refuses_foreign || is_own => return Err(error),
                Err(error) => self.skipped().add(error.with_table(table.as_str())),
            }
        }
        Ok(entities)
    }

    /// Reads one page of a query. `sql` is the SQL of the first page.
    async fn items(
        &self,
        table: &TableName,
        container: &Container,
        (query, sql): (&Query, Sql),
        scope: &Scope,
        from: Option<&Position>,
    ) -> Result<Read> {
        let after = from.and_then(|from| from.row_key.as_deref());
        let sql = if let Some(last) = after { sql.after(last) } else { sql };
        let sql = sql.into_query()?;
        let feed = scope.feed()?;
        let most = query.top.unwrap_or(PAGE_ENTITIES).min(PAGE_ENTITIES);
        let most = u32::try_from(most).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        let mut options = FeedOptions::default()
            .with_max_item_count(MaxItemCountHint::Limit(most))
            .with_max_fan_out(self.options().fan_out);
        if let Some(from) = from.filter(|from| !from.partition_key.is_empty()) {
            options =
                options.with_continuation_token(ContinuationToken::from_string(from.partition_key.clone()));
        }
        let options = QueryOptions::default()
            .with_feed_options(options)
            .with_operation_options(self.options().reading());
        let page = || async {
            let iterator = container
                .client
                .query_items::<RawItem>(sql.clone(), feed.clone(), Some(options.clone()))
                .await?;
            let mut pages = Box::pin(iterator.into_pages());
            match pages.next().await.transpose()? {
                None => Ok((Vec::new(), None)),
                Some(page) => {
                    usage::charge(&page.diagnostics());
                    let token = pages.to_continuation_token()?;
                    Ok((page.into_items(), Some(token.as_str().to_owned())))
                }
            }
        };
        match self.options().while_moving(page).await {
            Ok((items, token)) => {
                let state = token.as_deref().and_then(Token::parse);
                // The token identifies the container even if the page has no items, and even on the last page.
                let incarnation = items.iter().find_map(|item| item::incarnation(item));
                let incarnation = incarnation.or_else(|| state.as_ref().and_then(Token::incarnation));
                // If the token cannot be parsed, it is kept. The query then continues until the service ends it.
                let token = token.filter(|_| !state.is_some_and(|state| state.is_end()));
                let next = token.map(|token| next(scope, &items, (after, token)));
                Ok(Read { items, incarnation, next })
            }
            Err(error) if failure::is_owner_gone(&error) => Err(self.gone(table, error).await),
            Err(error) if from.is_some() && failure::is_container_new(&error) => {
                self.containers().forget(table);
                let message =
                    "the table was dropped and created again since the previous page; start the query again";
                Err(Error::new(ErrorCode::InvalidInput, message).with_rule("PAGE-9").with_source(error))
            }
            Err(error) => Err(failure::error("query", error)),
        }
    }
}

/// Returns the start of the next page.
///
/// Within one partition key, items are read in id order, so the next page starts after the last id. Otherwise, or after a page without items, the next page
/// starts at the Azure SDK's token.
fn next(scope: &Scope, items: &[RawItem], (after, token): (Option<&str>, String)) -> Position {
    let last = items.last().and_then(|item| item::raw_id(item));
    match (scope, last) {
        (Scope::Key(_), Some(last)) => Position { partition_key: String::new(), row_key: Some(last) },
        _ => Position { partition_key: token, row_key: after.map(str::to_owned) },
    }
}
