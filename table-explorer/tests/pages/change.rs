//! Tests of changes to entities. A change is conditional on the `ETag` on which the form was based. It is rejected if it would make derived rows inconsistent.
//! Changes are disabled by default.

use http::StatusCode;
use table_core::{Engine, EntityKey, TableEntity, TableStoreExt, Value};
use table_explorer::{Explorer, demo};

use crate::browser::{Browser, fields as form, hidden};

/// A string with several kinds of line ends and a character that HTML replaces.
const TEXT: &str = "a\r\n10%\r20%\n\0b";

async fn engine() -> Engine {
    let engine = Engine::in_memory();
    let table = engine.untyped("Company").unwrap().create_if_missing().await.unwrap();
    let entity = TableEntity::new("Sales", "1")
        .unwrap()
        .with("Age", 36)
        .with("Text", TEXT)
        .with("Photo", vec![1_u8, 2]);
    table.insert(&entity).await.unwrap();
    engine
}

async fn stored(engine: &Engine) -> Option<TableEntity> {
    let table = engine.untyped("Company").unwrap();
    let key = EntityKey::new("Sales", "1").unwrap();
    table.get(&key).await.unwrap().map(|found| found.value().clone())
}

/// Compares keys and properties. Versions are not compared, because only a stored entity has one.
fn assert_same(found: &TableEntity, expected: &TableEntity) {
    assert_eq!(found.key(), expected.key());
    let sorted = |entity: &TableEntity| {
        let mut all: Vec<_> = entity.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    };
    assert_eq!(sorted(found), sorted(expected));
}

const EDIT: &str = "/t/Company/edit?pk=Sales&rk=1";

/// Returns the form fields as a browser sends them, with the given age.
fn fields<'a>(csrf: &'a str, etag: &'a str, age: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("csrf", csrf),
        ("pk", "Sales"),
        ("rk", "1"),
        ("etag", etag),
        ("name", "Age"),
        ("type", "Int32"),
        ("value", age),
        ("name", "Text"),
        ("type", "String"),
        ("value", "a\r\n10%\r\n20%\r\n\u{FFFD}b"),
        ("name", "Photo"),
        ("type", "Binary"),
        ("value", "AQI="),
        ("name", ""),
        ("type", "String"),
        ("value", ""),
    ]
}

#[tokio::test]
async fn an_edit_changes_one_value_and_keeps_the_bytes_of_the_others() {
    let engine = engine().await;
    let browser = Browser::writing(&engine).await;
    let page = browser.page(EDIT).await;
    let (csrf, etag) = (hidden(&page, "csrf"), hidden(&page, "etag"));
    let saved = browser.post("/t/Company/save", &fields(&csrf, &etag, "37")).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.body);
    let found = stored(&engine).await.unwrap();
    assert_same(
        &found,
        &TableEntity::new("Sales", "1")
            .unwrap()
            .with("Age", 37)
            .with("Text", TEXT)
            .with("Photo", vec![1_u8, 2]),
    );
}

#[tokio::test]
async fn a_conflict_shows_both_values_and_saves_nothing() {
    let engine = engine().await;
    let browser = Browser::writing(&engine).await;
    let page = browser.page(EDIT).await;
    let (csrf, etag) = (hidden(&page, "csrf"), hidden(&page, "etag"));
    let other = TableEntity::new("Sales", "1").unwrap().with("Age", 50);
    engine.untyped("Company").unwrap().insert_or_replace(&other).await.unwrap();
    let conflict = browser.post("/t/Company/save", &fields(&csrf, &etag, "37")).await;
    assert_eq!(conflict.status, StatusCode::CONFLICT);
    assert!(
        conflict.body.contains("<bdi>37</bdi>") && conflict.body.contains("<bdi>50</bdi>"),
        "{}",
        conflict.body
    );
    assert_same(&stored(&engine).await.unwrap(), &other);
    // The page shows both versions and lets the user decide.
    let newer = hidden(&conflict.body, "etag");
    let saved = browser.post("/t/Company/save", &fields(&csrf, &newer, "37")).await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER);
    assert_eq!(stored(&engine).await.unwrap().get("Age"), Some(&Value::Int32(37)));
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_refused_with_the_expected_form() {
    let engine = engine().await;
    let browser = Browser::writing(&engine).await;
    let page = browser.page(EDIT).await;
    let (csrf, etag) = (hidden(&page, "csrf"), hidden(&page, "etag"));
    let refused = browser.post("/t/Company/save", &fields(&csrf, &etag, "old")).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("expected a whole number"), "{}", refused.body);
}

