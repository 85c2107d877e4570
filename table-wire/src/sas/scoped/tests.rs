//! Tests of scoped views of an embedded engine, with tokens from the signature vectors.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::etag::IfMatch;
use table_core::query::{KeyRange, Position};
use table_core::row::RowWriter;
use table_core::{Clock, Entity, Error, ErrorCode, Operation, OperationKind, PartitionKey, RowKey};

use super::*;
use crate::auth::AccountKey;
use crate::sas::{
    AccessPolicy, AccountPermissions, AccountSas, Lifetime, ResourceTypes, Services, SignedRange,
    StoredAccessPolicy, TablePermissions, TableSas,
};

const KINDS: [&str; 6] = ["insert", "replace", "merge", "insert-or-replace", "insert-or-merge", "delete"];

#[derive(Entity, Clone, Debug)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    age: i32,
}

fn name(name: &str) -> TableName {
    TableName::new(name).unwrap()
}

fn account_key() -> AccountKey {
    AccountKey::new("contoso", "a2V5").unwrap()
}

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_161_600 + seconds, 0).unwrap()
}

/// Returns an engine with a few entities, a verifier, and a handle that moves the verifier's clock. The clock starts at `at(0)`.
fn scene() -> (Engine, SasVerifier, Arc<AtomicI64>) {
    let (engine, hand) = (Engine::in_memory(), Arc::new(AtomicI64::new(0)));
    block_on(async {
        engine.create_table(&name("Company")).await.unwrap();
        engine.create_table(&name("Other")).await.unwrap();
        for (partition, row) in [("A", "4"), ("A", "5"), ("B", "9"), ("C", "2"), ("C", "3"), ("D", "1")] {
            engine.submit(&name("Company"), write("insert", partition, row)).await.unwrap();
        }
    });
    let read = Arc::clone(&hand);
    let clock = Clock::of_instants(move || at(read.load(Ordering::Relaxed)));
    (engine, SasVerifier::new(account_key()).clock(clock), hand)
}

fn write(kind: &str, partition: &str, row: &str) -> Transaction {
    let properties = RowWriter::new().finish();
    let kind = match kind {
        "insert" => OperationKind::Insert(properties),
        "replace" => OperationKind::Replace(properties, IfMatch::Any),
        "merge" => OperationKind::Merge(properties, IfMatch::Any),
        "insert-or-replace" => OperationKind::InsertOrReplace(properties),
        "insert-or-merge" => OperationKind::InsertOrMerge(properties),
        _ => OperationKind::Delete(IfMatch::Any),
    };
    let limits = Engine::in_memory().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new(partition).unwrap(), limits).unwrap();
    transaction.push(Operation { row_key: RowKey::new(row).unwrap(), kind }).unwrap();
    transaction
}

fn sas() -> TableSas {
    TableSas::table(name("company")).lifetime(Lifetime::until(at(3_600)))
}

fn everything() -> TablePermissions {
    TablePermissions::read("raud").unwrap()
}

#[track_caller]
fn refused<T: fmt::Debug>(answer: Result<T>, code: ErrorCode, rule: &str) -> Error {
    let error = answer.expect_err(code.as_str());
    assert_eq!((error.code(), error.rule(), error.code().status()), (code, Some(rule), 403), "{error}");
    error
}

fn key(partition: &str, row: &str) -> EntityKey {
    EntityKey::new(partition, row).unwrap()
}

fn keys<S: TableStore>(store: &S, query: &Query) -> Vec<String> {
    let (mut keys, mut from) = (Vec::new(), None);
    loop {
        let page = block_on(store.query(&name("Company"), query, from.as_ref())).unwrap();
        keys.extend(page.rows.iter().map(|entity| format!("{}{}", entity.partition_key, entity.row_key)));
        from = page.continuation;
        if from.is_none() {
            return keys;
        }
    }
}

