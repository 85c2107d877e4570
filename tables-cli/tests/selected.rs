//! Tests that conditions on entity types and key parts select exactly the rows that satisfy them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;

use common::{block_on, refused, shown, tables};
use proptest::prelude::*;
use table_core::{Engine, Entity, TableEntity, TableStoreExt};
use tables_cli::Exit;

/// A visit. Its PartitionKey contains only the bucket of the user, not the user.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Log")]
#[partition_key("b", bucket(user, 16))]
#[row_key("x_", digits(2, id))]
struct Visit {
    user: i64,
    id: u32,
    n: i32,
}

/// A person. The keys do not sort by name: the key of `ab!` sorts before the key of `ab`, because `!` sorts before `_`.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Log")]
#[partition_key(team)]
#[row_key("x_", first(1, without('_', name)), "_", without('_', name), "_", digits(2, id))]
struct Person {
    team: String,
    name: String,
    id: u32,
    n: i32,
}

/// A note about a person. Its row keys begin like those of visits.
#[derive(Clone, Debug, Entity)]
#[entity(table = "Log", kind = "Note")]
#[partition_key(team)]
#[row_key("x_", digits(2, id), "_", digits(2, number))]
struct Note {
    team: String,
    id: u32,
    number: u32,
    n: i32,
}

/// A row of any type, or a row without a type.
#[derive(Clone, Debug)]
enum Row {
    Visit(Visit),
    Person(Person),
    Note(Note),
    Stray(String),
}

const TEAMS: [&str; 4] = ["b00", "b12", "web", "webs"];
const NAMES: [&str; 6] = ["a", "ab", "ab!", "abc", "b", "b!"];

fn row() -> impl Strategy<Value = Row> {
    let number = 0..4_u32;
    let team = proptest::sample::select(&TEAMS[..]).prop_map(str::to_owned);
    let name = proptest::sample::select(&NAMES[..]).prop_map(str::to_owned);
    prop_oneof![
        (0..20_i64, number.clone()).prop_map(|(user, id)| Row::Visit(Visit { user, id, n: 0 })),
        (team.clone(), name, number.clone()).prop_map(|(team, name, id)| Row::Person(Person {
            team,
            name,
            id,
            n: 0
        })),
        (team, number.clone(), number.clone()).prop_map(|(team, id, number)| Row::Note(Note {
            team,
            id,
            number,
            n: 0
        })),
        number.prop_map(|n| Row::Stray(format!("x_{n}"))),
    ]
}

/// Returns a strategy for conditions on a field with the given values. A value is used as a single value or as a bound.
fn condition(
    name: &'static str,
    values: &'static [&'static str],
) -> impl Strategy<Value = (String, [String; 3])> {
    let value = proptest::sample::select(values);
    (value.clone(), value, 0..5_u8).prop_map(move |(low, high, form)| {
        let (text, kind) = match form {
            0 | 1 => (format!("{name}=={low}"), "one"),
            2 => (format!("{name}={low}..{high}"), "between"),
            3 => (format!("{name}={low}.."), "from"),
            _ => (format!("{name}=..{high}"), "to"),
        };
        (text, [kind.to_owned(), low.to_owned(), high.to_owned()])
    })
}

fn accepts([kind, low, high]: &[String; 3], value: &str) -> bool {
    match kind.as_str() {
        "one" => value == low,
        "between" => low.as_str() <= value && value <= high.as_str(),
        "from" => low.as_str() <= value,
        _ => value <= high.as_str(),
    }
}

/// A selection: an entity type, and conditions, each with the name of its field.
type Selection = (&'static str, Vec<(&'static str, (String, [String; 3]))>);

