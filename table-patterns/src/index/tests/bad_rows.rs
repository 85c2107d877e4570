//! Tests that bad rows do not stop a backfill, check or repair. They have values that no key can contain, properties of wrong types, or unknown types.

use pollster::block_on;
use table_core::Result;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::key::codec::{Alphabet, DerivedPart, Form, Text, TextCodec};
use table_core::key::{EntityKey, PartitionKey, RowKey};
use table_core::name::TableName;
use table_core::operation::{Operation, OperationKind};
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::table::TableStoreExt;
use table_core::transaction::Transaction;
use table_core::{ErrorCode, ValueRef};

use super::kit::{Records, Staff, StaffByLastName, ada};
use crate::EntityStore;
use crate::entities::Entities;
use crate::index::{FindingKind, IndexReport, IndexState};
use crate::tests::faults::{Call, Fault, FaultyStore};

mod before {
    #[derive(table_core::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Staff", crate = table_core)]
    #[partition_key(department)]
    #[row_key("e_", id)]
    pub(super) struct Member {
        #[without('|')]
        pub(super) department: String,
        #[digits(6)]
        pub(super) id: u32,
        pub(super) name: String,
    }
}

#[expect(
    clippy::duplicated_attributes,
    reason = "each index has separate attributes, which clippy mistakes for duplicates"
)]
#[derive(table_core::Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff", crate = table_core)]
#[partition_key(department)]
#[row_key("e_", id)]
#[index(ByName, unique, row_key("name_", name))]
#[index(Names, table = "Names", partition_key("all"), row_key(name, "|", department, "|", id))]
struct Member {
    #[without('|')]
    department: String,
    #[digits(6)]
    id: u32,
    #[without('|')]
    name: String,
}

type Members = Entities<Member, Engine, Records>;
type Verb = fn(&Members, &Member) -> Result<()>;

/// Creates members, two of which have names that no key can contain. Adds a corrupted member, a row of an unknown type, and an invalid index entry.
fn members() -> (Engine, Members) {
    let engine = Engine::in_memory();
    let old = block_on(engine.table::<before::Member>().create_if_missing()).unwrap();
    for (id, name) in [(1, "Ada"), (2, "Sales / Oslo"), (3, &*"x".repeat(700)), (4, "Bob"), (5, "Cy")] {
        block_on(old.insert(&before::Member { department: "S".into(), id, name: name.into() })).unwrap();
    }
    write(&engine, "e_000005", |row| row.property("Name", ValueRef::Int64(5)));
    write(&engine, "e_zzz", |row| row.property("X", ValueRef::Int64(5)));
    write(&engine, "name_Nobody", |row| row.property("X", ValueRef::Int64(5)));
    let members = engine.entities_with_outbox::<Member, _>(Records::default());
    (engine.clone(), block_on(members.create_if_missing()).unwrap())
}

/// Writes a row directly, as another tool would.
fn write(engine: &Engine, row_key: &str, write: impl FnOnce(&mut RowWriter)) {
    let mut row = RowWriter::new();
    write(&mut row);
    let partition_key = PartitionKey::new("S").unwrap();
    let mut transaction = Transaction::new(partition_key, engine.capabilities().limits).unwrap();
    let kind = OperationKind::InsertOrMerge(row.finish());
    transaction.push(Operation { row_key: RowKey::new(row_key).unwrap(), kind }).unwrap();
    block_on(engine.submit(&TableName::new("Staff").unwrap(), transaction)).unwrap();
}

/// Returns the distinct keys of the findings of one kind, in order.
fn found(report: &IndexReport, kind: FindingKind) -> Vec<&str> {
    let of_kind = report.findings.iter().filter(|finding| finding.kind == kind);
    let keys: std::collections::BTreeSet<_> = of_kind.map(|finding| finding.at.row_key.as_str()).collect();
    keys.into_iter().collect()
}

const BAD: [&str; 4] = ["e_000002", "e_000003", "e_000005", "e_zzz"];