#[test]
fn sas_5_and_asas_4_each_operation_needs_its_letters() {
    let needs = |kind: &str| match kind {
        "insert" => "a",
        "replace" | "merge" => "u",
        "delete" => "d",
        _ => "au",
    };
    for letters in ["r", "a", "u", "d", "au", "raud"] {
        let permissions = TablePermissions::read(letters).unwrap();
        let of_account = AccountPermissions::read(letters).unwrap();
        let account =
            AccountSas::new(Services::TABLE, ResourceTypes::OBJECT, of_account, Lifetime::until(at(1)));
        let tokens = [
            (sas().allow(permissions).sign(&account_key()).unwrap(), "SAS-11"),
            (account.sign(&account_key()).unwrap(), "ASAS-5"),
        ];
        for ((token, rule), kind) in tokens.iter().flat_map(|token| KINDS.map(|kind| (token, kind))) {
            let (engine, authority, _) = scene();
            let scoped = authority.scoped(engine, token);
            let row = if kind == "insert" { "new" } else { "4" };
            let answer = block_on(scoped.submit(&name("Company"), write(kind, "A", row)));
            if needs(kind).chars().all(|letter| letters.contains(letter)) {
                answer.unwrap();
            } else {
                let error = refused(answer, ErrorCode::AuthorizationPermissionMismatch, rule);
                assert_eq!(error.operation(), Some(0));
            }
            let read = block_on(scoped.get(&name("Company"), &key("B", "9"), &Select::All));
            assert_eq!(read.is_ok(), letters.contains('r'));
            let query = block_on(scoped.query(&name("Company"), &Query::new(KeyRange::ALL), None));
            assert_eq!(query.is_ok(), letters.contains('r'));
        }
    }
}

#[test]
fn sas_6_and_8_reads_and_writes_stay_inside_the_compound_range() {
    let (engine, authority, _) = scene();
    let range = SignedRange::new(("A", Some("5")), ("C", Some("2"))).unwrap();
    let token = sas().range(range).allow(everything()).sign(&account_key()).unwrap();
    let scoped = authority.scoped(engine.clone(), &token);
    for top in [None, Some(1), Some(2)] {
        assert_eq!(keys(&scoped, &Query { top, ..Query::new(KeyRange::ALL) }), ["A5", "B9", "C2"]);
    }
    assert_eq!(keys(&scoped, &Query::new(KeyRange::partition("C"))), ["C2"]);
    for (partition, row) in [("A", "4"), ("C", "3"), ("D", "1"), ("0", "")] {
        let read = block_on(scoped.get(&name("Company"), &key(partition, row), &Select::All));
        refused(read, ErrorCode::AuthorizationFailure, "SAS-8");
        let written = block_on(scoped.submit(&name("Company"), write("insert-or-replace", partition, row)));
        let error = refused(written, ErrorCode::AuthorizationFailure, "SAS-8");
        assert_eq!((error.key(), error.operation()), (Some((partition, row)), Some(0)));
    }
    assert!(block_on(scoped.get(&name("Company"), &key("B", "9"), &Select::All)).unwrap().is_some());
    assert!(block_on(scoped.get(&name("Company"), &key("B", "nobody"), &Select::All)).unwrap().is_none());
    assert_eq!(keys(&engine, &Query::new(KeyRange::ALL)).len(), 6);
}

/// Tests that a server can pass continuations through. Both the received and the returned continuation belong to the client's query, not to the restricted one.
#[test]
fn sas_8_and_page_6_a_continuation_belongs_to_the_query_of_the_caller() {
    let (engine, authority, _) = scene();
    let range = SignedRange::new(("A", Some("5")), ("C", Some("2"))).unwrap();
    let token = sas().allow(TablePermissions::READ).range(range).sign(&account_key()).unwrap();
    let (view, table) = (authority.scoped(engine.clone(), &token), name("Company"));
    let query = Query { top: Some(1), ..Query::new(KeyRange::ALL) };
    let keys_of = |page: &Page| -> Vec<String> {
        page.rows.iter().map(|entity| format!("{}{}", entity.partition_key, entity.row_key)).collect()
    };
    let (mut found, mut from) = (Vec::new(), None);
    loop {
        let page = block_on(view.query(&table, &query, from.as_ref())).unwrap();
        found.extend(keys_of(&page));
        let Some(next) = page.continuation else { break };
        let position = next.position(&table, &query).unwrap().clone();
        from = Some(Continuation::new(&table, &query, position));
        assert_eq!(block_on(engine.query(&table, &query, from.as_ref())).unwrap().rows.len(), 1);
    }
    assert_eq!(found, ["A5", "B9", "C2"]);
    for (partition, row) in [("A", "4"), ("C", "3"), ("D", "1")] {
        let position = Position { partition_key: partition.to_owned(), row_key: Some(row.to_owned()) };
        let outside = Continuation::new(&table, &query, position);
        let page = block_on(view.query(&table, &query, Some(&outside))).unwrap_or_default();
        assert!(keys_of(&page).iter().all(|key| found.contains(key)), "{partition}{row}: {page:?}");
    }
}