fn selection() -> impl Strategy<Value = Selection> {
    let of = |name: &'static str, values: &'static [&'static str], most: usize| {
        prop::collection::vec(condition(name, values).prop_map(move |condition| (name, condition)), 0..=most)
    };
    let numbers: &'static [&'static str] = &["0", "1", "2", "3"];
    let join = |all: Vec<Vec<_>>| all.into_iter().flatten().collect::<Vec<_>>();
    prop_oneof![
        of("id", numbers, 3).prop_map(|ids| ("Visit", ids)),
        (of("team", &TEAMS, 2), of("name", &NAMES, 2), of("id", numbers, 1))
            .prop_map(move |(teams, names, ids)| ("Person", join(vec![teams, names, ids]))),
        (of("team", &TEAMS, 2), of("id", numbers, 2), of("number", numbers, 1))
            .prop_map(move |(teams, ids, numbers)| ("Note", join(vec![teams, ids, numbers]))),
    ]
}

/// Returns the value of a row's field, or `None` unless the row is of the given type.
fn field(row: &Row, entity: &str, name: &str) -> Option<String> {
    Some(match (row, entity, name) {
        (Row::Visit(visit), "Visit", "id") => visit.id.to_string(),
        (Row::Person(person), "Person", "team") => person.team.clone(),
        (Row::Person(person), "Person", "name") => person.name.clone(),
        (Row::Person(person), "Person", "id") => person.id.to_string(),
        (Row::Note(note), "Note", "team") => note.team.clone(),
        (Row::Note(note), "Note", "id") => note.id.to_string(),
        (Row::Note(note), "Note", "number") => note.number.to_string(),
        _ => return None,
    })
}

fn is_of(row: &Row, entity: &str) -> bool {
    matches!((row, entity), (Row::Visit(_), "Visit") | (Row::Person(_), "Person") | (Row::Note(_), "Note"))
}

/// Writes rows to a folder. The property `N` of each row contains its position. Returns the written rows. A row is skipped if an earlier row has the same key.
async fn fill(at: &std::path::Path, rows: &[Row]) -> Vec<(i32, Row)> {
    let engine = Engine::open(at.join("db")).unwrap();
    let visits = engine.table::<Visit>().create_if_missing().await.unwrap();
    let persons = engine.table::<Person>().create_if_missing().await.unwrap();
    let notes = engine.table::<Note>().create_if_missing().await.unwrap();
    let untyped = engine.untyped("Log").unwrap();
    let mut stored = Vec::new();
    for (n, row) in (0..).zip(rows) {
        let written = match row.clone() {
            Row::Visit(visit) => visits.insert(&Visit { n, ..visit }).await.map(drop),
            Row::Person(person) => persons.insert(&Person { n, ..person }).await.map(drop),
            Row::Note(note) => notes.insert(&Note { n, ..note }).await.map(drop),
            Row::Stray(row_key) => {
                untyped.insert(&TableEntity::new("web", row_key).unwrap().with("N", n)).await.map(drop)
            }
        };
        if written.is_ok() {
            stored.push((n, row.clone()));
        }
    }
    engine.close().await.unwrap();
    stored
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 24 } else { 200 }))]
    #[test]
    fn the_selected_rows_are_those_that_satisfy_the_conditions(
        rows in prop::collection::vec(row(), 0..40),
        selections in prop::collection::vec(selection(), 8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let stored = block_on(fill(at, &rows));
        for (entity, conditions) in selections {
            let satisfies = |row: &Row| {
                is_of(row, entity)
                    && conditions
                        .iter()
                        .all(|(name, (_, accepted))| accepts(accepted, &field(row, entity, name).unwrap()))
            };
            let expected: BTreeSet<i32> = stored.iter().filter(|(_, row)| satisfies(row)).map(|(n, _)| *n).collect();
            let texts: Vec<String> = conditions.iter().map(|(_, (text, _))| format!(" '{text}'")).collect();
            let texts = texts.concat();
            let selection = format!("Log{texts} --entity {entity}");
            let (exit, text) = tables(at, &format!("query {selection} --all --scan -o json --store DB --select N"));
            if let Err(error) = &exit {
                prop_assert!(error.to_string().contains("comes after"), "{}: {}", selection, error);
                continue;
            }
            let found: Vec<TableEntity> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let found_numbers = found.iter().map(|row| match row.get("N") {
                Some(&table_core::Value::Int32(n)) => n,
                other => panic!("{other:?}"),
            });
            prop_assert_eq!(found_numbers.collect::<BTreeSet<_>>(), expected.clone(), "{}", selection);
            prop_assert!(found.iter().all(|row| row.len() == 1), "{}", text);
            let (exit, text) = tables(at, &format!("delete {selection} --dry-run --store DB"));
            let count = format!("would delete {} row", expected.len());
            prop_assert!(exit.is_ok() && text.starts_with(&count), "{}: {} {:?}", selection, text, exit);
        }
    }
}

