//! Tests `check`, `repair` and `poison`. Defects described by the stored schema are repaired as the user's program would repair them. For all other defects,
//! the command is refused with the reason.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{block_on, refused, shown, tables};
use table_core::{Engine, TableEntity, TableStoreExt};
use table_patterns::{Entity, EntityStore as _, KeyPart};
use tables_cli::Exit;

#[derive(Clone, Copy, Debug, KeyPart, PartialEq)]
enum Grade {
    #[key_part("j")]
    Junior,
    Senior,
}

#[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", crate = table_patterns)]
#[partition_key(department)]
#[row_key("empid_", id)]
#[index(ByEmail, unique, row_key("email_", email))]
#[index(ByAge, row_key("age_", age, "_", id), include(email))]
#[index(ByGrade, row_key("grade_", grade, "_", id))]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    email: String,
    #[digits(3)]
    age: u8,
    grade: Option<Grade>,
}

fn employee(id: u32) -> Employee {
    let grade = [None, Some(Grade::Junior), Some(Grade::Senior)][id as usize % 3];
    Employee { department: "Sales".to_owned(), id, email: format!("n{id}@contoso.com"), age: 30, grade }
}

fn write(at: &Path) {
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let employees = engine.entities::<Employee>().create_if_missing().await.unwrap();
        for id in 0..6 {
            employees.insert(&employee(id)).await.unwrap();
        }
        engine.close().await.unwrap();
    });
}

/// Runs the user program's check, and returns the number of findings.
fn found_by_the_program(at: &Path) -> u64 {
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let employees = engine.entities::<Employee>().create_if_missing().await.unwrap();
        let report = employees.check().run().await.unwrap();
        drop(employees);
        engine.close().await.unwrap();
        report.found
    })
}

#[test]
fn rows_without_index_rows_are_not_copied_into_a_table_with_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at);
    shown(at, "put Company Sales empid_000009 Email=n9@contoso.com Age=41 --store DIR/plain");
    for line in
        ["copy Company --partition Sales --store DIR/plain --to DB", "copy Company --store DIR/plain --to DB"]
    {
        let (_, text) = refused(at, line);
        assert!(
            text.contains(
                "declares index ByAge, index ByEmail, index ByGrade; plain rows would leave these wrong"
            ),
            "{text}"
        );
        assert!(text.contains("pass `--bypass-derived`"), "{text}");
    }
    assert_eq!(found_by_the_program(at), 0);
    shown(at, "copy Company --store DIR/plain --to DB --bypass-derived --no-verify");
    assert_eq!(found_by_the_program(at), 2);
    // An entire table is copied together with its index rows, even to a store that has the schema with the indexes.
    shown(at, "copy --store DB --to DIR/other");
    shown(at, "copy Company --store DB --to DIR/other");
}

#[test]
fn indexes_in_the_partition_are_checked_and_repaired_as_the_program_would() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at);
    insta::assert_snapshot!(shown(at, "check Company --store DB"), @r"
    table    entity    pattern        state  detail
    Company  Employee  index ByAge    ok     6 entities, 6 index rows
    Company  Employee  index ByEmail  ok     6 entities, 6 index rows
    Company  Employee  index ByGrade  ok     6 entities, 4 index rows
    ");
    // Other tools delete one index row, change a second index row, and delete the entity of a third index row.
    shown(at, "delete Company --row email_n1@contoso.com --bypass-derived --store DB");
    shown(at, "put Company Sales age_030_000002 Email=other --bypass-derived --store DB");
    shown(at, "put Company Sales email_gone@contoso.com Id=77 --bypass-derived --store DB");
    shown(at, "delete Company --row grade_j_000004 --bypass-derived --store DB");
    let (exit, text) = tables(at, "check Company --store DB");
    assert!(exit.is_err_and(|failure| failure.exit() == Exit::Refused), "{text}");
    for fault in [
        "n1@contoso.com') missing",
        "age_030_000002') different",
        "grade_j_000004') missing",
        "gone@contoso.com') orphaned",
    ] {
        assert!(text.contains(fault), "{fault}: {text}");
    }
    assert_eq!(found_by_the_program(at), 4);
    let text = shown(at, "repair Company --dry-run --store DB");
    assert!(text.contains("would repair 2") && text.contains("would repair 1"), "{text}");
    shown(at, "repair Company --store DB");
    assert_eq!(found_by_the_program(at), 0);
    shown(at, "check Company --store DB");
    assert!(matches!(tables(at, "repair Company --store DB").0, Ok(Exit::Nothing)));
}