#[test]
fn egt_9_and_sas_8_a_transaction_with_a_key_outside_is_not_applied() {
    let (engine, authority, _) = scene();
    let range = SignedRange::new(("A", Some("5")), ("A", None)).unwrap();
    let token = sas().range(range).allow(everything()).sign(&account_key()).unwrap();
    let mut both = write("insert", "A", "6");
    both.push(Operation {
        row_key: RowKey::new("1").unwrap(),
        kind: OperationKind::Insert(RowWriter::new().finish()),
    })
    .unwrap();
    let answer = block_on(authority.scoped(engine.clone(), &token).submit(&name("Company"), both));
    assert_eq!(refused(answer, ErrorCode::AuthorizationFailure, "SAS-8").operation(), Some(1));
    assert_eq!(keys(&engine, &Query::new(KeyRange::partition("A"))), ["A4", "A5"]);
}

#[test]
fn sas_11_the_lifetime_follows_the_clock() {
    let (engine, authority, hand) = scene();
    let lifetime = Lifetime::until(at(20)).starting(at(10));
    let token = sas().lifetime(lifetime).allow(everything()).sign(&account_key()).unwrap();
    let scoped = authority.scoped(engine, &token);
    for (now, valid) in [(9, false), (10, true), (19, true), (20, false)] {
        hand.store(now, Ordering::Relaxed);
        let read = block_on(scoped.get(&name("Company"), &key("A", "4"), &Select::All));
        if valid {
            assert!(read.unwrap().is_some());
        } else {
            refused(read, ErrorCode::AuthenticationFailed, "SAS-11");
        }
    }
    let hour = Lifetime::valid_for(at(0), TimeDelta::hours(1).to_std().unwrap());
    assert_eq!((hour.start, hour.expiry), (Some(at(-900)), at(3_600)));
}

#[test]
fn sas_11_only_the_text_signed_by_the_account_is_accepted() {
    let (_, authority, _) = scene();
    let token = sas().allow(TablePermissions::READ).sign(&account_key()).unwrap();
    assert!(authority.verify(&token).is_ok());
    let text = token.query_string();
    for (from, to) in
        [("sp=r", "sp=rd"), ("tn=company", "tn=other"), ("se=2026", "se=2036"), ("sig=", "sig=A")]
    {
        let altered: SasToken = text.replace(from, to).parse().unwrap();
        let error = refused(authority.verify(&altered), ErrorCode::AuthenticationFailed, "SAS-11");
        assert!(!format!("{error:?} {altered:?}").contains(token.0.get("sig")));
    }
    let added: SasToken = format!("{text}&spk=A").parse().unwrap();
    refused(authority.verify(&added), ErrorCode::AuthenticationFailed, "SAS-11");
    let other = AccountKey::new("contoso", "b3RoZXI=").unwrap();
    refused(SasVerifier::new(other.clone()).verify(&token), ErrorCode::AuthenticationFailed, "SAS-11");
    let clock = Clock::of_instants(|| at(0));
    assert!(SasVerifier::new(other).or_key(account_key()).clock(clock).verify(&token).is_ok(), "AUTH-11");
}

#[test]
fn sas_11_another_table_is_refused_in_any_case() {
    let (engine, authority, _) = scene();
    let scoped = authority.scoped(engine, &sas().allow(everything()).sign(&account_key()).unwrap());
    let read = block_on(scoped.get(&name("Other"), &key("A", "4"), &Select::All));
    assert_eq!(refused(read, ErrorCode::AuthorizationFailure, "SAS-11").table(), Some("Other"));
    assert!(block_on(scoped.get(&name("COMPANY"), &key("A", "4"), &Select::All)).is_ok());
}

#[test]
fn sas_5_and_asas_4_operations_on_tables() {
    let table = sas().allow(everything()).sign(&account_key()).unwrap();
    let account = |types, letters| {
        let permissions = AccountPermissions::read(letters).unwrap();
        AccountSas::new(Services::TABLE, types, permissions, Lifetime::until(at(1)))
            .sign(&account_key())
            .unwrap()
    };
    let attempt = |token: &SasToken| {
        let (engine, authority, _) = scene();
        let scoped = authority.scoped(engine, token);
        block_on(async {
            let create = scoped.create_table(&name("New")).await;
            let list = scoped.list_tables("", None, 10).await.map(|_| ());
            let delete = scoped.delete_table(&name("Other")).await;
            [create, list, delete]
        })
    };
    for answer in attempt(&table) {
        refused(answer, ErrorCode::AuthorizationFailure, "SAS-5");
    }
    for answer in attempt(&account(ResourceTypes::OBJECT, "rwdlacu")) {
        refused(answer, ErrorCode::AuthorizationResourceTypeMismatch, "ASAS-5");
    }
    for (letters, permitted) in [
        ("w", [true, false, false]),
        ("c", [true, false, false]),
        ("l", [false, true, false]),
        ("d", [false, false, true]),
        ("rau", [false; 3]),
    ] {
        assert_eq!(
            attempt(&account(ResourceTypes::CONTAINER, letters)).map(|answer| answer.is_ok()),
            permitted
        );
    }
    let (engine, authority, _) = scene();
    let queues = AccountSas::new(
        Services::QUEUE,
        ResourceTypes::OBJECT,
        AccountPermissions::READ,
        Lifetime::until(at(1)),
    );
    let scoped = authority.scoped(engine, &queues.sign(&account_key()).unwrap());
    let read = block_on(scoped.get(&name("Company"), &key("A", "4"), &Select::All));
    refused(read, ErrorCode::AuthorizationServiceMismatch, "ASAS-5");
}