#[test]
fn pat_intra_7_rows_that_cannot_be_indexed_are_named_and_stop_no_backfill() {
    let (_, members) = members();
    let built =
        block_on(members.backfill::<MemberByName>().assume_no_older_programs().page(2).run()).unwrap();
    // The dangling entry is removed.
    assert_eq!((found(&built, FindingKind::BadEntity), built.repaired), (BAD.to_vec(), 3));
    assert!(built.findings.iter().all(|finding| finding.repaired || finding.reason.is_some()), "{built:?}");
    let built = block_on(members.backfill::<MemberNames>().assume_no_older_programs().run()).unwrap();
    assert_eq!((found(&built, FindingKind::BadEntity), built.repaired), (BAD.to_vec(), 2));
    let states = block_on(members.states()).unwrap();
    assert_eq!(states, [("ByName", IndexState::Ready), ("Names", IndexState::Ready)]);
    let bob = block_on(members.get(Member::by_name("S", "Bob"))).unwrap();
    assert_eq!(bob.map(|bob| bob.id), Some(4));
}

/// Tests that the index row of an entity that cannot be decoded is reported and kept. The index must become ready nevertheless.
#[test]
fn the_index_row_of_a_garbled_entity_stops_no_backfill() {
    let (engine, members) = members();
    block_on(members.backfill::<MemberByName>().assume_no_older_programs().run()).unwrap();
    write(&engine, "e_000004", |row| row.property("Name", ValueRef::Int64(5)));
    block_on(members.rebuild::<MemberByName>()).unwrap();
    for _ in 0..2 {
        let built = block_on(members.backfill::<MemberByName>().assume_no_older_programs().run()).unwrap();
        assert_eq!(found(&built, FindingKind::Unreadable), ["name_Bob"]);
        assert_eq!(block_on(members.states()).unwrap()[0].1, IndexState::Ready);
        block_on(members.rebuild::<MemberByName>()).unwrap();
    }
}