#[test]
fn a_value_taken_by_another_entity_is_left_to_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at);
    shown(at, "patch Company Sales empid_000003 Email=n4@contoso.com --bypass-derived --store DB");
    let (exit, text) = tables(at, "repair Company --index ByEmail --store DB");
    assert!(
        exit.is_err() && text.contains("('Sales', 'email_n4@contoso.com') taken by another entity"),
        "{text}"
    );
}

mod encoded {
    //! Tests indexes over encoded strings.

    use super::*;

    #[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
    #[derive(Clone, Debug, Entity, PartialEq)]
    #[entity(table = "Customers", crate = table_patterns)]
    #[partition_key(tenant)]
    #[row_key("customer_", id)]
    #[index(ByEmail, unique, row_key("email_", folded(lower, email)))]
    #[index(ByLogin, unique, row_key("login_", folded(upper, percent(login))))]
    #[index(ByName, row_key("name_", escaped(name), "!", id))]
    #[index(ByNick, row_key("nick_", folded(lower, escaped(nick)), "!", id), include(login))]
    #[index(ByPath, unique, row_key("path_", percent(path)))]
    struct Customer {
        tenant: String,
        #[digits(4)]
        id: u32,
        email: String,
        login: String,
        name: Option<String>,
        nick: String,
        path: String,
    }

    fn customer(id: u32, word: &str) -> Customer {
        Customer {
            tenant: "contoso".to_owned(),
            id,
            email: format!("Ada{id}@Contoso.com"),
            login: format!("{word}/{id}"),
            name: id.is_multiple_of(2).then(|| word.to_owned()),
            nick: word.to_owned(),
            path: format!("/{word}#{id}"),
        }
    }

    #[test]
    fn indexes_over_encoded_strings_are_checked_and_repaired_as_the_program_would() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let words = ["Ada", "a/b?", "Ü! ", "", "Éß_#"];
        block_on(async {
            let engine = Engine::open(at.join("db")).unwrap();
            let customers = engine.entities::<Customer>().create_if_missing().await.unwrap();
            for (id, word) in (0..).zip(words) {
                customers.insert(&customer(id, word)).await.unwrap();
            }
            engine.close().await.unwrap();
        });
        insta::assert_snapshot!(shown(at, "check Customers --store DB"), @r"
        table      entity    pattern        state  detail
        Customers  Customer  index ByEmail  ok     5 entities, 5 index rows
        Customers  Customer  index ByLogin  ok     5 entities, 5 index rows
        Customers  Customer  index ByName   ok     5 entities, 3 index rows
        Customers  Customer  index ByNick   ok     5 entities, 5 index rows
        Customers  Customer  index ByPath   ok     5 entities, 5 index rows
        ");
        shown(at, "delete Customers --row name_Ada!0000 --bypass-derived --store DB");
        shown(at, "delete Customers --row nick_ada!0000 --bypass-derived --store DB");
        shown(at, "put Customers contoso email_gone@contoso.com Id=77 --bypass-derived --store DB");
        let (exit, text) = tables(at, "check Customers --store DB");
        assert!(exit.is_err_and(|failure| failure.exit() == Exit::Refused), "{text}");
        for fault in ["name_Ada!0000') missing", "nick_ada!0000') missing", "gone@contoso.com') orphaned"] {
            assert!(text.contains(fault), "{fault}: {text}");
        }
        shown(at, "repair Customers --store DB");
        let found = block_on(async {
            let engine = Engine::open(at.join("db")).unwrap();
            let customers = engine.entities::<Customer>().create_if_missing().await.unwrap();
            let report = customers.check().run().await.unwrap();
            drop(customers);
            engine.close().await.unwrap();
            report.found
        });
        assert_eq!(found, 0);
    }
}