/// Creates a folder with one visit for each of 64 users.
fn visits() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = (0..64_u32).map(|id| Row::Visit(Visit { user: id.into(), id, n: 0 })).collect();
    block_on(fill(folder.path(), &rows));
    folder
}

#[test]
fn a_field_is_never_compared_with_a_text_that_other_values_share() {
    let folder = visits();
    let at = folder.path();
    let (exit, text) = refused(at, "delete Log --entity Visit user=12 --yes --store DB");
    assert!(exit == Exit::Usage && text.contains("only the part `User@bucket` of `user`"), "{exit:?} {text}");
    assert_eq!(shown(at, "count Log --store DB -o csv"), "rows\n64\n");
    let of_bucket = shown(at, "query Log --entity Visit user@bucket=12 --store DB -o csv");
    assert!(of_bucket.lines().count() < 20, "{of_bucket}");
    assert!(shown(at, "query Log --entity Visit --store DB --top 1").starts_with("User@bucket  id"));
}

#[test]
fn an_entity_type_selects_its_rows_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let note = |number| Row::Note(Note { team: "web".into(), id: 1, number, n: 0 });
    let visit = Row::Visit(Visit { user: 1, id: 1, n: 0 });
    block_on(fill(at, &[note(1), note(2), visit, Row::Stray("x_1".into())]));
    assert_eq!(shown(at, "count Log --entity note --store DB -o csv"), "rows\n2\n");
    for (line, message) in [
        ("count Log --entity Nobody --store DB", "Log has no entity type `Nobody`; its types are"),
        ("count Log id=1 --store DB", "Log holds several entity types; name one with `--entity`"),
        (
            "delete Log --entity Note --all --yes --store DB",
            "delete every row of Log, and other options select some",
        ),
    ] {
        let (exit, text) = refused(at, line);
        assert!(exit == Exit::Usage && text.contains(message), "{line}: {text}");
    }
    assert_eq!(
        shown(at, "copy Log --entity Note --store DB --to DIR/notes").split(',').next(),
        Some("copied Log to Log: 2 rows")
    );
    shown(at, "export Log DIR/notes.jsonl --entity Note --store DB");
    assert_eq!(std::fs::read_to_string(at.join("notes.jsonl")).unwrap().lines().count(), 2);
    assert_eq!(shown(at, "delete Log --entity Note --yes --store DB"), "deleted 2 rows\n");
    assert_eq!(shown(at, "count Log --store DB -o csv"), "rows\n2\n");
}

/// Returns the cells of the first row of a human-readable table, each with its column name.
fn cells(text: &str) -> Vec<(&str, &str)> {
    let mut lines = text.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()));
    lines.next().unwrap().zip(lines.next().unwrap()).collect()
}

#[test]
fn a_table_shows_the_key_parts_of_a_rows_own_kind() {
    // Schemas are read in name order, which must not affect the result.
    for (room, hall) in [("Room", "Hall"), ("Hall", "Room")] {
        shows_the_key_parts_of_a_rows_own_kind(room, hall);
    }
}

