//! Reads: one entity, one page of a query (GET, QRY, SEL, TOP, PAGE rules).

use table_core::odata::{Context, write_entity, write_page};
use table_core::query::{Continuation, EntityRef, KeyRange, Query, QueryClass, Select};
use table_core::store::TableStore;
use table_core::{EntityKey, Error, ErrorCode, TableName};

use crate::account::Account;
use crate::answer::{Answer, etag_text, json};
use crate::cost::Cost;
use crate::exchange::Exchange;
use crate::refusal::Refusal;

/// One entity by its key.
pub(super) async fn get<S: TableStore>(
    store: &S,
    account: &Account,
    table: &TableName,
    (partition_key, row_key): (String, String),
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let (level, select) = (exchange.level()?, select(exchange));
    let key = EntityKey::new(partition_key, row_key)?;
    account.traffic.entities(table.folded(), key.partition_key.as_str(), 1)?;
    let Some(found) = store.get(table, &key, &select).await? else {
        return Err(Error::new(ErrorCode::ResourceNotFound, "the entity does not exist").into());
    };
    let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), found.row.view());
    let body = write_entity(entity, level, &context(account, table, &select, exchange))?;
    Ok(Answer::new(200).header("ETag", etag_text(&found.etag)).body(json(level), body).cost(Cost::point(1)))
}

/// One page. The token for the next is one text, which the client sends back as it is (PAGE-8).
pub(super) async fn answer<S: TableStore>(
    store: &S,
    account: &Account,
    table: &TableName,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let level = exchange.level()?;
    let filter = exchange.query("$filter").unwrap_or_default();
    let mut query = if filter.trim().is_empty() { Query::new(KeyRange::ALL) } else { Query::parse(&filter)? };
    query.select = select(exchange);
    query.top = top(exchange)?;
    let from = exchange.query("NextPartitionKey").filter(|token| !token.is_empty());
    let from = from.map(|token| token.parse::<Continuation>()).transpose()?;
    account.traffic.page(table.folded(), &query.keys)?;
    let page = store.query(table, &query, from.as_ref()).await?;
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
        answer = answer.header("x-ms-continuation-NextPartitionKey", next.to_string());
    }
    Ok(answer)
}

/// `$top` (TOP-2).
pub(super) fn top(exchange: &Exchange) -> Result<Option<usize>, Refusal> {
    let text = exchange.query("$top");
    let number = text.map(|text| text.parse::<usize>()).transpose();
    number.map_err(|_| Refusal::input("The value of $top is not a number of entities."))
}

fn select(exchange: &Exchange) -> Select {
    let text = exchange.query("$select").unwrap_or_default();
    let names: Vec<_> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.is_empty() || names.contains(&"*") {
        return Select::All;
    }
    Select::names(names.into_iter().map(str::to_owned))
}

fn context<'a>(
    account: &'a Account,
    table: &'a TableName,
    select: &'a Select,
    exchange: &'a Exchange,
) -> Context<'a> {
    Context { base: &exchange.base, account: account.name(), table: table.as_str(), select }
}
