//! Tests of two entity types whose index entries in another partition would have the same keys.

mod answers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::name::TableName;
use table_core::store::TableStore;
use table_core::{Entity, ErrorCode};

use super::kit::Records;
use crate::EntityStore;
use crate::entities::Entities;
use crate::tests::faults::{Fault, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Customers")]
#[partition_key(tenant)]
#[row_key("c_", id)]
#[index(Emails, unique, table = "Emails", partition_key("email"), row_key(email))]
struct Customer {
    tenant: String,
    #[digits(6)]
    id: u32,
    email: String,
}

/// A supplier. Its index entries have the same keys as the index entries of customers.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Suppliers")]
#[partition_key(tenant)]
#[row_key("s_", id)]
#[index(Emails, unique, table = "Emails", partition_key("email"), row_key(email))]
struct Supplier {
    tenant: String,
    #[digits(6)]
    id: u32,
    email: String,
}

/// A partner. Its index entries are in the same table as those of customers, but their keys begin with a different literal.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Partners")]
#[partition_key(tenant)]
#[row_key("p_", id)]
#[index(Emails, unique, table = "Emails", partition_key("partner"), row_key(email))]
struct Partner {
    tenant: String,
    #[digits(6)]
    id: u32,
    email: String,
}

/// A visitor, in the same table as customers. Its index entries are in the table of e-mail addresses. Their `PartitionKey` does not begin with a literal.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Customers")]
#[partition_key(tenant)]
#[row_key("v_", id)]
#[index(Mails, table = "Emails", partition_key(email), row_key("all_", tenant, "|", id))]
struct Visitor {
    #[without('|')]
    tenant: String,
    #[digits(6)]
    id: u32,
    email: String,
}

/// A shop with two indexes. The keys of the second one, in the order of the tables' names, belong to customers.
#[expect(clippy::duplicated_attributes, reason = "its indexes share attributes")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shops")]
#[partition_key(tenant)]
#[row_key("shop_", id)]
#[index(Cities, unique, table = "Cities", partition_key("city"), row_key(city))]
#[index(Emails, unique, table = "Emails", partition_key("email"), row_key(email))]
struct Shop {
    tenant: String,
    #[digits(6)]
    id: u32,
    city: String,
    email: String,
}

mod branch {
    /// A customer of a branch. This type and its index have the same names as the other `Customer` type and its index, but the keys of the index begin with a
    /// different literal.
    #[derive(table_core::Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Branches")]
    #[partition_key(tenant)]
    #[row_key("c_", id)]
    #[index(Emails, unique, table = "Emails", partition_key("branch"), row_key(email))]
    pub(super) struct Customer {
        tenant: String,
        #[digits(6)]
        id: u32,
        email: String,
    }
}

/// A guest of a branch. Its index entries have the same keys as those of a branch's customers.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Guests")]
#[partition_key(tenant)]
#[row_key("g_", id)]
#[index(Emails, unique, table = "Emails", partition_key("branch"), row_key(email))]
struct Guest {
    tenant: String,
    #[digits(6)]
    id: u32,
    email: String,
}

fn open<E: Entity + Send + Sync>(engine: &Engine) -> table_core::Result<Entities<E, Engine, Records>> {
    block_on(engine.entities_with_outbox::<E, _>(Records::default()).create_if_missing())
}

/// Opens the tables of a type that must be refused. Returns the error. No table may be created.
fn refused<E: Entity + Send + Sync>(engine: &Engine) -> table_core::Error {
    let tables = || block_on(engine.list_tables("", None, 100)).unwrap().names;
    let before = tables();
    let error = open::<E>(engine).unwrap_err();
    assert_eq!(tables(), before);
    error
}

#[test]
fn pat_inter_3_a_second_type_with_the_keys_of_an_index_is_refused_with_both_names() {
    let engine = Engine::in_memory();
    open::<Customer>(&engine).unwrap();
    let error = refused::<Supplier>(&engine);
    assert_eq!((error.code(), error.table()), (ErrorCode::SchemaMismatch, Some("Emails")));
    let text = error.to_string();
    assert!(text.contains("`Customer.Emails`") && text.contains("`Supplier.Emails`"), "{text}");
    open::<Partner>(&engine).unwrap();
    assert_eq!(refused::<Visitor>(&engine).code(), ErrorCode::SchemaMismatch);
    assert_eq!(refused::<Shop>(&engine).code(), ErrorCode::SchemaMismatch);
    open::<Customer>(&engine).unwrap();
}

#[test]
fn pat_inter_3_two_types_of_one_name_keep_both_claims() {
    for is_reversed in [false, true] {
        let engine = Engine::in_memory();
        for _ in 0..2 {
            if is_reversed {
                open::<branch::Customer>(&engine).unwrap();
                open::<Customer>(&engine).unwrap();
            } else {
                open::<Customer>(&engine).unwrap();
                open::<branch::Customer>(&engine).unwrap();
            }
            for error in [refused::<Supplier>(&engine), refused::<Guest>(&engine)] {
                assert_eq!(error.code(), ErrorCode::SchemaMismatch);
            }
        }
        open::<Partner>(&engine).unwrap();
    }
}

#[test]
fn pat_inter_3_the_same_type_over_another_table_is_refused_too() {
    let engine = Engine::in_memory();
    open::<Customer>(&engine).unwrap();
    let other = table_core::Table::new(engine.clone(), TableName::new("CustomersOfTheOtherFirm").unwrap());
    let other: Entities<Customer, _, _> = crate::entity_store::handle(other, Records::default());
    assert_eq!(block_on(other.create_if_missing()).unwrap_err().code(), ErrorCode::SchemaMismatch);
    assert_eq!(block_on(engine.list_tables("CustomersOf", None, 10)).unwrap().names, []);
}

#[test]
fn pat_inter_3_one_of_two_types_opened_at_once_is_refused() {
    for _ in 0..20 {
        let engine = Engine::in_memory();
        let (customer, supplier) = std::thread::scope(|scope| {
            let one = scope.spawn(|| open::<Customer>(&engine).is_ok());
            let other = scope.spawn(|| open::<Supplier>(&engine).is_ok());
            (one.join().unwrap(), other.join().unwrap())
        });
        assert!(customer != supplier);
        // When later programs open the table, the keys still belong to the same type.
        assert_eq!(
            (open::<Customer>(&engine).is_ok(), open::<Supplier>(&engine).is_ok()),
            (customer, supplier)
        );
    }
}

#[test]
fn pat_inter_3_a_deleted_index_table_is_free() {
    let engine = Engine::in_memory();
    open::<Customer>(&engine).unwrap();
    let emails = table_core::table::TableStoreExt::untyped(&engine, "Emails").unwrap();
    block_on(emails.delete_table()).unwrap();
    open::<Supplier>(&engine).unwrap();
    assert!(open::<Customer>(&engine).is_err());
    assert!(block_on(engine.list_tables("Emails", None, 10)).unwrap().names.len() == 1);
}

#[test]
fn pat_inter_3_a_deleted_index_table_is_free_whichever_request_of_its_new_owner_fails() {
    for is_lost in [false, true] {
        for number in 0.. {
            let engine = Engine::in_memory();
            open::<Customer>(&engine).unwrap();
            let emails = table_core::table::TableStoreExt::untyped(&engine, "Emails").unwrap();
            block_on(emails.delete_table()).unwrap();
            let store = FaultyStore::new(engine.clone());
            store.script(move |_, at| match is_lost {
                _ if at != number => Fault::None,
                false => Fault::Before(ErrorCode::ServerBusy),
                true => Fault::After(ErrorCode::ServerBusy),
            });
            let supplier = store.entities_with_outbox::<Supplier, _>(Records::default());
            let is_open = block_on(supplier.create_if_missing()).is_ok();
            let opened = open::<Supplier>(&engine);
            assert!(opened.is_ok(), "request {number}: {}", opened.unwrap_err());
            assert!(open::<Customer>(&engine).is_err(), "request {number}");
            if is_open {
                assert!(number > 5, "only {number} requests");
                break;
            }
        }
    }
}

/// Opens the tables of a type through a store in which the request with the given number fails. Returns `true` if the type was opened.
fn opens_with_fault<E: Entity + Send + Sync>(engine: &Engine, number: usize, is_lost: bool) -> bool {
    let store = FaultyStore::new(engine.clone());
    store.script(move |_, at| match is_lost {
        _ if at != number => Fault::None,
        false => Fault::Before(ErrorCode::ServerBusy),
        true => Fault::After(ErrorCode::ServerBusy),
    });
    let entities = store.entities_with_outbox::<E, _>(Records::default());
    block_on(entities.create_if_missing()).is_ok()
}

/// Tests claims to a table that was deleted without `Table::delete_table`. That function would also have deleted the claims.
#[test]
fn pat_inter_3_claims_to_an_earlier_table_refuse_no_program_whichever_request_fails() {
    for is_lost in [false, true] {
        for number in 0.. {
            let engine = Engine::in_memory();
            open::<Customer>(&engine).unwrap();
            block_on(engine.delete_table(&TableName::new("Emails").unwrap())).unwrap();
            let is_open = opens_with_fault::<Supplier>(&engine, number, is_lost);
            let opened = open::<Supplier>(&engine);
            assert!(opened.is_ok(), "request {number}: {}", opened.unwrap_err());
            assert!(open::<Customer>(&engine).is_err(), "request {number}");
            if is_open && number > 20 {
                break;
            }
        }
    }
}

/// Tests that claims to a deleted table are void for all types. The first type that opens the table's successor may claim other keys.
#[test]
fn pat_inter_3_claims_to_an_earlier_table_end_with_the_first_opening_of_its_successor() {
    for is_lost in [false, true] {
        for number in 0..20 {
            let engine = Engine::in_memory();
            open::<Customer>(&engine).unwrap();
            block_on(engine.delete_table(&TableName::new("Emails").unwrap())).unwrap();
            opens_with_fault::<Partner>(&engine, number, is_lost);
            let opened = open::<Supplier>(&engine);
            assert!(opened.is_ok(), "request {number}: {}", opened.unwrap_err());
            open::<Partner>(&engine).unwrap();
            assert!(open::<Customer>(&engine).is_err(), "request {number}");
        }
    }
}

#[test]
fn pat_inter_3_two_programs_open_the_successor_of_a_deleted_table_at_once() {
    for _ in 0..20 {
        let engine = Engine::in_memory();
        open::<Customer>(&engine).unwrap();
        block_on(engine.delete_table(&TableName::new("Emails").unwrap())).unwrap();
        std::thread::scope(|scope| {
            for opened in [(); 3].map(|()| scope.spawn(|| open::<Supplier>(&engine).map(drop))) {
                opened.join().unwrap().unwrap();
            }
        });
        assert!(open::<Customer>(&engine).is_err());
    }
}

/// Tests two programs that open the successor of a deleted table, in every order of their requests. One of them or a third program creates the table.
#[test]
fn pat_inter_3_one_of_two_types_that_open_the_successor_of_a_deleted_table_is_refused() {
    for (number, is_created) in (0..20).flat_map(|number| [(number, false), (number, true)]) {
        let engine = Engine::in_memory();
        open::<Partner>(&engine).unwrap();
        open::<Customer>(&engine).unwrap();
        let emails = TableName::new("Emails").unwrap();
        block_on(engine.delete_table(&emails)).unwrap();
        let (store, other) = (FaultyStore::new(engine.clone()), engine.clone());
        let has_customers = Arc::<AtomicBool>::default();
        let (mut other, opened) = (Some(other), Arc::clone(&has_customers));
        store.script(move |_, at| match other.take_if(|_| at == number) {
            Some(other) => {
                let (emails, opened) = (emails.clone(), Arc::clone(&opened));
                Fault::Meanwhile(Box::new(move || {
                    if is_created {
                        // The table may exist already.
                        let _ = block_on(other.create_table(&emails));
                    }
                    opened.store(open::<Customer>(&other).is_ok(), Ordering::SeqCst);
                }))
            }
            None => Fault::None,
        });
        let supplier = store.entities_with_outbox::<Supplier, _>(Records::default());
        let is_open = block_on(supplier.create_if_missing()).is_ok();
        let at = format!("request {number}, created by a third program: {is_created}");
        assert!(!(is_open && has_customers.load(Ordering::SeqCst)), "{at}: both types are open");
        let is_again = (open::<Supplier>(&engine).is_ok(), open::<Customer>(&engine).is_ok());
        assert_eq!(is_again, (is_open, !is_open), "{at}");
    }
}
