//! Tests that pages display hostile names, keys and values without interpreting them.

use table_core::{Engine, TableEntity, TableStoreExt};

use crate::browser::Browser;

/// Strings that would inject markup into a page that does not escape them.
const CORPUS: [&str; 12] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "</textarea><script>alert(1)</script>",
    "</title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}}",
    "&lt;script&gt;alert(1)&lt;&sol;script&gt;",
    "<!--<img src=\"--><img src=x onerror=alert(1)//\">",
    "\u{202E}gnp.exe",
    "a\u{200B}b\u{FEFF}c",
    "<iframe srcdoc='<script>alert(1)</script>'>",
];

/// Returns `true` if a page contains an element or an attribute that can only have come from a stored string.
fn is_broken(page: &str) -> bool {
    let elements = ["<script>", "<img src=x", "<iframe", "<!--", "<svg onload"];
    elements.iter().any(|element| page.contains(element))
        || tags(page)
            .iter()
            .any(|tag| tag.split_whitespace().any(|word| word.starts_with("on") && word.contains('=')))
}

/// Returns the tags on a page, without the values of their attributes.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let (mut tag, mut is_quoted): (Option<String>, bool) = (None, false);
    for character in page.chars() {
        match (&mut tag, character) {
            (None, '<') => tag = Some(String::new()),
            (None, _) => {}
            (Some(_), '"') => is_quoted = !is_quoted,
            (Some(_), _) if is_quoted => {}
            (Some(_), '>') => tags.extend(tag.take()),
            (Some(text), other) => text.push(other),
        }
    }
    tags
}

#[test]
fn a_page_that_does_not_escape_is_found() {
    assert!(
        is_broken("<input value=\"\"><img src=x onerror=alert(1)>")
            && is_broken("<p title=\"\" onclick=alert(1)>")
    );
    assert!(!is_broken("<p title=\"&lt;img onerror=alert(1)&gt; onclick=x\">on=1</p>"));
}

/// Removes characters that keys cannot contain.
fn as_key(text: &str) -> String {
    text.chars().filter(|character| !matches!(character, '/' | '\\' | '#' | '?')).collect()
}

async fn engine() -> Engine {
    let engine = Engine::in_memory();
    let table = engine.untyped("Hostile").unwrap().create_if_missing().await.unwrap();
    for text in CORPUS {
        let entity = TableEntity::new(as_key(text), as_key(text)).unwrap();
        table.insert(&entity.with("Text", text).with("Bytes", text.as_bytes().to_vec())).await.unwrap();
    }
    engine
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[tokio::test]
async fn keys_and_values_are_escaped_on_every_page() {
    let browser = Browser::writing(&engine().await).await;
    let mut paths = vec![
        "/t/Hostile".to_owned(),
        "/t/Hostile/q?run=1".to_owned(),
        "/t/Hostile/q?run=1&top=1000".to_owned(),
    ];
    for text in CORPUS {
        let key = encoded(&as_key(text));
        paths.push(format!("/t/Hostile/p?pk={key}"));
        for page in ["e", "edit"] {
            paths.push(format!("/t/Hostile/{page}?pk={key}&rk={key}"));
        }
        for form in ["text", "json", "hex", "image", "raw"] {
            paths.push(format!("/t/Hostile/v?pk={key}&rk={key}&name=Text&as={form}"));
            paths.push(format!("/t/Hostile/v?pk={key}&rk={key}&name=Bytes&as={form}"));
        }
    }
    for path in paths {
        let answer = browser.get(&path).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.status);
        let media_type = answer.headers["content-type"].to_str().unwrap();
        if media_type.starts_with("text/html") {
            assert!(!is_broken(&answer.body), "{path}:\n{}", answer.body);
            // A form contains the stored text unchanged. All other pages show the code points of such characters.
            assert!(path.contains("/edit") || !answer.body.contains('\u{202E}'), "{path}");
        } else {
            assert_eq!(media_type, "application/octet-stream", "{path}");
            assert!(answer.headers.contains_key("content-disposition"), "{path}");
        }
    }
}

