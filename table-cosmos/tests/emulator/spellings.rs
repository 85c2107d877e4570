//! Tests that reads and filters agree on values that other programs spell differently: a filter finds every matching item that can be read as an entity.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value as Json, json};
use table_core::filter::Filter;
use table_core::query::{KeyRange, Query, Select};
use table_core::{
    Engine, EntityKey, ErrorCode, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore,
    Transaction,
};
use table_cosmos::emulator::Emulator;
use table_cosmos::{Format, Mapping, Options};

use crate::runtime;

const WORLDS: u64 = 8;
const ITEMS: usize = 160;
const QUERIES: usize = 80;
/// The types of properties, as stored in `t`. An empty string represents a missing type.
const TYPES: [&str; 7] = ["", "Int64", "Double", "Special", "DateTime", "Guid", "Binary"];
/// The formats of the mapped properties. Each property is named after its format.
const FORMATS: [(&str, Format); 11] = [
    ("Text", Format::Text),
    ("Int32", Format::Int32),
    ("Int64", Format::Int64),
    ("Int64Text", Format::Int64Text),
    ("Double", Format::Double),
    ("Boolean", Format::Boolean),
    ("DateTime", Format::DateTime),
    ("UnixSeconds", Format::UnixSeconds),
    ("UnixMilliseconds", Format::UnixMilliseconds),
    ("Guid", Format::Guid),
    ("Base64", Format::Base64),
];

/// Returns JSON for a random value in the form of some serializer, such as a date in JavaScript, Python or .NET format, an integer with a fraction, or a number
/// as text.
fn spelling(random: &mut StdRng) -> Json {
    let of = |texts: &[&str], random: &mut StdRng| texts[random.random_range(0..texts.len())].to_owned();
    match random.random_range(0..5_u32) {
        0 => {
            let seconds = of(&["23:59:58", "23:59:59", "23:59:60", "00:00:00", "00:00"], random);
            let date = of(&["2024-01-01", "2024-01-02", "2024-1-2", "+12024-01-02", "20240102"], random);
            let between = of(&["T", "T", "T", "t", " "], random);
            let fraction = of(
                &["", "", ".", ".1", ".123", ".123456", ".1234567", ".1230000", ".12345678", ",123"],
                random,
            );
            let zone = of(&["Z", "Z", "z", "+00:00", "+0000", "-00:00", "+01:00", ""], random);
            format!("{date}{between}{seconds}{fraction}{zone}").into()
        }
        1 => {
            let digit = of(&["6", "7", "a", "A"], random);
            let plain = format!("0000000{digit}-0000-0000-0000-000000000007");
            match random.random_range(0..5_u32) {
                0 => plain.replace('-', "").into(),
                1 => format!("{{{plain}}}").into(),
                2 => format!("urn:uuid:{plain}").into(),
                _ => plain.into(),
            }
        }
        2 => {
            let numbers = [
                "0",
                "-0",
                "0.0",
                "-0.0",
                "1",
                "1.0",
                "1e0",
                "-7",
                "-7.0",
                "1.5",
                "0.1",
                "3e9",
                "3000000000",
                "9007199254740992",
                "9007199254740992.0",
                "9007199254740994",
                "-9007199254740993",
                "1e300",
                "9223372036854775807",
                "18446744073709551615",
            ];
            serde_json::from_str(&of(&numbers, random)).unwrap()
        }
        3 => {
            let texts = [
                "",
                "0",
                "1",
                "+1",
                "01",
                "-7",
                " 1",
                "1.0",
                "1e0",
                "9007199254740993",
                "9223372036854775807",
                "NaN",
                "INF",
                "-INF",
                "-0",
                "Infinity",
                "nan",
                "Bwg=",
                "Bwg",
                "Bwh=",
                "BwgJ",
                "a",
                "東",
                "true",
            ];
            of(&texts, random).into()
        }
        _ => [json!(true), json!(false), Json::Null, json!({}), json!([1])][random.random_range(0..5_usize)]
            .clone(),
    }
}

fn literal(random: &mut StdRng) -> &'static str {
    let literals = [
        "0",
        "1",
        "-7",
        "1L",
        "0L",
        "3000000000L",
        "9007199254740992L",
        "9007199254740993L",
        "-9223372036854775808L",
        "9223372036854775807L",
        "0.0",
        "1.0",
        "1.5",
        "1e300",
        "'a'",
        "''",
        "'1'",
        "'2024-01-02T00:00:00Z'",
        "true",
        "false",
        "datetime'2024-01-01T23:59:59.123Z'",
        "datetime'2024-01-01T23:59:59Z'",
        "datetime'2024-01-02T00:00:00Z'",
        "datetime'2024-01-02T00:00:00.1Z'",
        "datetime'2024-01-02T00:00:00.1234567Z'",
        "guid'00000007-0000-0000-0000-000000000007'",
        "guid'0000000a-0000-0000-0000-000000000007'",
        "X'0708'",
        "X'070809'",
    ];
    literals[random.random_range(0..literals.len())]
}