mod unknown {
    //! Tests derived rows that only the user's program can maintain, not this tool.

    use super::*;

    #[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
    #[derive(Clone, Debug, Entity, PartialEq)]
    #[entity(table = "People", crate = table_patterns, feed)]
    #[partition_key(team)]
    #[row_key("id_", id)]
    #[index(ByName, row_key("name_", hash(crc32, 8, name), "_", id))]
    #[index(Adults, row_key("adult_", id), when = Person::is_adult)]
    #[index(Directory, partition_key("name_", team), row_key(id))]
    #[index_entity(Namesakes, at_most = 100, row_key("namesakes_", escaped(name)))]
    pub(super) struct Person {
        team: String,
        #[digits(4)]
        id: u32,
        name: String,
    }

    impl Person {
        fn is_adult(&self) -> bool {
            self.id > 18
        }
    }

    #[test]
    fn repairs_that_need_the_program_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        block_on(async {
            let engine = Engine::open(at.join("db")).unwrap();
            engine.table::<Person>().create_if_missing().await.unwrap();
            engine.close().await.unwrap();
        });
        let text = shown(at, "check People --store DB -o csv");
        let (exit, repaired) = tables(at, "repair People --store DB");
        assert!(exit.is_err_and(|failure| failure.to_string().contains("5 items not repaired")));
        for (pattern, reason) in [
            ("index ByName", "only the program knows the codec `hash(crc32,8,text)`"),
            ("index Adults", "of the program selects its entities"),
            ("index Directory", "its rows in other partitions follow later"),
            ("index Namesakes", "the members of a list are written by the program's type"),
            ("feed", "the entries of a feed are numbered"),
        ] {
            let line = text.lines().find(|line| line.contains(pattern)).unwrap_or_default();
            assert!(line.contains("not checked") && line.contains(reason), "{pattern}: {text}");
            assert!(repaired.contains(reason), "{pattern}: {repaired}");
        }
        let (_, text) = refused(at, "put People a id_0001 Name=x --store DB");
        assert!(text.contains("declares index Adults"), "{text}");
    }
}

#[test]
fn intents_that_were_set_aside_are_listed_requeued_and_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (row, intent) in [("poison_1", "AQ=="), ("poison_2", "Ag=="), ("outbox_3", "Aw==")] {
        let properties = format!("Intent:Binary={intent} Attempts:Int64=5 'Error=no answer'");
        shown(at, &format!("put Orders Sales '\u{FFFC}{row}' {properties} --store DB"));
    }
    let text = shown(at, "poison Orders --store DB -o csv");
    assert!(text.contains(",5,no answer\n") && text.lines().count() == 3, "{text}");
    assert!(refused(at, "check Orders --store DB").1.contains("2 faults"));
    let one = "poison Orders --row '\u{FFFC}poison_1' --store DB";
    assert_eq!(shown(at, &format!("{one} --requeue")), "requeued 1 intent\n");
    assert!(matches!(tables(at, one).0, Ok(Exit::Nothing)));
    assert!(refused(at, "poison Orders --discard --store DB").1.contains("pass `--yes`"));
    assert_eq!(shown(at, "poison Orders --discard --yes --store DB"), "discarded 1 intent\n");
    let text = shown(at, "get Orders Sales '\u{FFFC}outbox_1' --store DB -o json");
    let row: TableEntity = serde_json::from_str(&text).unwrap();
    assert_eq!((row.get("Attempts"), row.get("Intent")), (None, Some(&vec![1_u8].into())));
    assert!(row.get("Version").is_some(), "the version of the change is kept");
}