#[tokio::test]
async fn texts_of_the_address_are_escaped_in_every_field_and_message() {
    let browser = Browser::writing(&engine().await).await;
    for text in CORPUS {
        let text = encoded(text);
        for path in [
            format!(
                "/t/Hostile/q?filter={text}&select={text}&partition={text}&row={text}&property={text}&is=eq&value={text}&entity={text}&top={text}"
            ),
            format!("/t/Hostile/p?pk={text}&under={text}"),
            format!("/t/Hostile/p?pk=a&from={text}"),
            format!("/t/Hostile/v?pk=a&rk=b&name={text}"),
            format!("/t/{text}"),
            format!("/find?q={text}"),
            format!("/work?queue={text}"),
            format!("/{text}"),
            format!("/?token={text}"),
        ] {
            let answer = browser.get(&path).await;
            assert!(!answer.status.is_server_error() || answer.status == 502, "{path}: {}", answer.status);
            assert!(!is_broken(&answer.body), "{path}:\n{}", answer.body);
            if let Some(location) = answer.headers.get("location") {
                assert!(location.to_str().unwrap().starts_with('/'), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn a_schema_with_hostile_names_is_escaped() {
    let engine = Engine::in_memory();
    engine.untyped("Tab").unwrap().create_if_missing().await.unwrap();
    let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
    let text = "schema 1\nentity <script>alert(1)</script>\ntable Tab\nPartitionKey <img text 0..512 ordered legal\nRowKey \"<svg onload=alert(1)>\"\n";
    schemas.insert(&TableEntity::new("tab", "x").unwrap().with("Schema", text)).await.unwrap();
    let browser = Browser::reading(&engine).await;
    for path in ["/", "/t/Tab", "/t/Tab/q"] {
        // The names are either rejected when the schema is read, or escaped.
        assert!(!is_broken(&browser.get(path).await.body), "{path}");
    }
}

#[tokio::test]
async fn a_schema_that_cannot_be_read_hides_no_other_table() {
    let engine = engine().await;
    engine.untyped("Tab").unwrap().create_if_missing().await.unwrap();
    let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
    let own = "schema 1\nentity Row\ntable Hostile\nPartitionKey p text 0..512 ordered legal\nRowKey r text 0..512 ordered legal\n";
    for (table, entity, text) in [("tab", "Later", "schema 99\n"), ("hostile", "Row", own)] {
        schemas.insert(&TableEntity::new(table, entity).unwrap().with("Schema", text)).await.unwrap();
    }
    let browser = Browser::writing(&engine).await;
    for path in ["/", "/t/Hostile", "/t/Hostile/q?run=1", "/t/Hostile/new", "/t/Hostile/paste", "/queries"] {
        browser.page(path).await;
    }
    let page = browser.page("/t/Tab").await;
    assert!(page.contains("The schema of Later is not shown"), "{page}");
    assert!(!browser.get("/t/Tab/new").await.status.is_success());
}

#[tokio::test]
async fn keys_are_shown_as_stored_if_the_schema_of_an_index_cannot_be_read() {
    let text = "text 0..512 ordered legal";
    let person =
        format!("schema 1\nentity Person\ntable People\nPartitionKey team {text}\nRowKey name {text}\n");
    // The schema declares an index in the table, and has a line that only later releases read.
    let visitor = |later: &str| {
        format!(
            "schema 1\nentity Visitor\ntable Visitors\nPartitionKey visitor {text}\nindex ByCity copies\nindex ByCity table People\nindex ByCity RowKey \"city_\"\nindex ByCity RowKey visitor {text}\n{later}"
        )
    };
    for (later, is_shown) in [("later\n", false), ("", true)] {
        let engine = Engine::in_memory();
        let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
        for (table, entity, text) in [("people", "Person", &person), ("visitors", "Visitor", &visitor(later))]
        {
            let row = TableEntity::new(table, entity).unwrap().with("Schema", text.as_str());
            schemas.insert(&row).await.unwrap();
        }
        let people = engine.untyped("People").unwrap().create_if_missing().await.unwrap();
        people.insert(&TableEntity::new("cities", "city_Rome_ada").unwrap()).await.unwrap();
        let browser = Browser::reading(&engine).await;
        for path in [
            "/t/People/p?pk=cities",
            "/t/People/layout?pk=cities",
            "/t/People/e?pk=cities&rk=city_Rome_ada",
            "/t/People/q?partition=cities&run=1",
        ] {
            let page = browser.page(path).await;
            assert!(!page.contains("title=\"name\""), "{path}: {page}");
            assert_eq!(page.contains("title=\"visitor\""), is_shown, "{path}: {page}");
            assert!(page.contains("city_Rome_ada"), "{path}: {page}");
        }
        let page = browser.page("/t/People").await;
        assert_eq!(page.contains("The schema of Visitor is not shown"), !is_shown, "{page}");
    }
}
