//! Tests of malformed documents written by other programs, in this library's containers and in mapped containers. Queries and patterns read every entity and
//! report the malformed documents.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::{Entity, EntityKey, Result, TableName, TableStore};
use table_cosmos::emulator::{Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Format, Mapping, Options};
use table_patterns::EntityStore;

use crate::runtime;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Orders")]
#[partition_key(tenant, customer)]
#[row_key("o_", number)]
#[index(ByState, row_key("s_", state, "_", number))]
struct Order {
    tenant: String,
    customer: String,
    #[digits(3)]
    number: u32,
    #[without('_')]
    state: String,
}

/// Placeholders in stored documents. The network replaces them in responses, because the emulator rejects documents that contain the actual text.
const REPLACED: [(&str, &str); 4] = [
    // An unpaired surrogate, as some UTF-16 clients write it.
    ("HALF", "\\ud83d"),
    // A number beyond the range of doubles.
    ("\"HUGE\"", "1e999"),
    // A timestamp in the year 10000.
    ("\"FUTURE\":0", "\"_ts\":253402300800,\"FUTURE\":0"),
    ("\"BEYOND\":0", "\"_ts\":18446744073709551615,\"BEYOND\":0"),
];

/// A mock network that requests JSON as text, and replaces placeholders in responses with text that the emulator would not store.
struct Odd(Emulator);

/// The Azure SDK's header for requesting binary JSON.
const FORMS: &str = "x-ms-cosmos-supported-serialization-formats";

impl Network for Odd {
    fn deliver(&self, mut request: Request) -> Delivery {
        let account = self.0.clone();
        request.headers.retain(|(name, _)| name != FORMS);
        Box::pin(async move {
            let mut answer = account.receive(&request).await?;
            let replaced = REPLACED
                .iter()
                .fold(String::from_utf8_lossy(&answer.body).into_owned(), |text, (from, to)| {
                    text.replace(from, to)
                });
            answer.body = replaced.into_bytes();
            answer.headers.retain(|(name, _)| name != "content-length");
            Ok(answer)
        })
    }
}

impl fmt::Debug for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Odd")
    }
}

