//! Entity reads and query pages (GET, QRY, SEL, TOP, PAGE rules).

use table_core::limits::{PAGE_ENTITIES, SELECT_NAMES};
use table_core::odata::{Context, write_entity, write_page};
use table_core::query::{EntityRef, KeyRange, Query, QueryClass, Select};
use table_core::store::TableStore;
use table_core::{EntityKey, Error, ErrorCode, TableName};

use crate::account::Account;
use crate::answer::{Answer, etag_text, json};
use crate::cost::Cost;
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::tables::position;

/// Returns one entity by its key.
pub(super) async fn get<S: TableStore>(
    store: &S,
    account: &Account,
    table: &TableName,
    key: EntityKey,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    if exchange.query("$filter").or(exchange.query("$top")).is_some() {
        return Err(Refusal::input("$filter and $top need a query; the URL names one entity"));
    }
    let (level, select) = (exchange.level()?, select(exchange)?);
    account.traffic.entities(table.folded(), key.partition_key.as_str(), 1)?;
    let Some(found) = store.get(table, &key, &select).await? else {
        return Err(Error::new(ErrorCode::ResourceNotFound, "the entity does not exist").into());
    };
    let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), found.row.view());
    let body = write_entity(entity, level, &context(account, table, &select, exchange))?;
    Ok(Answer::new(200).header("ETag", etag_text(&found.etag)).body(json(level), body).cost(Cost::point(1)))
}

/// Returns one page of a query.
pub(super) async fn answer<S: TableStore>(
    store: &S,
    account: &Account,
    table: &TableName,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let level = exchange.level()?;
    let filter = exchange.query("$filter").unwrap_or_default();
    let mut query = if filter.trim().is_empty() { Query::new(KeyRange::ALL) } else { Query::parse(&filter)? };
    query.select = select(exchange)?;
    query.top = top(exchange)?;
    let (started, position) = position::of(exchange, table, &query)?;
    account.traffic.page(table.folded(), &query.keys)?;
    let page = store.query(table, &started, position.as_ref()).await?;
    account.traffic.returned(table.folded(), &query.keys, page.rows.len());
    let class = query.keys.class();
    let cost = Cost {
        class: Some(class),
        rows_read: page.rows_read.unwrap_or_default(),
        rows_returned: page.rows.len() as u64,
        rows_written: 0,
        filter: (class == QueryClass::TableScan).then(|| filter.into_owned()),
    };
    let body = write_page(&page.rows, level, &context(account, table, &query.select, exchange))?;
    let mut answer = Answer::new(200).body(json(level), body).cost(cost);
    if let Some(next) = page.continuation {
        let next = next.position(table, &started)?;
        answer = answer.header("x-ms-continuation-NextPartitionKey", position::write(&next.partition_key));
        if let Some(row_key) = &next.row_key {
            answer = answer.header("x-ms-continuation-NextRowKey", position::write(row_key));
        }
    }
    Ok(answer)
}

/// Returns the value of `$top`, or `None` if it is missing (TOP-2).
///
/// # Errors
/// `InvalidInput` if the value is not a number.
pub(super) fn top(exchange: &Exchange) -> Result<Option<usize>, Refusal> {
    let text = exchange.query("$top");
    let number = text.map(|text| text.parse::<usize>()).transpose();
    number.map_err(|_| Refusal::input("$top must be a number from 0 to 1000"))
}

/// Returns the properties selected by `$select`. The same checks apply to entity reads and queries (SEL-1).
///
/// # Errors
/// `InvalidInput` if `$select` has more than 255 names, or a name that is not an identifier.
fn select(exchange: &Exchange) -> Result<Select, Refusal> {
    let text = exchange.query("$select").unwrap_or_default();
    let names = || text.split(',').map(str::trim).filter(|name| !name.is_empty());
    if names().count() > SELECT_NAMES {
        return Err(Refusal::input(format!("$select has at most {SELECT_NAMES} names")));
    }
    if names().next().is_none() || names().any(|name| name == "*") {
        return Ok(Select::All);
    }
    let query = Query { select: Select::names(names().map(str::to_owned)), ..Query::new(KeyRange::ALL) };
    query.check(PAGE_ENTITIES)?;
    Ok(query.select)
}

fn context<'a>(
    account: &'a Account,
    table: &'a TableName,
    select: &'a Select,
    exchange: &'a Exchange,
) -> Context<'a> {
    Context { base: &exchange.base, account: account.name(), table: table.as_str(), select }
}
