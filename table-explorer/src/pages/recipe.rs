//! Queries in the syntax of other tools (Rust, the `tables` command, curl and Python), and export links.

use maud::{Markup, html};
use table_core::filter::Comparison;
use table_core::query::Select;
use table_core::schema::ENTITY_TYPE;
use table_core::{Filter, TableName};

use crate::pages::Context;
use crate::pages::form_query::FormQuery;
use crate::selection::Selection;

/// Returns collapsible elements with the query in each tool's syntax, followed by export links.
pub(crate) fn copies(
    context: &Context<'_>,
    table: &TableName,
    selection: &Selection,
    built: &FormQuery,
) -> Markup {
    let filter = filter(built);
    let select = match &built.query.select {
        Select::All => String::new(),
        Select::Names(names) => names.join(","),
    };
    let sources = [
        ("tables", command(table, selection, built, &select, context.known.of(table).count() > 1)),
        ("Rust", note(built, "//") + &rust(table, &filter, &built.query.select)),
        ("curl", note(built, "#") + &curl(table, &filter, &select)),
        ("Python", note(built, "#") + &python(table, &filter, &select)),
    ];
    let export = |form| selection.link(table, "export", &[("as", form)]);
    html! {
        section.copies aria-label="Copy and export" {
            h2 { "Copy as" }
            @for (name, text) in &sources {
                details.copy { summary { (name) } pre.source tabindex="0" { (text) } button.btn.copies type="button" data-copy { "Copy" } }
            }
            p.foot { span { "Export all rows of the query:" } a.btn href=(export("jsonl")) download { "JSON lines" } a.btn href=(export("csv")) download { "CSV" } span { "CSV reads the result twice, first for its columns." } }
        }
    }
}

/// Returns the filter for tools that are unaware of entity types. It includes a condition on `EntityType` if the chosen type declares a kind.
fn filter(built: &FormQuery) -> String {
    let mut query = built.query.clone();
    if let Some(kind) = built.entities.as_ref().and_then(|entities| entities.schema().kind.as_deref()) {
        let of_kind = Filter::compare(ENTITY_TYPE, Comparison::Eq, kind);
        query.filter = Some(match query.filter {
            Some(filter) => filter.and(of_kind),
            None => of_kind,
        });
    }
    query.filter_text().unwrap_or_default()
}

/// Returns a comment that warns about rows of other types if the query selects an entity type. A filter can express neither the type nor certain conditions on
/// key parts.
fn note(built: &FormQuery, comment: &str) -> String {
    if built.entities.is_some() {
        format!("{comment} The filter may also return rows of other types.\n")
    } else {
        String::new()
    }
}

/// Returns a string quoted for use in a shell. A string without special characters is returned unchanged.
fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "=.,_-/:@".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Returns the query as a `tables` command. If an entity type is chosen, the command has options for the type and for conditions on its key parts; the rest is
/// a filter.
fn command(
    table: &TableName,
    selection: &Selection,
    built: &FormQuery,
    select: &str,
    has_other_entities: bool,
) -> String {
    let mut words = vec!["tables query".to_owned(), table.as_str().to_owned()];
    let filter = match &built.entities {
        Some(entities) => {
            words.extend(selection.parts.iter().map(|(name, values)| quoted(&format!("{name}={values}"))));
            let is_named = has_other_entities || selection.parts.is_empty();
            words.extend(is_named.then(|| format!("--entity {}", quoted(&entities.schema().entity))));
            let is_range = *entities.keys() == built.query.keys;
            let rest = built.query.filter.as_ref().map(ToString::to_string);
            if is_range { rest } else { built.query.filter_text() }
        }
        None => built.query.filter_text(),
    };
    words.extend(filter.map(|filter| format!("--filter {}", quoted(&filter))));
    if !select.is_empty() {
        words.push(format!("--select {}", quoted(select)));
    }
    words.join(" ")
}

fn rust(table: &TableName, filter: &str, select: &Select) -> String {
    let query = match select {
        Select::All => format!("Query::parse({filter:?})?"),
        Select::Names(names) => {
            format!("Query {{ select: Select::names({names:?}), ..Query::parse({filter:?})? }}")
        }
    };
    format!(
        "let table = TableName::new({:?})?;\nlet query = {query};\nlet mut from = None;\nloop {{\n    let page = store.query(&table, &query, from.as_ref()).await?;\n    for entity in page.rows.iter() {{\n        println!(\"{{}} {{}}\", entity.partition_key, entity.row_key);\n    }}\n    from = page.continuation;\n    if from.is_none() {{\n        break;\n    }}\n}}",
        table.as_str()
    )
}

fn curl(table: &TableName, filter: &str, select: &str) -> String {
    let mut pairs = form_urlencoded::Serializer::new(String::new());
    for (name, value) in [("$filter", filter), ("$select", select)] {
        if !value.is_empty() {
            pairs.append_pair(name, value);
        }
    }
    // In an OData query, a plus sign does not stand for a space.
    let query = pairs.finish().replace('+', "%20");
    format!(
        "curl -H 'Accept: application/json;odata=minimalmetadata' -H 'x-ms-version: 2019-02-02' \\\n  \"https://$ACCOUNT.table.core.windows.net/{table}()?{query}&$SIGNATURE\"",
    )
    .replace("?&", "?")
    .replace("%24", "\\$")
}

fn python(table: &TableName, filter: &str, select: &str) -> String {
    let select = if select.is_empty() {
        String::new()
    } else {
        let names: Vec<String> = select.split(',').map(python_string).collect();
        format!(", select=[{}]", names.join(", "))
    };
    format!(
        "from azure.data.tables import TableClient\n\ntable = TableClient.from_connection_string(connection_string, {})\nfor entity in table.query_entities({}{select}):\n    print(entity)",
        python_string(table.as_str()),
        python_string(filter)
    )
}

/// Returns a Python string literal. Characters that could hide or reverse text become numeric escapes.
fn python_string(text: &str) -> String {
    let escaped = |character: char| match character {
        '"' | '\\' => format!("\\{character}"),
        '\'' => character.to_string(),
        other if other.escape_debug().len() == 1 => other.to_string(),
        other if u32::from(other) <= 0xFFFF => format!("\\u{:04x}", u32::from(other)),
        other => format!("\\U{:08x}", u32::from(other)),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_break_out_of_their_quotes() {
        assert_eq!(quoted("department=Sales"), "department=Sales");
        assert_eq!(quoted("Name eq 'O''Neil'; rm -rf"), r"'Name eq '\''O'\'''\''Neil'\''; rm -rf'");
        let table = TableName::new("Company").unwrap();
        assert!(rust(&table, "A eq '\"'", &Select::All).contains(r#"Query::parse("A eq '\"'")"#));
        let selected = r#"Query { select: Select::names(["A", "B"]), ..Query::parse("")? }"#;
        assert!(rust(&table, "", &Select::names(["A", "B"])).contains(selected));
        let hidden = "A eq 'é\u{202e}\"\\\n\u{e0001}'";
        let literal = r#"query_entities("A eq 'é\u202e\"\\\u000a\U000e0001'", select=["A"])"#;
        assert!(python(&table, hidden, "A").contains(literal), "{}", python(&table, hidden, "A"));
        assert!(curl(&table, "A eq 'x y'", "").contains("?\\$filter=A%20eq%20%27x%20y%27&$SIGNATURE"));
    }
}