#[test]
fn keys_are_shown_as_stored_if_the_schema_of_an_index_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "text 0..512 ordered legal";
    let person =
        format!("schema 1\nentity Person\ntable People\nPartitionKey team {text}\nRowKey name {text}\n");
    // The schema declares an index in the table, and has a line that only later releases can read.
    let visitor = format!(
        "schema 1\nentity Visitor\ntable Visitors\nPartitionKey visitor {text}\nindex ByCity copies\nindex ByCity table People\nlater\n"
    );
    block_on(async {
        let engine = Engine::open(at.join("db")).unwrap();
        let schemas = engine.untyped(table_core::table::LAYOUTS).unwrap().create_if_missing().await.unwrap();
        for (table, entity, text) in [("people", "Person", &person), ("visitors", "Visitor", &visitor)] {
            schemas
                .insert(&TableEntity::new(table, entity).unwrap().with("Schema", text.as_str()))
                .await
                .unwrap();
        }
        let people = engine.untyped("People").unwrap().create_if_missing().await.unwrap();
        people.insert(&TableEntity::new("cities", "city_Rome_ada").unwrap()).await.unwrap();
        engine.close().await.unwrap();
    });
    for line in [
        "get People cities city_Rome_ada",
        "query People --partition cities",
        "tail People --partition cities",
        "describe People",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
        let done = command.current_dir(at).args(line.split(' ')).args(["--store", "db"]).output().unwrap();
        let (out, note) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
        let header = out.lines().find(|line| line.starts_with("PartitionKey  "));
        assert!(header.is_some_and(|header| header.contains("RowKey")), "{line}: {out}{note}");
        assert!(note.contains("note: the schema of Visitor in visitors cannot be read"), "{line}: {note}");
        assert_eq!(note.lines().count(), 1, "{line}: {note}");
        // Output for programs contains the stored keys and needs no schema.
        let json = shown(at, &format!("{line} --store DB --output json"));
        assert!(json.contains("city_Rome_ada") || line.starts_with("describe"), "{line}: {json}");
    }
    let (exit, message) = refused(at, "query People --entity Person --store DB");
    assert!(exit != Exit::Done && message.contains("`later`"), "{exit:?} {message}");
}

#[expect(clippy::duplicated_attributes, reason = "each index has separate attributes")]
#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Accounts", crate = table_patterns)]
#[partition_key(owner)]
#[row_key("account_", desc(digits(6, signed, rank)), "_", id)]
#[index(
    ByBalance,
    row_key("balance_", digits(6, signed, balance), "_", id, "_", desc(digits(6, signed, rank)))
)]
#[index(
    ByDebt,
    row_key("debt_", desc(digits(6, signed, balance)), "_", id, "_", desc(digits(6, signed, rank)))
)]
struct Account {
    owner: String,
    #[digits(6)]
    id: u32,
    rank: i32,
    balance: i32,
}

#[test]
fn signed_digits_are_read_and_written_as_the_program_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let write = async || {
        let engine = Engine::open(at.join("db")).unwrap();
        let accounts = engine.entities::<Account>().create_if_missing().await.unwrap();
        for (id, balance) in (0..).zip([-999_999, -10, -5, 0, 5, 999_999]) {
            accounts.insert(&Account { owner: "ada".to_owned(), id, rank: -balance, balance }).await.unwrap();
        }
        engine.close().await.unwrap();
    };
    block_on(write());
    let (exit, text) = tables(at, "check Accounts --store DB");
    assert!(exit.is_ok() && text.matches("6 entities, 6 index rows").count() == 2, "{text}");
    for (condition, ids) in [("rank=5", "2"), ("rank=-5", "4"), ("rank=0", "3"), ("rank=-999999..-1", "45")] {
        let text = shown(at, &format!("query Accounts owner=ada {condition} --store DB"));
        let mut found: Vec<_> =
            text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect();
        found.sort_unstable();
        assert_eq!(found.concat(), ids, "{condition}: {text}");
    }
    // Another tool deletes one index row of each index.
    shown(at, "delete Accounts --row balance_-999994_000002_-999994 --bypass-derived --store DB");
    shown(at, "delete Accounts --row debt_-999994_000004_0000005 --bypass-derived --store DB");
    shown(at, "repair Accounts --store DB");
    let (exit, text) = tables(at, "check Accounts --store DB");
    assert!(exit.is_ok() && text.matches("6 entities, 6 index rows").count() == 2, "{text}");
}
