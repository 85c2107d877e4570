//! Tests that views stay consistent if a process dies before or after any request, or is suspended at any request while other processes complete all pending
//! work.

use pollster::block_on;
use table_core::ErrorCode;
use table_core::key::PartitionKey;
use table_core::store::TableStore;

use super::kit::Company;
use crate::tests::faults::Fault;

/// Creates a company with three employees. The view contains two of them, one in a stale state. Then creates `more` employees that the view lacks.
fn company_of(more: u32) -> Company {
    let company = Company::new();
    company.hire("Sales", 1, "Ada", "London", 36);
    company.hire("Sales", 2, "Bob", "London", 20);
    company.catch_up();
    company.assert_right("at the beginning");
    company.change("Sales", 1, |ada| (ada.city, ada.age) = ("Paris".into(), 61));
    company.hire("Marketing", 3, "Cy", "Rome", 40);
    for id in 10..10 + more {
        company.hire("Sales", id, "Ed", "London", 30);
    }
    company.store.heal();
    company
}

fn company() -> Company {
    company_of(0)
}

type Scene = fn(&Company);

const SCENES: [(&str, u32, Scene); 3] = [
    (
        "catches up",
        0,
        |company| {
            while block_on(company.view.catch_up(2)).is_ok_and(|caught| caught.changes > 0) {}
        },
    ),
    ("rebuilds", 0, |company| {
        let _ = block_on(company.view.rebuild().page(2).run());
    }),
    // With eight additional employees, there are enough adjacent keys for the rebuild to read them in pages instead of with point queries.
    ("rebuilds many", 8, |company| {
        let _ = block_on(company.view.rebuild().run());
    }),
];

fn requests(more: u32, scene: Scene) -> usize {
    let company = company_of(more);
    scene(&company);
    company.store.calls().len()
}

#[test]
fn imp_6_a_crash_at_any_request_loses_and_duplicates_nothing() {
    for (name, more, scene) in SCENES {
        for number in 0..requests(more, scene) {
            for after in [false, true] {
                let at = format!("{name}: dies {} request {number}", if after { "after" } else { "before" });
                let company = company_of(more);
                company.store.script(move |_, call| match call {
                    _ if call < number => Fault::None,
                    _ if call == number && after => Fault::After(ErrorCode::EngineClosed),
                    _ => Fault::Before(ErrorCode::EngineClosed),
                });
                scene(&company);
                company.again().catch_up();
                company.assert_right(&at);
            }
        }
    }
}

#[test]
fn pat_ec_8_the_view_matches_its_source_after_a_writer_crash() {
    for number in 0..8 {
        for after in [false, true] {
            let company = company();
            company.store.script(move |_, call| match call {
                _ if call < number => Fault::None,
                _ if call == number && after => Fault::After(ErrorCode::EngineClosed),
                _ => Fault::Before(ErrorCode::EngineClosed),
            });
            let key = || super::kit::Employee::key("Research", 9);
            let new = super::kit::Employee {
                department: "Research".into(),
                id: 9,
                name: "Di".into(),
                city: "Rome".into(),
                age: 30,
            };
            let _ = block_on(company.employees.insert(&new));
            let _ = block_on(company.employees.update(key(), |di| di.city = "Paris".into()));
            let _ = block_on(company.employees.delete(key(), table_core::IfMatch::Any));
            company.again().catch_up();
            let found = block_on(company.engine.get(
                company.employees.table().name().unwrap(),
                &key().into_key().unwrap(),
                &table_core::query::Select::All,
            ));
            let mut sources = company.sources();
            if found.unwrap().is_some() {
                let stored = block_on(company.again().employees.table().get(key())).unwrap().unwrap();
                sources.push(stored.into_value());
            }
            assert_eq!(company.stored(), Company::expected(&sources), "request {number}, after: {after}");
        }
    }
}