/// Returns a number inside `depth` nested arrays.
fn nested(depth: usize) -> Json {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

/// Returns the malformed documents, each with the partition key for the request header. `levels` adds the members of the partition key to a document.
fn documents(levels: impl Fn(&mut Json, Option<Json>, Option<Json>)) -> Vec<(String, Json)> {
    let mut documents = Vec::new();
    // The values that a level may have. `None` represents a missing member.
    let kinds =
        [None, Some(Json::Null), Some(json!(true)), Some(json!(7)), Some(json!(7.5)), Some(json!(""))];
    let header = |first: &Option<Json>, second: &Option<Json>| {
        let value = |level: &Option<Json>| level.clone().unwrap_or_else(|| json!({}));
        json!([value(first), value(second)]).to_string()
    };
    let text = |text: &str| Some(json!(text));
    let mut add = |first: Option<Json>, second: Option<Json>, id: &str, members: Json| {
        let mut document = members;
        document["id"] = id.into();
        let header = header(&first, &second);
        levels(&mut document, first, second);
        documents.push((header, document));
    };
    for (at, kind) in kinds.iter().enumerate() {
        add(kind.clone(), text("ada"), &format!("first-{at}"), json!({"state": "new"}));
        add(text("contoso"), kind.clone(), &format!("second-{at}"), json!({"state": "new"}));
        add(kind.clone(), kind.clone(), &format!("both-{at}"), json!({"state": "new"}));
    }
    add(text("con!toso"), text("ada"), "separator", json!({}));
    for id in ["a/b", "a\\b", "a?b", "a#b", "ends with a blank ", "!", "!x", "🚀", &"x".repeat(1_023)] {
        add(text("contoso"), text("ada"), id, json!({"state": 7}));
    }
    let bodies = [
        json!({"p": 1}),
        json!({"p": [1, 2]}),
        json!({"p": {"A": [1]}, "state": [1]}),
        json!({"p": {"A": null}, "state": {"text": "new"}}),
        json!({"p": {"A": 1}, "t": 7, "state": 1}),
        json!({"p": {"A": "x"}, "t": {"A": "Edm.Unknown"}, "state": 1}),
        json!({"p": {"A": "x"}, "t": {"A": 5}, "state": 1}),
        json!({"p": {"A": "x".repeat(40_000)}, "state": 1}),
        json!({"p": {"": 1}, "state": 1}),
        // A member `o` written by another program, whose value is not a write identifier.
        json!({"o": "north", "state": 1}),
        json!({"o": 7, "state": 1}),
        json!({"o": {"p": 1}, "state": 1}),
        json!({"_tables": 7}),
        json!({"_tables": {"p": 7, "o": 9}}),
        json!({"ttl": "soon", "state": 1}),
        json!({"ttl": -1, "state": 1}),
        json!({"note": "HALF", "state": 1}),
        json!({"note": "HUGE", "state": 1}),
        json!({"FUTURE": 0, "state": 1}),
        json!({"BEYOND": 0, "state": 1}),
        json!({"note": nested(60), "state": 1}),
        json!({"note": nested(123), "state": 1}),
        json!({"note": nested(124), "state": 1}),
        json!({"note": nested(125), "state": 1}),
        json!({"note": nested(126), "state": 1}),
        json!({"note": "x".repeat(1_900_000), "state": 1}),
    ];
    for (at, body) in bodies.into_iter().enumerate() {
        add(text("contoso"), text("ada"), &format!("body-{at:02}"), body);
    }
    documents
}

/// Reads a range in small pages, and returns the `RowKey`s of the results.
async fn rows(
    store: &CosmosTables,
    table: &TableName,
    keys: KeyRange,
    filter: Option<&str>,
) -> Result<Vec<String>> {
    let filter = filter.and_then(|text| table_core::filter::Filter::parse(text).unwrap());
    let query = Query { top: Some(7), filter, ..Query::new(keys) };
    let (mut rows, mut from) = (Vec::new(), None);
    loop {
        let page = store.query(table, &query, from.as_ref()).await?;
        for entity in page.rows.iter() {
            rows.push(entity.row_key.to_owned());
        }
        match page.continuation {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    rows.sort();
    Ok(rows)
}

async fn check(options: Options, paths: &[&str], levels: impl Fn(&mut Json, Option<Json>, Option<Json>)) {
    let account = Emulator::new(false).unwrap();
    let table = TableName::new("Orders").unwrap();
    account.create_with_paths(&table, paths, 4, None).unwrap();
    let binary = account.open(options.clone()).await.unwrap();
    let store = account.open_over(options, Arc::new(Odd(account.clone()))).await.unwrap();
    let orders = store.entities::<Order>();
    let mut expected = Vec::new();
    for number in 0..20 {
        let tenant = if number < 12 { "contoso" } else { "fabrikam" };
        let state = ["new", "paid"][number as usize % 2].to_owned();
        let order = Order { tenant: tenant.into(), customer: "ada".into(), number, state };
        orders.insert(&order).await.unwrap();
        expected.push(order);
    }
    let (mut odd, mut refused) = (0, Vec::new());
    for (header, document) in documents(levels) {
        match account.put(&table, &header, &document.to_string()).await {
            Ok(()) => odd += 1,
            Err(error) => refused.push(format!("{header} {}: {error}", document["id"])),
        }
    }
    println!("{odd} odd documents; the emulator refuses {refused:#?}");
    assert!(odd > 40, "{odd}");
    for store in [store, binary] {
        check_store(&store, &table, &expected).await;
    }
}

async fn check_store(store: &CosmosTables, table: &TableName, expected: &[Order]) {
    let prefix = KeyRange { partition_key: TextRange::prefix("contoso!"), row_key: TextRange::ALL };
    for (keys, count) in [(KeyRange::partition("contoso!ada!"), 12), (prefix, 12), (KeyRange::ALL, 20)] {
        for filter in [None, Some("State ne 'open'"), Some("not (State eq 'open')")] {
            let found = rows(store, table, keys.clone(), filter).await;
            let found = found.unwrap_or_else(|error| panic!("{keys:?} {filter:?}: {error}"));
            let own = found.iter().filter(|row| row.starts_with("o_")).count();
            assert_eq!(own, count, "{keys:?} {filter:?}: {found:?}");
        }
    }
    // As a level, a number differs from a string with the same digits.
    let numbers = EntityKey::new("contoso!7!", "second-3").unwrap();
    assert!(store.get(table, &numbers, &Select::All).await.unwrap().is_none());
    let orders = store.entities::<Order>();
    let found = orders.query(Order::rows("contoso", "ada")).collect().await.unwrap();
    assert_eq!(found.into_iter().collect::<Vec<Order>>(), expected[..12]);
    let report = orders.check().run().await.unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    let skipped = store.skipped_items();
    assert!(skipped.count > 100, "{}", skipped.count);
    let reasons: Vec<String> = skipped.latest.iter().map(ToString::to_string).collect();
    for error in skipped.latest {
        assert_eq!((error.rule(), error.table()), (Some("WIRE-6"), Some("Orders")), "{error}");
    }
    for reason in
        ["is a number, and a level of an entity is a text", "is missing or null", "is `true` or `false`"]
    {
        assert!(reasons.iter().any(|found| found.contains(reason)), "{reason}: {reasons:#?}");
    }
}

#[test]
fn wire_6_odd_documents_stop_no_query_of_this_librarys_container() {
    runtime().block_on(check(
        Options::new().levels_of::<Order>(),
        &["/l1", "/l2"],
        |document, first, second| {
            for (name, level) in [("l1", first), ("l2", second)] {
                if let Some(level) = level {
                    document[name] = level;
                }
            }
        },
    ));
}

#[test]
fn wire_6_odd_documents_stop_no_query_of_a_mapped_container() {
    let mapping = Mapping::new(["/tenant", "/customer/id"]).property("State", "/state", Format::Text);
    let options = Options::new().mapping_of::<Order>(mapping).unwrap();
    runtime().block_on(check(options, &["/tenant", "/customer/id"], |document, first, second| {
        if let Some(first) = first {
            document["tenant"] = first;
        }
        if let Some(second) = second {
            document["customer"]["id"] = second;
        }
    }));
}