#[tokio::test]
async fn an_entity_is_inserted_and_deleted() {
    let engine = engine().await;
    let browser = Browser::writing(&engine).await;
    let csrf = hidden(&browser.page("/t/Company/new").await, "csrf");
    let new = [
        ("csrf", csrf.as_str()),
        ("pk", "Sales"),
        ("rk", "2"),
        ("name", "Age"),
        ("type", "Int64"),
        ("value", "7"),
    ];
    let inserted = browser.post("/t/Company/insert", &new).await;
    assert_eq!(inserted.status, StatusCode::SEE_OTHER, "{}", inserted.body);
    assert_eq!(inserted.location(), "/t/Company/e?pk=Sales&rk=2");
    let again = browser.post("/t/Company/insert", &new).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.body.contains("EntityAlreadyExists"), "{}", again.body);
    let etag = hidden(&browser.page("/t/Company/edit?pk=Sales&rk=2").await, "etag");
    let key = [("csrf", csrf.as_str()), ("pk", "Sales"), ("rk", "2"), ("etag", etag.as_str())];
    assert_eq!(
        browser.post("/t/Company/delete", &key).await.status,
        StatusCode::BAD_REQUEST,
        "the box is not marked"
    );
    let deleted = browser.post("/t/Company/delete", &[&key[..], &[("sure", "1")]].concat()).await;
    assert_eq!(deleted.status, StatusCode::SEE_OTHER);
    assert_eq!(browser.get(inserted.location()).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn changes_are_off_unless_allowed() {
    let engine = engine().await;
    let writing = Browser::writing(&engine).await;
    let etag = hidden(&writing.page(EDIT).await, "etag");
    let browser = Browser::reading(&engine).await;
    let csrf = hidden(&browser.page("/engine").await, "csrf");
    assert!(browser.page("/t/Company/e?pk=Sales&rk=1").await.contains("read-only"));
    for path in [EDIT, "/t/Company/new"] {
        assert_eq!(browser.get(path).await.status, StatusCode::CONFLICT);
    }
    for page in ["save", "delete", "insert"] {
        let refused = browser.post(&format!("/t/Company/{page}"), &fields(&csrf, &etag, "37")).await;
        assert!(refused.body.contains("changes are off"), "{}", refused.body);
    }
    let refused = browser.post("/work/requeue", &[("csrf", &csrf), ("queue", "q"), ("work", "w")]).await;
    assert!(refused.body.contains("changes are off"));
    assert_eq!(stored(&engine).await.unwrap().get("Age"), Some(&Value::Int32(36)));
}

#[tokio::test]
async fn an_entity_with_derived_rows_is_refused_with_the_reason() {
    let browser = Browser::open(Explorer::writable(demo::source().await.unwrap())).await;
    let refused = browser.get("/t/HelpDesk/edit?pk=contoso&rk=ticket_000007").await;
    assert_eq!(refused.status, StatusCode::CONFLICT);
    assert!(
        refused.body.contains("index By") && !refused.body.contains("--bypass-derived"),
        "{}",
        refused.body
    );
}

/// Submits the form on a page together with additional fields.
async fn send(browser: &Browser, page: &str, path: &str, more: &[(&str, &str)]) -> crate::browser::Answer {
    let fields = form(page, &format!("action=\"{path}\""));
    let own = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    browser.post(path, &own.chain(more.iter().copied()).collect::<Vec<_>>()).await
}

/// Returns values of every type. Some are just short enough to be edited in the form; others are longer.
fn values() -> Vec<Value> {
    let mut values: Vec<Value> =
        [0, 1, 7_999, 8_000, 8_001, 32_000].map(|length| "x".repeat(length).into()).into();
    values.extend(["..", "a*", "<b>", "\n a\n", " "].map(Value::from));
    values.extend([vec![], vec![7; 6_000], vec![7; 6_001], vec![7; 65_000]].map(Value::Binary));
    values.extend([Value::Int32(-7), Value::Int64(i64::MIN), Value::Double(0.1), Value::Boolean(false)]);
    values
}

#[tokio::test]
async fn a_form_that_is_sent_as_it_is_saves_the_entity_that_it_shows() {
    let engine = engine().await;
    let (table, browser) = (engine.untyped("Company").unwrap(), Browser::writing(&engine).await);
    let others = [Value::from("b"), Value::from("y".repeat(8_001)), Value::Int32(5)];
    for (own, other) in values().into_iter().flat_map(|own| others.clone().map(|other| (own.clone(), other)))
    {
        let entity =
            TableEntity::new("Sales", "1").unwrap().with("Before", "b").with("Own", own.clone()).with("Z", 1);
        table.insert_or_replace(&entity).await.unwrap();
        let page = browser.page(EDIT).await;
        let saved = send(&browser, &page, "/t/Company/save", &[]).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{own:?}: {}", saved.body);
        assert_same(&stored(&engine).await.unwrap(), &entity);
        // Another writer changes the property. The user's form then overwrites that change.
        let fields = form(&browser.page(EDIT).await, "action=\"/t/Company/save\"");
        let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        table.insert_or_replace(&entity.clone().with("Own", other.clone())).await.unwrap();
        let text = table_inspect::value::show(&own);
        let is_kept = fields.contains(&("kept", "Own"));
        if is_kept {
            // The user enters a new value for a property whose value the form does not contain.
            fields.retain(|field| *field != ("kept", "Own"));
            let edm = own.edm_type().name();
            fields.extend([("name", "Own"), ("type", edm), ("value", text.as_str())]);
        }
        let conflict = browser.post("/t/Company/save", &fields).await;
        assert_eq!(conflict.status, StatusCode::CONFLICT, "{own:?}, {other:?}: {}", conflict.body);
        let saved = send(&browser, &conflict.body, "/t/Company/save", &[]).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{own:?}, {other:?}: {}", saved.body);
        let found = stored(&engine).await.unwrap();
        assert!(found.get("Own") == Some(&own), "{own:?} was overwritten by {other:?}");
        assert_eq!(found.len(), 3);
    }
}

#[tokio::test]
async fn a_removed_property_can_be_given_again_with_another_type() {
    let engine = engine().await;
    let browser = Browser::writing(&engine).await;
    let (table, entity) = (engine.untyped("Company").unwrap(), stored(&engine).await.unwrap());
    for name in ["Age", "Text", "Photo"] {
        table.insert_or_replace(&entity).await.unwrap();
        let page = browser.page(EDIT).await;
        let mut fields = form(&page, "action=\"/t/Company/save\"");
        let names: Vec<_> =
            fields.iter().filter(|(field, _)| field == "name").map(|(_, value)| value.clone()).collect();
        let at = names.iter().position(|known| known == name).unwrap().to_string();
        fields.extend(
            [("remove", at.as_str()), ("name", name), ("type", "String"), ("value", "x")]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let saved = browser.post("/t/Company/save", &fields).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{name}: {}", saved.body);
        let found = stored(&engine).await.unwrap();
        assert_eq!((found.get(name), found.len()), (Some(&Value::from("x")), 3), "{name}");
    }
}