#[test]
fn imp_6_a_delayed_process_undoes_nothing() {
    let meanwhile: [(&str, Scene); 5] = [
        ("changed and trimmed", |company| {
            company.change("Sales", 1, |ada| (ada.city, ada.age) = ("Rome".into(), 50));
            company.catch_up();
            let table = company.employees.table().name().unwrap();
            for partition in ["Sales", "Marketing"] {
                let partition = PartitionKey::new(partition).unwrap();
                let position = block_on(company.view.position(&partition)).unwrap();
                block_on(company.view.feed().trim(table, &partition, &position)).unwrap();
            }
        }),
        ("changed", |company| {
            company.change("Sales", 1, |ada| (ada.city, ada.age) = ("Rome".into(), 50));
            company.catch_up();
        }),
        ("changed back", |company| {
            company.change("Sales", 1, |ada| (ada.city, ada.age) = ("London".into(), 36));
            company.catch_up();
        }),
        ("gone", |company| {
            company.fire("Sales", 1);
            company.fire("Marketing", 3);
            company.catch_up();
        }),
        ("gone and back", |company| {
            company.fire("Marketing", 3);
            company.catch_up();
            company.hire("Marketing", 3, "Cy", "Rome", 40);
            company.catch_up();
        }),
    ];
    for (name, more, scene) in SCENES {
        for (event, act) in meanwhile {
            for number in 0..requests(more, scene) {
                let company = company_of(more);
                let mut others = Some(company.again());
                company.store.script(move |_, call| match others.take() {
                    Some(others) if call == number => Fault::Meanwhile(Box::new(move || act(&others))),
                    still => {
                        others = still;
                        Fault::None
                    }
                });
                scene(&company);
                // No other process repairs the view after this, so the view must already be correct.
                let at = format!("{name}, {event} at request {number}");
                company.assert_right(&at);
                assert_eq!(block_on(company.view.poison()).unwrap(), [], "{at}");
            }
        }
    }
}

/// Tests the same scenarios, but the suspended process dies at its first write after it resumes, and therefore cannot read again.
#[test]
fn imp_6_a_delayed_process_that_crashes_undoes_nothing() {
    let (name, more, scene) = SCENES[0];
    for number in 0..requests(more, scene) {
        let company = company();
        let mut others = Some(company.again());
        let mut is_last = false;
        company.store.script(move |_, call| {
            if is_last {
                return Fault::Before(ErrorCode::EngineClosed);
            }
            match others.take() {
                Some(others) if call == number => {
                    is_last = true;
                    Fault::Meanwhile(Box::new(move || {
                        others.change("Sales", 1, |ada| (ada.city, ada.age) = ("London".into(), 36));
                        others.fire("Marketing", 3);
                        others.catch_up();
                    }))
                }
                still => {
                    others = still;
                    Fault::None
                }
            }
        });
        scene(&company);
        company.assert_right(&format!("{name}, asleep at request {number}"));
    }
}

/// Tests that a follower reads a partition again if, before one of its requests, another follower moves the cursor to an earlier position.
#[test]
fn imp_6_a_delayed_follower_skips_no_partition_with_pending_changes() {
    for number in 0.. {
        let company = company();
        // The second call finds no changes. After the next call with changes, the follower therefore marks the feed as quiet.
        (0..2).for_each(|_| company.catch_up());
        (10..12).for_each(|id| company.hire("Sales", id, "Ed", "London", 30));
        company.store.heal();
        let mut other = Some(company.again());
        company.store.script(move |_, call| match other.take_if(|_| call == number) {
            Some(other) => Fault::Meanwhile(Box::new(move || {
                let sales = PartitionKey::new("Sales").unwrap();
                block_on(other.view.catch_up_partition(&sales, 1)).unwrap();
            })),
            None => Fault::None,
        });
        block_on(company.view.catch_up(100)).unwrap();
        let was_interrupted = company.store.calls().len() > number;
        company.store.heal();
        while block_on(company.view.catch_up(100)).unwrap().is_behind {}
        assert_eq!(block_on(company.view.freshness()).unwrap().pending, 0, "request {number}");
        company.assert_right(&format!("request {number}"));
        if !was_interrupted {
            assert!(number > 10, "{number}");
            break;
        }
    }
}