/// Tests a table with a type `room` without a kind, and a type `hall` that has a kind and keys of the same form.
fn shows_the_key_parts_of_a_rows_own_kind(room_name: &str, hall_name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "text 0..512 ordered legal";
    let free =
        format!("schema 1\nentity Anyone\ntable Mixed\nPartitionKey team {text}\nRowKey name {text}\n");
    let room = format!(
        "schema 1\nentity {room_name}\ntable Mixed\nPartitionKey team {text}\nRowKey \"room_\"\nRowKey number digits(3) 3 ordered [0-9]\n"
    );
    let hall = room
        .replace(&format!("entity {room_name}\n"), &format!("entity {hall_name}\n"))
        .replace("table Mixed\n", "table Mixed\nkind Hall\n")
        .replace("number", "hall");
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
        for (entity, text) in [("Anyone", &free), (hall_name, &hall), (room_name, &room)] {
            schemas
                .insert(&TableEntity::new("mixed", entity).unwrap().with("Schema", text.as_str()))
                .await
                .unwrap();
        }
        let table = engine.untyped("Mixed").unwrap().create_if_missing().await.unwrap();
        for row in [
            TableEntity::new("a", "Ada").unwrap(),
            TableEntity::new("b", "room_007").unwrap(),
            TableEntity::new("c", "room_008").unwrap().with("EntityType", "Hall"),
            TableEntity::new("e", "Ada").unwrap().with("team", "stored"),
        ] {
            table.insert(&row.with("N", 1)).await.unwrap();
        }
        engine.close().await.unwrap();
    });
    shown(at, "put Mixed d '\u{FFFC}sequence_x' N=1 --store DB");
    let n = ("N", "1");
    for (selection, expected) in [
        ("--partition a", vec![("team", "a"), ("name", "Ada"), n]),
        ("--partition b", vec![("team", "b"), ("number", "7"), n]),
        (&format!("--entity {room_name}"), vec![("team", "b"), ("number", "7"), n]),
        (&format!("--entity {hall_name}"), vec![("team", "c"), ("hall", "8"), ("EntityType", "Hall"), n]),
        ("--partition c --select N", vec![("team", "c"), ("hall", "8"), n]),
        ("--partition d", vec![("PartitionKey", "d"), ("RowKey", "\u{FFFC}sequence_x"), n]),
        ("--partition e", vec![("team", "e"), ("name", "Ada"), n, ("team", "stored")]),
    ] {
        let text = shown(at, &format!("query Mixed {selection} --store DB"));
        assert_eq!(text.lines().count(), 2, "{selection}: {text}");
        let mut found = cells(&text);
        let mut expected = expected;
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{selection}: {text}");
    }
    // A newer release stores the schema of another table.
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap();
        let newer = TableEntity::new("orders", "Order").unwrap().with("Schema", "schema 99\nentity Order\n");
        schemas.insert(&newer).await.unwrap();
        engine.close().await.unwrap();
    });
    let of_a = "--partition a --store DB";
    for command in [
        "get Mixed a Ada --store DB",
        "get Mixed a Ada --raw --store DB",
        &format!("query Mixed {of_a}"),
        &format!("query Mixed {of_a} --output json"),
        &format!("query Mixed --entity Anyone {of_a}"),
        &format!("tail Mixed {of_a}"),
        "describe Mixed --store DB",
    ] {
        assert!(shown(at, command).contains("Ada"), "{command}");
    }
    // Commands that only read the table do not need the newer schema.
    shown(at, "put Orders p 1 N=1 --bypass-derived --store DB");
    for (command, shows) in [
        ("ls --store DB", "Order (schema cannot be read)"),
        ("ls --store DB", "Anyone, Hall, Room"),
        ("check --store DB", "not checked"),
        ("query Orders --partition p --store DB", "N"),
        ("tail Orders --partition p --store DB", "N"),
        ("describe Orders --store DB", "cannot be read"),
        ("export Orders - --store DB", "\"N\""),
        ("export Orders DIR/orders.jsonl --store DB", ""),
    ] {
        let text = shown(at, command);
        assert!(text.contains(shows), "{command}: {text}");
    }
    for command in [
        "query Orders --partition p --newest 1 --store DB",
        "repair Orders --store DB",
        "delete Orders --all --yes --store DB",
    ] {
        let (_, text) = refused(at, command);
        assert!(text.contains("FormatTooNew"), "{command}: {text}");
    }
    let audit = "audit Mixed --store DB";
    assert!(tables(at, audit).0.is_ok(), "{audit}");
}
