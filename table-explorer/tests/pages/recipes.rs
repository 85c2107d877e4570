//! Tests of queries in the syntax of other tools.

use table_core::{Engine, TableEntity, TableStoreExt};

use crate::browser::Browser;

const PERSON: &str = "schema 1\nentity Person\ntable People\nPartitionKey team text 0..512 ordered legal\n\
    RowKey \"person_\"\nRowKey name text 0..512 ordered legal\n";
const ROOM: &str = "schema 1\nentity Room\ntable People\nkind Hall\nPartitionKey team text 0..512 ordered legal\n\
    RowKey \"room_\"\nRowKey number digits(3) 3 ordered [0-9]\n";

/// Returns the text that a query page shows for a tool.
fn copy<'a>(page: &'a str, tool: &str) -> &'a str {
    let text = page.split(&format!("<summary>{tool}</summary>")).nth(1).unwrap();
    text.split("<pre class=\"source\" tabindex=\"0\">").nth(1).unwrap().split("</pre>").next().unwrap()
}

#[tokio::test]
async fn a_copied_query_says_that_its_filter_also_returns_rows_of_other_types() {
    let engine = Engine::in_memory();
    let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
    for (entity, text) in [("Person", PERSON), ("Room", ROOM)] {
        schemas.insert(&TableEntity::new("people", entity).unwrap().with("Schema", text)).await.unwrap();
    }
    engine.untyped("People").unwrap().create_if_missing().await.unwrap();
    let browser = Browser::reading(&engine).await;
    for (query, has_note, kind) in [
        ("entity=Person", true, false),
        ("part.team=Ada", true, false),
        ("entity=Room", true, true),
        ("entity=Room&filter=N+eq+1+or+N+eq+2", true, true),
        ("partition=Ada", false, false),
        ("filter=N+eq+1", false, false),
    ] {
        let page = browser.page(&format!("/t/People/q?{query}")).await;
        for (tool, comment) in [("Rust", "//"), ("curl", "#"), ("Python", "#")] {
            let text = copy(&page, tool);
            let note = format!("{comment} The filter may also return rows of other types.\n");
            assert_eq!(text.starts_with(&note), has_note, "{tool}, {query}: {text}");
            let text = text.replace("%20", " ").replace("%27", "'").replace("&#39;", "'");
            assert_eq!(text.contains("EntityType eq 'Hall'"), kind, "{tool}, {query}: {text}");
            let is_whole =
                text.contains("(N eq 1 or N eq 2) and") || text.contains("%28N eq 1 or N eq 2%29 and");
            assert_eq!(is_whole, query.contains("+or+"), "{tool}, {query}: {text}");
        }
        assert!(!copy(&page, "tables").contains('#'), "{query}");
    }
}
