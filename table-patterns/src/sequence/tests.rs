//! Tests that sequences have no unexpected gaps or duplicates. Writers are random, requests fail, and processes crash after they have allocated a block.

mod tables;

use std::collections::BTreeSet;
use std::ops::Range;

use pollster::block_on;
use proptest::prelude::*;
use table_core::query::Select;
use table_core::row::RowWriter;
use table_core::{
    Engine, Entity, EntityKey, Error, ErrorCode, Operation, OperationKind, PartitionKey, RowKey, TableName,
    TableStore, ValueRef,
};

use crate::EntityStore;
use crate::entities::Entities;
use crate::outbox::rows::together;
use crate::sequence::{BlockSequence, GaplessSequence};
use crate::tests::faults::{Call, Fault, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk", feed)]
#[partition_key(tenant)]
#[row_key("ticket_", number)]
#[index(Titled, unique, row_key("title_", title))]
struct Ticket {
    tenant: String,
    #[digits(6)]
    number: u32,
    #[without('_')]
    title: String,
}

type Store = FaultyStore<Engine>;

fn tickets() -> (Store, Entities<Ticket, Store>) {
    let store = FaultyStore::new(Engine::in_memory());
    let tickets = block_on(store.entities::<Ticket>().create_if_missing()).unwrap();
    (store, tickets)
}

fn insert(tickets: &Entities<Ticket, Store>, title: &str) -> table_core::Result<u32> {
    let numbers = GaplessSequence::new(tickets, "ticket")?;
    block_on(numbers.next(Ticket::partition("contoso"), |number, unit| {
        unit.insert(&Ticket { tenant: "contoso".into(), number, title: title.into() }).map(drop)
    }))
}

fn stored(tickets: &Entities<Ticket, Store>) -> Vec<u32> {
    let found = block_on(tickets.query(Ticket::rows("contoso")).collect()).unwrap();
    found.iter().map(|ticket| ticket.number).collect()
}

/// Asserts that a number does not fit its type, and that the error names the row of the sequence.
fn assert_is_of_the_row(error: &Error) {
    let key = EntityKey::new("contoso", "\u{FFFC}sequence_ticket").unwrap();
    assert_eq!((error.code(), error.table()), (ErrorCode::InvalidInput, Some("Desk")), "{error}");
    assert_eq!(error.key(), Some((key.partition_key.as_str(), key.row_key.as_str())), "{error}");
}

#[test]
fn a_sequence_gives_the_last_number_of_its_type() {
    let (_, tickets) = tickets();
    let numbers = GaplessSequence::new(&tickets, "ticket").unwrap();
    let partition = || Ticket::partition("contoso");
    block_on(numbers.set(partition(), 255)).unwrap();
    assert_eq!(block_on(numbers.next(partition(), |_: u8, _| Ok(()))).unwrap(), 255);
    let beyond = block_on(numbers.next(partition(), |_: u8, _| Ok(()))).unwrap_err();
    assert_is_of_the_row(&beyond);
    assert_is_of_the_row(&block_on(numbers.take(partition(), 2, |_: Range<u8>, _| Ok(()))).unwrap_err());
    let blocks = BlockSequence::new(&tickets, "ticket", 10).unwrap();
    assert_is_of_the_row(&block_on(blocks.next::<u8>(partition())).unwrap_err());
    assert_is_of_the_row(&block_on(blocks.next::<u8>(partition())).unwrap_err());
    block_on(numbers.set(partition(), 256)).unwrap();
    assert_eq!(
        block_on(numbers.next(partition(), |_: u16, _| Ok(()))).unwrap(),
        256,
        "the number is free again"
    );
}

#[test]
fn a_number_that_does_not_fit_leaves_the_unit_unchanged() {
    let (_, tickets) = tickets();
    let numbers = GaplessSequence::new(&tickets, "ticket").unwrap();
    let partition = || Ticket::partition("contoso");
    block_on(numbers.set(partition(), 256)).unwrap();
    let mut unit = tickets.unit(partition()).unwrap();
    assert_is_of_the_row(&block_on(numbers.next_in::<u8>(&mut unit)).unwrap_err());
    assert_is_of_the_row(&block_on(numbers.take_in::<u8>(&mut unit, 2)).unwrap_err());
    assert_eq!(block_on(numbers.next_in::<u16>(&mut unit)).unwrap(), 256);
}

#[test]
fn the_layout_of_a_sequence() {
    let (store, tickets) = tickets();
    assert_eq!((insert(&tickets, "a").unwrap(), insert(&tickets, "b").unwrap()), (1, 2));
    let (table, key) =
        (TableName::new("Desk").unwrap(), EntityKey::new("contoso", "\u{FFFC}sequence_ticket").unwrap());
    let stored = block_on(store.inner().get(&table, &key, &Select::All)).unwrap().unwrap();
    let properties = stored.row.view().properties().map(|property| {
        let property = property.unwrap();
        format!("{}={:?}", property.name, property.value)
    });
    assert_eq!(properties.collect::<Vec<_>>(), ["Next=Int64(3)", "Owner=String(\"Ticket\")"]);
}

/// An entity of a different type in the tickets' table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Desk")]
#[partition_key(tenant)]
#[row_key("visit_", number)]
struct Visit {
    tenant: String,
    #[digits(6)]
    number: u32,
}

#[test]
fn pat_inter_3_a_second_type_with_the_name_of_a_sequence_is_refused_with_both_names() {
    let (store, tickets) = tickets();
    let visits = block_on(store.entities::<Visit>().create_if_missing()).unwrap();
    insert(&tickets, "a").unwrap();
    let visit = |numbers: &GaplessSequence<Visit, Store>| {
        block_on(numbers.next(Visit::partition("contoso"), |number, unit| {
            unit.insert(&Visit { tenant: "contoso".into(), number }).map(drop)
        }))
    };
    let numbers = GaplessSequence::new(&visits, "ticket").unwrap();
    let blocks = BlockSequence::new(&visits, "ticket", 10).unwrap();
    let refused = [visit(&numbers), block_on(blocks.next::<u32>(Visit::partition("contoso")))];
    for error in refused.map(Result::unwrap_err) {
        assert_eq!((error.code(), error.key().is_some()), (ErrorCode::SchemaMismatch, true));
        let text = error.to_string();
        assert!(text.contains("`Ticket`") && text.contains("`Visit`"), "{text}");
    }
    // Both sequences continue. A program can take over a sequence of another entity type, but only explicitly.
    let own = GaplessSequence::new(&visits, "visit").unwrap();
    assert_eq!((insert(&tickets, "b").unwrap(), visit(&own).unwrap()), (2, 1));
    block_on(numbers.set(Visit::partition("contoso"), 7)).unwrap();
    assert_eq!(visit(&numbers).unwrap(), 7);
    assert_eq!(insert(&tickets, "c").unwrap_err().code(), ErrorCode::SchemaMismatch);
}

#[test]
fn pat_inter_3_of_two_types_that_take_the_first_number_at_once_one_is_refused() {
    for _ in 0..20 {
        let (store, tickets) = tickets();
        let visits = block_on(store.entities::<Visit>().create_if_missing()).unwrap();
        let blocks = BlockSequence::new(&visits, "ticket", 10).unwrap();
        let (ticket, visit) = std::thread::scope(|scope| {
            let ticket = scope.spawn(|| insert(&tickets, "a").is_ok());
            let visit = scope.spawn(|| block_on(blocks.next::<u32>(Visit::partition("contoso"))).is_ok());
            (ticket.join().unwrap(), visit.join().unwrap())
        });
        assert!(ticket != visit);
        assert_eq!(insert(&tickets, "b").is_ok(), ticket);
    }
}

#[test]
fn a_refused_unit_takes_no_number() {
    let (_, tickets) = tickets();
    assert_eq!(insert(&tickets, "a").unwrap(), 1);
    assert_eq!(insert(&tickets, "a").unwrap_err().code(), ErrorCode::UniqueViolation);
    assert_eq!(insert(&tickets, "b").unwrap(), 2);
    assert_eq!(stored(&tickets), [1, 2]);
}

#[test]
fn con_3_a_faster_writer_gets_the_number_and_the_unit_the_next_one() {
    let (store, tickets) = tickets();
    let faster = block_on(Engine::clone(store.inner()).entities::<Ticket>().create_if_missing()).unwrap();
    let mut left = 3;
    store.script(move |call, _| {
        if call != Call::Submit || left == 0 {
            return Fault::None;
        }
        left -= 1;
        let (faster, title) = (faster.clone(), format!("faster {left}"));
        Fault::Meanwhile(Box::new(move || {
            let numbers = GaplessSequence::new(&faster, "ticket").unwrap();
            let taken = block_on(numbers.next(Ticket::partition("contoso"), |number, unit| {
                unit.insert(&Ticket { tenant: "contoso".into(), number, title: title.clone() }).map(drop)
            }));
            taken.unwrap();
        }))
    });
    assert_eq!(insert(&tickets, "slow").unwrap(), 4);
    store.heal();
    assert_eq!(stored(&tickets), [1, 2, 3, 4]);
}

#[test]
fn an_invalid_sequence_is_refused() {
    let (store, tickets) = tickets();
    assert_eq!(GaplessSequence::new(&tickets, "").unwrap_err().code(), ErrorCode::InvalidInput);
    assert!(BlockSequence::new(&tickets, "a/b", 1).is_err());
    let none = GaplessSequence::new(&tickets, "ticket").unwrap();
    let none = block_on(none.take(Ticket::partition("contoso"), 0, |_: Range<u32>, _| Ok(())));
    assert_eq!(none.unwrap_err().code(), ErrorCode::InvalidInput);
    let write_with = |next: i64, owner: Option<&str>| {
        let mut row = RowWriter::new();
        row.property("Next", ValueRef::Int64(next));
        if let Some(owner) = owner {
            row.property("Owner", ValueRef::String(owner));
        }
        let row_key = RowKey::new("\u{FFFC}sequence_ticket").unwrap();
        let operation = Operation { row_key, kind: OperationKind::InsertOrReplace(row.finish()) };
        let contoso = PartitionKey::new("contoso").unwrap();
        let transaction = together(&contoso, [operation], store.capabilities().limits).unwrap();
        block_on(store.submit(&TableName::new("Desk").unwrap(), transaction)).unwrap();
    };
    let write = |next| write_with(next, Some("Ticket"));
    for (next, code) in
        [(0, ErrorCode::Corrupted), (-1, ErrorCode::Corrupted), (i64::MAX, ErrorCode::InvalidInput)]
    {
        write(next);
        let error = insert(&tickets, "a").unwrap_err();
        assert_eq!((error.code(), error.key().is_some()), (code, true), "{next}");
    }
    write_with(1, None);
    assert_eq!(insert(&tickets, "a").unwrap_err().code(), ErrorCode::SchemaMismatch);
    assert_eq!(stored(&tickets), [0; 0]);
    // The error contains the last number that can be allocated.
    write(i64::MAX - 1);
    let numbers = GaplessSequence::new(&tickets, "ticket").unwrap();
    let next = || block_on(numbers.next(Ticket::partition("contoso"), |_: u64, _| Ok(())));
    assert_eq!(next().unwrap(), 9_223_372_036_854_775_806);
    let error = next().unwrap_err().to_string();
    assert!(error.contains("none above 9223372036854775806"), "{error}");
}

#[test]
fn crashed_block_holders_leave_gaps_but_no_duplicates() {
    let (_, tickets) = tickets();
    let mut given = BTreeSet::new();
    for holder in 1..=20u64 {
        let numbers = BlockSequence::new(&tickets, "ticket", 10).unwrap();
        for _ in 0..holder {
            assert!(given.insert(block_on(numbers.next::<u64>(Ticket::partition("contoso"))).unwrap()));
        }
    }
    assert!(given.len() < usize::try_from(*given.last().unwrap()).unwrap(), "there are gaps");
}

#[test]
fn blocks_cost_two_requests_each() {
    let (store, tickets) = tickets();
    let numbers = BlockSequence::new(&tickets, "ticket", 10).unwrap();
    store.heal();
    let given = (0..30)
        .map(|_| block_on(numbers.clone().next(Ticket::partition("contoso"))).unwrap())
        .collect::<Vec<u32>>();
    assert_eq!((given, store.calls().len()), ((1..=30).collect(), 6));
}

#[test]
fn clones_of_a_gapless_sequence_take_from_one_sequence() {
    let (_, tickets) = tickets();
    let numbers = GaplessSequence::new(&tickets, "ticket").unwrap();
    let of_thread = numbers.clone();
    let next = |numbers: &GaplessSequence<Ticket, Store>| {
        block_on(numbers.next(Ticket::partition("contoso"), |_: u32, _| Ok(())))
    };
    assert_eq!(next(&numbers).unwrap(), 1);
    assert_eq!(std::thread::spawn(move || next(&of_thread)).join().unwrap().unwrap(), 2);
}

#[test]
fn threads_with_blocks_and_units_never_get_the_same_number() {
    let (_, tickets) = tickets();
    let given: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6u32)
            .map(|thread| {
                let tickets = tickets.clone();
                scope.spawn(move || {
                    let numbers = BlockSequence::new(&tickets, "ticket", 1 + thread).unwrap();
                    let take = |turn: u32| match (thread + turn) % 3 {
                        0 => insert(&tickets, &format!("{thread} {turn}")).unwrap(),
                        _ => block_on(numbers.next(Ticket::partition("contoso"))).unwrap(),
                    };
                    (0..20).map(take).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), 120);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Tests writers whose submits may fail before or after they take effect. After a failure, the writer retries with a different title.
    #[test]
    fn units_leave_no_gaps_and_no_duplicate_numbers_after_any_failure(
        faults in prop::collection::vec(0..4u8, 1..40),
        gapless in prop::collection::vec(any::<bool>(), 1..24),
    ) {
        let (store, tickets) = tickets();
        let mut script = faults.into_iter();
        store.script(move |call, _| match (call, (call == Call::Submit).then(|| script.next()).flatten()) {
            (_, Some(1)) => Fault::Before(ErrorCode::ServerBusy),
            (_, Some(2)) => Fault::After(ErrorCode::OperationTimedOut),
            _ => Fault::None,
        });
        let only_units = gapless.iter().all(|gapless| *gapless);
        let mut given = BTreeSet::new();
        let mut numbers = BlockSequence::new(&tickets, "ticket", 3).unwrap();
        for (turn, gapless) in gapless.into_iter().enumerate() {
            if gapless {
                if let Ok(number) = insert(&tickets, &format!("{turn}")) {
                    prop_assert!(given.insert(number));
                }
            } else {
                match block_on(numbers.next(Ticket::partition("contoso"))) {
                    Ok(number) => prop_assert!(given.insert(number)),
                    // The process dies and loses its block.
                    Err(_) => numbers = BlockSequence::new(&tickets, "ticket", 3).unwrap(),
                }
            }
        }
        store.heal();
        let stored = stored(&tickets);
        if only_units {
            prop_assert_eq!(&stored, &(1..=u32::try_from(stored.len()).unwrap()).collect::<Vec<_>>());
        }
        // Numbers allocated from blocks are not used for tickets.
        let of_units = stored.iter().copied().collect::<BTreeSet<_>>();
        prop_assert!(given.iter().all(|number| of_units.contains(number) || !only_units));
        let next = insert(&tickets, "the last").unwrap();
        prop_assert!(given.iter().all(|number| *number < next));
    }
}