fn filter(names: &[&str], random: &mut StdRng, depth: usize) -> String {
    match random.random_range(0..if depth == 0 { 1 } else { 4_u32 }) {
        1 => format!("({}) and ({})", filter(names, random, depth - 1), filter(names, random, depth - 1)),
        2 => format!("({}) or ({})", filter(names, random, depth - 1), filter(names, random, depth - 1)),
        3 => format!("not ({})", filter(names, random, depth - 1)),
        _ => {
            let operator = ["eq", "ne", "lt", "le", "gt", "ge"][random.random_range(0..6_usize)];
            format!("{} {operator} {}", names[random.random_range(0..names.len())], literal(random))
        }
    }
}

/// Returns the members of an item with one property in a random spelling and, in the standard format, with a random type.
fn members(is_mapped: bool, random: &mut StdRng) -> Map<String, Json> {
    let (mut values, mut types) = (Map::new(), Map::new());
    let names: Vec<&str> =
        if is_mapped { FORMATS.iter().map(|(name, _)| *name).collect() } else { vec!["A", "B"] };
    let name = names[random.random_range(0..names.len())];
    values.insert(name.to_owned(), spelling(random));
    if is_mapped {
        return values;
    }
    let edm = TYPES[random.random_range(0..TYPES.len())];
    if !edm.is_empty() {
        types.insert(name.to_owned(), edm.into());
    }
    Map::from_iter([("p".to_owned(), values.into()), ("t".to_owned(), types.into())])
}

/// Returns the `RowKey`s of the query's results in ascending order.
async fn keys(store: &impl TableStore, table: &TableName, query: &Query) -> Vec<String> {
    let (mut keys, mut from) = (Vec::new(), None);
    loop {
        let page = store.query(table, query, from.as_ref()).await.unwrap();
        keys.extend(page.rows.iter().map(|row| row.row_key.to_owned()));
        from = page.continuation;
        if from.is_none() {
            keys.sort();
            return keys;
        }
    }
}

#[test]
fn fil_10_to_18_and_wire_6_reads_and_filters_agree_about_every_spelling_of_a_value() {
    runtime().block_on(async {
        let mut entities = 0;
        for world in 0..WORLDS {
            let random = &mut StdRng::seed_from_u64(world);
            let is_mapped = world % 2 == 1;
            let (account, engine) = (Emulator::new(false).unwrap(), Engine::in_memory());
            let table = TableName::new("Things").unwrap();
            let mapping = FORMATS.iter().fold(Mapping::new(["/l1"]), |mapping, (name, format)| {
                mapping.property(name, &format!("/{name}"), *format)
            });
            let options = Options::new();
            let options = if is_mapped { options.mapping("Things", mapping).unwrap() } else { options };
            let store = account.open(options).await.unwrap();
            account.create(&table, 1, 1, None).unwrap();
            engine.create_table(&table).await.unwrap();
            for number in 0..ITEMS {
                let row_key = format!("{number:03}");
                let mut item = members(is_mapped, random);
                item.insert("id".to_owned(), row_key.as_str().into());
                item.insert("l1".to_owned(), "p".into());
                let item = Json::from(item).to_string();
                account.put(&table, r#"["p"]"#, &item).await.unwrap();
                let key = EntityKey::new("p", row_key.as_str()).unwrap();
                match store.get(&table, &key, &Select::All).await {
                    Ok(found) => {
                        let limits = store.capabilities().limits;
                        let mut insert = Transaction::new(PartitionKey::new("p").unwrap(), limits).unwrap();
                        let kind = OperationKind::Insert(found.unwrap().row);
                        insert.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
                        engine.submit(&table, insert).await.unwrap();
                        entities += 1;
                    }
                    Err(error) => assert_eq!(error.code(), ErrorCode::Corrupted, "{item}: {error}"),
                }
            }
            let names: Vec<&str> =
                if is_mapped { FORMATS.iter().map(|(name, _)| *name).collect() } else { vec!["A", "B"] };
            let all = Query::new(KeyRange::ALL);
            assert_eq!(keys(&store, &table, &all).await, keys(&engine, &table, &all).await);
            for _ in 0..QUERIES {
                let text = filter(&names, random, 2);
                let query = Query { filter: Filter::parse(&text).unwrap(), ..all.clone() };
                assert_eq!(keys(&store, &table, &query).await, keys(&engine, &table, &query).await, "{text}");
            }
        }
        assert!(entities > ITEMS, "{entities}");
    });
}