#[test]
fn sas_10_and_acl_4_a_policy_supplies_what_the_token_omits() {
    let (engine, authority, _) = scene();
    let policy = |policy| StoredAccessPolicy::new("readers", policy).unwrap();
    let readers =
        AccessPolicy { expiry: Some(at(60)), permissions: Some(TablePermissions::READ), start: None };
    let token = TableSas::table(name("Company")).policy("readers").sign(&account_key()).unwrap();
    let scoped = authority.scoped(engine, &token);
    let read = || block_on(scoped.get(&name("Company"), &key("A", "4"), &Select::All));
    refused(read(), ErrorCode::AuthenticationFailed, "ACL-4");
    authority.set_policies(&name("company"), vec![policy(readers)]).unwrap();
    assert!(read().unwrap().is_some());
    let half = AccessPolicy { expiry: None, ..readers };
    authority.set_policies(&name("Company"), vec![policy(half)]).unwrap();
    refused(read(), ErrorCode::AuthenticationFailed, "SAS-10");
    authority.set_policies(&name("Company"), Vec::new()).unwrap();
    refused(read(), ErrorCode::AuthenticationFailed, "ACL-4");

    authority.set_policies(&name("Company"), vec![policy(readers)]).unwrap();
    let twice = sas().policy("readers").sign(&account_key()).unwrap();
    refused(authority.verify(&twice), ErrorCode::AuthenticationFailed, "SAS-10");
    let nothing = TableSas::table(name("Company")).allow(everything()).sign(&account_key());
    assert_eq!(nothing.unwrap_err().rule(), Some("SAS-10"));
}

#[test]
fn sas_7_a_row_needs_its_partition() {
    let (_, authority, _) = scene();
    let mut parameters = sas().allow(everything()).sign(&account_key()).unwrap().0;
    let text = parameters.write();
    parameters = crate::sas::parameters::Parameters::read(text.split("&sig=").next().unwrap()).unwrap();
    parameters.put("srk", "5");
    parameters.put("sig", account_key().sign(&parameters.string_to_sign_of_table("contoso").unwrap()));
    refused(authority.verify(&SasToken(parameters)), ErrorCode::AuthenticationFailed, "SAS-7");
}

/// Tests that a typed selection becomes a signed range. Each user then sees only their own entities (IMP-4).
#[test]
fn sas_6_typed_selections_become_signed_ranges() {
    let spans = |sas: Result<TableSas>| {
        let token =
            sas.unwrap().allow(everything()).lifetime(Lifetime::until(at(9))).sign(&account_key()).unwrap();
        ["spk", "srk", "epk", "erk"].map(|name| token.0.find(name).unwrap_or("-").to_owned())
    };
    let rows = spans(TableSas::selection(Employee::rows("Sales").id(100..=199)));
    assert_eq!(rows, ["Sales", "empid_000100", "Sales", "empid_000199"]);
    let point = spans(TableSas::selection(Employee::key("Sales", 7)));
    assert_eq!(point, ["Sales", "empid_000007", "Sales", "empid_000007"]);
    // The range contains every row of the entity type, but no other row in the partition.
    let entity = spans(TableSas::selection(Employee::rows("Sales")));
    assert_eq!(entity, ["Sales", "empid_", "Sales", "empid_\u{FFFD}"]);
    assert_eq!(spans(TableSas::selection(Employee::partition("Sales"))), ["Sales", "-", "Sales", "-"]);
    assert_eq!(spans(TableSas::selection(Employee::scan("for a token"))), ["-"; 4]);
    assert_eq!(spans(TableSas::of::<Employee>()), ["-"; 4]);
}