/// Tests that a backfill removes a list member whose entity was deleted. It must keep a member whose entity cannot be decoded.
#[test]
fn a_garbled_member_of_a_list_keeps_no_dangling_member() {
    block_on(async {
        let engine = Engine::in_memory();
        let people = engine.entities::<Staff>().create_if_missing().await?;
        for id in 1..=3 {
            people.insert(&Staff { id, email: None, ..ada() }).await?;
        }
        let row_key = |id: u32| RowKey::new(format!("empid_{id:06}"));
        let mut others = Transaction::new(PartitionKey::new("Sales")?, engine.capabilities().limits)?;
        let mut garbled = RowWriter::new();
        garbled.property("LastName", ValueRef::Int64(5));
        others
            .push(Operation { row_key: row_key(1)?, kind: OperationKind::InsertOrMerge(garbled.finish()) })?;
        others.push(Operation { row_key: row_key(2)?, kind: OperationKind::Delete(IfMatch::Any) })?;
        engine.submit(&TableName::new("Company")?, others).await?;
        people.rebuild::<StaffByLastName>().await?;
        let built = people.backfill::<StaffByLastName>().assume_no_older_programs().run().await?;
        assert_eq!(found(&built, FindingKind::Unreadable), ["lastname_Lovelace"]);
        assert_eq!((found(&built, FindingKind::Dangling), built.repaired), (vec!["lastname_Lovelace"], 1));
        let again = people.check().run().await?;
        assert!(!found(&again, FindingKind::Dangling).contains(&"lastname_Lovelace"), "{again:?}");
        let keys = people.keys_of(Staff::by_last_name("Sales", "Lovelace")).await?;
        assert_eq!(
            keys,
            [EntityKey::new("Sales", "empid_000001")?, EntityKey::new("Sales", "empid_000003")?]
        );
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

/// Tests that a backfill skips an entity only if the entity itself is bad. After a permanent error of any other read, the index stays *building*.
#[test]
fn a_backfill_that_cannot_read_an_index_row_is_not_complete() {
    let names = ["Ada", "Bob", "Cy"];
    for code in [ErrorCode::InvalidInput, ErrorCode::TableNotFound, ErrorCode::EntityMismatch] {
        for number in 0.. {
            let store = FaultyStore::new(Engine::in_memory());
            let is_complete = block_on(async {
                let old = store.table::<before::Member>().create_if_missing().await?;
                for (id, name) in (1..).zip(names) {
                    old.insert(&before::Member { department: "S".into(), id, name: name.into() }).await?;
                }
                let members = store.entities_with_outbox::<Member, _>(Records::default());
                let members = members.create_if_missing().await?;
                let mut gets = 0;
                store.script(move |call, _| {
                    gets += usize::from(call == Call::Get);
                    let is_due = call == Call::Get && gets == number + 1;
                    if is_due { Fault::Before(code) } else { Fault::None }
                });
                let built = members.backfill::<MemberByName>().assume_no_older_programs().run().await;
                let is_over = store.calls().iter().filter(|call| **call == Call::Get).count() <= number;
                store.heal();
                assert_eq!(
                    members.states().await?[0].1 == IndexState::Ready,
                    built.is_ok(),
                    "{code:?} {number}"
                );
                for name in names.iter().filter(|_| built.is_ok()) {
                    let found = members.get(Member::by_name("S", *name)).await?;
                    assert!(found.is_some(), "{name} after {code:?} of get {number}");
                }
                Ok::<_, table_core::Error>(is_over)
            });
            if is_complete.unwrap() {
                assert!(number > 3, "{number} gets");
                break;
            }
        }
    }
}

#[test]
fn pat_intra_7_a_check_names_bad_rows_and_repairs_the_others() {
    let (engine, members) = members();
    block_on(members.backfill::<MemberByName>().assume_no_older_programs().run()).unwrap();
    block_on(members.backfill::<MemberNames>().assume_no_older_programs().run()).unwrap();
    block_on(
        engine.untyped("Staff").unwrap().delete(&EntityKey::new("S", "name_Bob").unwrap(), IfMatch::Any),
    )
    .unwrap();
    let report = block_on(members.check().repair().run()).unwrap();
    assert_eq!(found(&report, FindingKind::BadEntity), BAD);
    assert_eq!((found(&report, FindingKind::Missing), report.repaired), (vec!["name_Bob"], 1));
    // Another tool corrects the row, and the next check indexes it.
    write(&engine, "e_000005", |row| row.property("Name", ValueRef::String("Cy")));
    let report = block_on(members.check().repair().run()).unwrap();
    assert_eq!(report.repaired, 2);
    assert!(block_on(members.get(Member::by_name("S", "Cy"))).unwrap().is_some());
}

#[test]
fn pat_intra_7_old_rows_stay_writable_under_a_new_index() {
    for id in [2, 3] {
        let good = Member { department: "S".into(), id, name: "Good".into() };
        let all: [(&str, Verb); 5] = [
            ("update", |members, good| {
                let key = Member::key("S", good.id);
                block_on(members.update(key, |member| member.name.clone_from(&good.name))).map(drop)
            }),
            ("patch", |members, good| {
                let patch = members.patch(Member::key("S", good.id)).set(Member::NAME, good.name.clone());
                block_on(patch.send()).map(drop)
            }),
            ("replace", |members, good| block_on(members.replace(good, IfMatch::Any)).map(drop)),
            ("insert or replace", |members, good| block_on(members.insert_or_replace(good)).map(drop)),
            ("delete", |members, good| block_on(members.delete(Member::key("S", good.id), IfMatch::Any))),
        ];
        for (verb, write) in all {
            let (_, members) = members();
            write(&members, &good).unwrap_or_else(|error| panic!("{verb} of {id}: {error}"));
            block_on(members.backfill::<MemberByName>().assume_no_older_programs().run()).unwrap();
            let found = block_on(members.get(Member::by_name("S", "Good"))).unwrap();
            assert_eq!(found.is_some(), verb != "delete", "{verb} of {id}");
        }
        let (_, members) = members();
        let bad = Member { name: "a/b".into(), ..good };
        assert_eq!(block_on(members.replace(&bad, IfMatch::Any)).unwrap_err().code(), ErrorCode::KeyEncoding);
    }
}

#[test]
fn key_8_a_value_that_leaves_no_space_for_a_guard_key_is_refused_on_write() {
    let engine = Engine::in_memory();
    let members = engine.entities_with_outbox::<Member, _>(Records::default());
    let members = block_on(members.create_if_missing()).unwrap();
    // The key of a `Names` entry has nine code units more than the name. The key of its guard has another seven.
    for length in 480..=512 {
        let member = Member { department: "S".into(), id: length, name: "x".repeat(length as usize) };
        let written = block_on(members.insert(&member)).map(drop);
        let refused = written.as_ref().map_err(table_core::Error::rule);
        assert_eq!(refused, if length + 9 + 7 <= 512 { Ok(&()) } else { Err(Some("KEY-8")) }, "{length}");
        if let Err(error) = &written
            && length + 9 <= 512
        {
            assert!(error.to_string().contains("index `Names` is too long"), "{error}");
        }
    }
}

/// The first letter of a name. Its codec panics if the name is empty.
enum Initial {}

impl DerivedPart<String> for Initial {
    const NAME: &'static str = "initial";
    const FORM: Form = Form { min: 1, max: 4, ordered: false, alphabet: Alphabet::LEGAL.without('|') };

    fn encode(name: &String, out: &mut String) -> Result<()> {
        let initial = name.chars().next().expect("a name has a first letter");
        Text::encode_str(&initial.to_string(), out)
    }
}

#[derive(table_core::Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff", schema_name = "Member", crate = table_core)]
#[partition_key(department)]
#[row_key("e_", id)]
#[index(ByInitial, row_key("initial_", derived(Initial, name), "|", id))]
struct Named {
    #[without('|')]
    department: String,
    #[digits(6)]
    id: u32,
    name: String,
}

#[test]
fn pat_intra_7_an_entity_at_which_a_codec_panics_stops_no_backfill_and_no_check() {
    let engine = Engine::in_memory();
    let old = block_on(engine.table::<before::Member>().create_if_missing()).unwrap();
    for (id, name) in [(1, "Ada"), (2, ""), (3, "Bob")] {
        block_on(old.insert(&before::Member { department: "S".into(), id, name: name.into() })).unwrap();
    }
    let named = block_on(engine.entities::<Named>().create_if_missing()).unwrap();
    let built = block_on(named.backfill::<NamedByInitial>().assume_no_older_programs().run()).unwrap();
    assert_eq!((found(&built, FindingKind::BadEntity), built.repaired), (vec!["e_000002"], 2));
    let reason = built.findings.iter().find_map(|finding| finding.reason.as_deref()).unwrap();
    assert!(reason.contains("panicked: a name has a first letter"), "{reason}");
    let checked = block_on(named.check().run()).unwrap();
    assert_eq!(found(&checked, FindingKind::BadEntity), ["e_000002"]);
}

#[test]
fn an_entity_whose_value_no_key_can_contain_has_lost_the_looked_up_value() {
    let (engine, members) = members();
    block_on(members.backfill::<MemberNames>().assume_no_older_programs().run()).unwrap();
    write(&engine, "e_000004", |row| row.property("Name", ValueRef::String("Sales / Oslo")));
    let verified = ["Ada", "Bob"].map(|name| {
        let found = block_on(members.query_eventual(Member::names(name)).collect()).unwrap();
        assert_eq!(found.len(), 1, "{name}");
        block_on(found[0].verify(&members)).unwrap().map(|member| member.id)
    });
    assert_eq!(verified, [Some(1), None]);
}
