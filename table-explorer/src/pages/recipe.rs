//! Shows a query in the syntax of other tools (Rust, the `tables` command, curl and Python), with links that export its rows.

use maud::{Markup, html};
use table_core::TableName;
use table_core::query::Select;

use crate::keyed;
use crate::link;
use crate::pages::Context;
use crate::pages::form_query::{self, FormQuery};

/// Returns the query in the syntax of each tool, in collapsible elements, and the export links.
pub(crate) fn copies(context: &Context<'_>, table: &TableName, built: &FormQuery<'_>) -> Markup {
    let filter = built.query.filter_text().unwrap_or_default();
    let select = match &built.query.select {
        Select::All => String::new(),
        Select::Names(names) => names.join(","),
    };
    let sources = [
        ("tables", command(context, table, built, &select)),
        ("Rust", rust(table, &filter)),
        ("curl", curl(table, &filter, &select)),
        ("Python", python(table, &filter, &select)),
    ];
    let given: Vec<(&str, &str)> = context
        .request
        .query
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let export = |form| {
        let given = given.iter().copied().filter(|(name, _)| !["as", "from", "run", "scan"].contains(name));
        link::to(&link::table(table, "export"), &given.chain([("as", form)]).collect::<Vec<_>>())
    };
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

/// Returns a string in single quotes for use in a shell.
fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "=.,_-/:@".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

fn command(context: &Context<'_>, table: &TableName, built: &FormQuery<'_>, select: &str) -> String {
    let mut words = vec!["tables query".to_owned(), table.as_str().to_owned()];
    let mut has_parts = false;
    if let Some(schema) = built.schema {
        for name in keyed::part_names(schema) {
            if let Some(value) = form_query::part(context, name) {
                words.push(quoted(&format!("{name}={value}")));
                has_parts = true;
            }
        }
        if has_parts && context.known.of(table).count() > 1 {
            words.push(format!("--entity {}", quoted(&schema.entity)));
        }
    }
    let rest = if has_parts {
        built.query.filter.as_ref().map(ToString::to_string)
    } else {
        built.query.filter_text()
    };
    words.extend(rest.map(|filter| format!("--filter {}", quoted(&filter))));
    if !select.is_empty() {
        words.push(format!("--select {}", quoted(select)));
    }
    words.join(" ")
}

fn rust(table: &TableName, filter: &str) -> String {
    format!(
        "let table = TableName::new({:?})?;\nlet query = Query::parse({filter:?})?;\nlet mut from = None;\nloop {{\n    let page = store.query(&table, &query, from.as_ref()).await?;\n    for entity in page.rows.iter() {{\n        println!(\"{{}} {{}}\", entity.partition_key, entity.row_key);\n    }}\n    from = page.continuation;\n    if from.is_none() {{\n        break;\n    }}\n}}",
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
    // In an OData query, a plus sign does not represent a space.
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

/// Returns a string literal of Python. Characters that hide or reverse text are written by number.
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
        assert!(rust(&table, "A eq '\"'").contains(r#"Query::parse("A eq '\"'")"#));
        let hidden = "A eq 'é\u{202e}\"\\\n\u{e0001}'";
        let literal = r#"query_entities("A eq 'é\u202e\"\\\u000a\U000e0001'", select=["A"])"#;
        assert!(python(&table, hidden, "A").contains(literal), "{}", python(&table, hidden, "A"));
        assert!(curl(&table, "A eq 'x y'", "").contains("?\\$filter=A%20eq%20%27x%20y%27&$SIGNATURE"));
    }
}
