//! Operations on tables: create, get, delete and list (OPT rules).

use serde_json::{Map, Value, json};
use table_core::filter::Matcher;
use table_core::limits::PAGE_ENTITIES;
use table_core::odata::{MetadataLevel, Sender, read_entity};
use table_core::query::EntityRef;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Filter, TableName, ValueRef};

use crate::account::Account;
use crate::answer::{self, Answer};
use crate::exchange::Exchange;
use crate::refusal::Refusal;
use crate::tables::preference::Preference;
use crate::tables::query::top;

/// Creates a table (OPT-1).
pub(super) async fn create<S: TableStore>(
    store: &S,
    account: &Account,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let level = exchange.level()?;
    let body = read_entity(&exchange.body, Sender::Client)?.row;
    let Some(ValueRef::String(name)) = body.view().find("TableName", &mut 0)? else {
        return Err(Error::new(ErrorCode::PropertiesNeedValue, "the body needs `TableName`, a string").into());
    };
    let table = TableName::new(name)?;
    table.require_creatable()?;
    store.create_table(&table).await?;
    let location = format!("{}/Tables('{table}')", exchange.base);
    let preference = Preference::of(exchange);
    let mut answer = Answer::new(201).header("Location", location.clone());
    if let Some(preference) = preference {
        answer = answer.header("Preference-Applied", preference.name());
    }
    if preference == Some(Preference::NoContent) {
        answer.status = 204;
        return Ok(answer.header("DataServiceId", location));
    }
    let mut item = item(table.as_str(), account, level, exchange);
    alone(&mut item, level, exchange);
    Ok(answer.body(answer::json(level), Value::Object(item).to_string()))
}

/// Returns one table.
pub(super) async fn get<S: TableStore>(
    store: &S,
    account: &Account,
    name: &str,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let level = exchange.level()?;
    let table = TableName::new(name).map_err(|_| missing())?;
    let page = store.list_tables(name, Some(name), 1).await?;
    let found = page.names.into_iter().find(|found| found.folded() == table.folded()).ok_or_else(missing)?;
    let mut item = item(found.as_str(), account, level, exchange);
    alone(&mut item, level, exchange);
    Ok(Answer::new(200).body(answer::json(level), Value::Object(item).to_string()))
}

/// Deletes a table. An invalid name is treated as a missing table (OPT-3).
pub(super) async fn delete<S: TableStore>(store: &S, name: &str) -> Result<Answer, Refusal> {
    let table = TableName::new(name).map_err(|_| missing())?;
    store.delete_table(&table).await?;
    Ok(Answer::new(204))
}

/// Returns one page of tables (OPT-5).
pub(super) async fn list<S: TableStore>(
    store: &S,
    account: &Account,
    exchange: &Exchange,
) -> Result<Answer, Refusal> {
    let level = exchange.level()?;
    let top = top(exchange)?.unwrap_or(PAGE_ENTITIES);
    if top > PAGE_ENTITIES {
        return Err(Refusal::input("$top must be a number from 0 to 1000"));
    }
    let filter = exchange.query("$filter").map(|text| Filter::parse(&folded(&text))).transpose()?.flatten();
    let mut matcher = filter.as_ref().map(Matcher::new);
    let mut from = exchange.query("NextTableName").map(std::borrow::Cow::into_owned);
    let (mut items, mut next) = (Vec::new(), None);
    'pages: loop {
        let page = store.list_tables("", from.as_deref(), PAGE_ENTITIES).await?;
        for name in page.names {
            if let Some(matcher) = &mut matcher {
                let row = read_entity(
                    json!({ "TableName": name.folded() }).to_string().as_bytes(),
                    Sender::Client,
                )?
                .row;
                if !matcher.matches(EntityRef::new("", "", row.view()))? {
                    continue;
                }
            }
            if items.len() == top {
                // A page without tables has no token, like a page without entities (TOP-3), because its token would lead to the same page.
                next = (top > 0).then(|| name.as_str().to_owned());
                break 'pages;
            }
            items.push(Value::Object(item(name.as_str(), account, level, exchange)));
        }
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    let mut body = Map::new();
    if level >= MetadataLevel::Minimal {
        body.insert("odata.metadata".to_owned(), format!("{}/$metadata#Tables", exchange.base).into());
    }
    body.insert("value".to_owned(), items.into());
    let mut answer = Answer::new(200).body(answer::json(level), Value::Object(body).to_string());
    if let Some(next) = next {
        answer = answer.header("x-ms-continuation-NextTableName", next);
    }
    Ok(answer)
}

/// Returns a filter with its literals in lower case, because table names are case-insensitive (TBL-2).
fn folded(filter: &str) -> String {
    let mut is_literal = true;
    let parts = filter.split('\'').map(|part| {
        is_literal = !is_literal;
        if is_literal { part.to_ascii_lowercase() } else { part.to_owned() }
    });
    parts.collect::<Vec<_>>().join("'")
}

/// Returns a table as a list item (JSON-6).
fn item(name: &str, account: &Account, level: MetadataLevel, exchange: &Exchange) -> Map<String, Value> {
    let mut item = Map::new();
    if level == MetadataLevel::Full {
        item.insert("odata.type".to_owned(), format!("{}.Tables", account.name()).into());
        item.insert("odata.id".to_owned(), format!("{}/Tables('{name}')", exchange.base).into());
        item.insert("odata.editLink".to_owned(), format!("Tables('{name}')").into());
    }
    item.insert("TableName".to_owned(), name.into());
    item
}

/// Adds the metadata for a table that is the entire response document (JSON-5).
fn alone(item: &mut Map<String, Value>, level: MetadataLevel, exchange: &Exchange) {
    if level >= MetadataLevel::Minimal {
        item.insert(
            "odata.metadata".to_owned(),
            format!("{}/$metadata#Tables/@Element", exchange.base).into(),
        );
    }
}

fn missing() -> Refusal {
    Error::new(ErrorCode::ResourceNotFound, "the table does not exist").into()
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn tbl_2_only_literals_are_folded() {
        let text = "TableName ge 'EMP' and TableName lt 'O''Neill'";
        assert_eq!(folded(text), "TableName ge 'emp' and TableName lt 'o''neill'");
        assert_eq!(folded(""), "");
    }
}
