//! Tests calls that store a schema and are interrupted at one of their requests. The response is lost, or the call is dropped. The next handle with this schema
//! writes without waiting. All handles in the process must therefore know the schema at that time.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::retry::Retry;
use table_core::{Entity, Result, Table, TableStore, TableStoreExt};
use table_patterns::EntityStore;
use tests::faults::{Control, Death};
use tests::time::Time;

use super::settling::{nickname, nicknamed};
use super::visitors::Visitor;
use super::{before, nicknamed, refused, table_at};

/// Determines how a call is interrupted.
#[derive(Clone, Copy, Debug)]
enum End {
    Fails(Death),
    /// The call is dropped before a request, or while it waits for the response.
    Dropped,
}

/// The call that stores the newer schema.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Create,
    Accept,
}

/// The handle that writes a property of the newer schema after the interruption.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Writer {
    New,
    /// A handle for another type, whose units of work also write the newer type. No handle for the newer type is opened.
    Related,
    /// A handle opened before the older schema was accepted again.
    Earlier,
}

/// Starts a call and interrupts it at the given request or step. Returns `true` if the call completed first.
fn interrupt<F: Future>((end, at): (End, usize), start: impl FnOnce(&Control) -> F) -> bool {
    match end {
        End::Fails(death) => {
            let control = Control::dying(at, death);
            let _ = block_on(start(&control));
            !control.is_dead()
        }
        End::Dropped => {
            let control = Control::default().stepped().answering_late();
            let mut call = Box::pin(start(&control));
            (0..at).any(|_| control.step(&mut call).is_some())
        }
    }
}

async fn call(time: &Time, engine: &Engine, control: &Control, call: Call) -> Result<()> {
    let retry = Retry::default().with_runtime(time.runtime());
    let newer = control.over(engine.clone()).table::<nicknamed::Employee>().with_retry(retry);
    match call {
        Call::Create => newer.create_if_missing().await.map(drop),
        Call::Accept => newer.accept_schema("a test").await,
    }
}

async fn open<E: Entity>(time: &Time, engine: &Engine) -> Table<E, Engine> {
    table_at::<E>(time, engine).create_if_missing().await.unwrap()
}

/// Interrupts a call, and lets a handle with the newer schema write. Then checks that the older handle is refused. Returns `true` if the call has completed.
async fn run(is_shared: bool, kind: Call, interruption: (End, usize), writer: Writer) -> bool {
    let at = format!("{kind:?} {interruption:?}, {writer:?}, shared: {is_shared}");
    let time = Time::default();
    let engine = time.engine();
    if is_shared {
        engine.capabilities().exclusive.as_ref().unwrap().share();
    }
    let mut older = open::<before::Employee>(&time, &engine).await;
    older.insert(&before::employee(1, "ada")).await.unwrap();
    let mut earlier = None;
    if writer == Writer::Earlier {
        let newer = open::<nicknamed::Employee>(&time, &engine).await;
        newer.insert_or_replace(&nicknamed("duchess")).await.unwrap();
        table_at::<before::Employee>(&time, &engine).accept_schema("back").await.unwrap();
        older = open(&time, &engine).await;
        older.insert_or_replace(&before::employee(1, "ada")).await.unwrap();
        earlier = Some(newer);
    }
    let visitors = engine.entities::<Visitor>().with_runtime(time.runtime());
    let visitors = visitors.create_if_missing().await.unwrap();
    // The older handle has just read its own schema.
    older.insert_or_replace(&before::employee(1, "ada")).await.unwrap();
    let before = older.schema_record().await.unwrap().unwrap().generation;
    let is_complete = interrupt(interruption, |control| {
        let (time, engine, control) = (time.clone(), engine.clone(), control.clone());
        async move { call(&time, &engine, &control, kind).await }
    });
    let is_stored = older.schema_record().await.unwrap().unwrap().generation > before;
    assert!(is_stored || !is_complete, "{at}");
    let written = match (writer, earlier) {
        (Writer::New, _) => {
            let newer = open::<nicknamed::Employee>(&time, &engine).await;
            newer.insert_or_replace(&nicknamed("countess")).await.map(drop)
        }
        // The call did not store the schema. These writers do not open a handle, which would store it.
        _ if !is_stored => return is_complete,
        (_, Some(earlier)) => earlier.insert_or_replace(&nicknamed("countess")).await.map(drop),
        (_, None) => {
            let newer = table_at::<nicknamed::Employee>(&time, &engine);
            let found = newer.get(nicknamed::Employee::key("Sales", 1)).await.unwrap().unwrap();
            let mut unit = visitors.unit(Visitor::partition("Sales")).unwrap();
            unit.update(&found, |one| one.nickname = Some("countess".to_owned())).unwrap();
            unit.commit().await.map(drop)
        }
    };
    written.unwrap();
    let outcome = older.insert_or_replace(&before::employee(1, "ada")).await;
    let kept = nickname(&table_at::<nicknamed::Employee>(&time, &engine)).await;
    assert_eq!(kept.as_deref(), Some("countess"), "{at}");
    assert!(refused(outcome), "{at}");
    is_complete
}

#[test]
fn every_handle_knows_a_schema_that_an_interrupted_call_has_stored() {
    let ends = [End::Fails(Death::Before), End::Fails(Death::After), End::Dropped];
    for writer in [Writer::New, Writer::Related, Writer::Earlier] {
        for (kind, is_shared) in
            [(Call::Create, false), (Call::Create, true), (Call::Accept, false), (Call::Accept, true)]
        {
            // An earlier schema is stored again only by `accept_schema`.
            if writer == Writer::Earlier && kind == Call::Create {
                continue;
            }
            for end in ends {
                let requests = (1..100).find(|at| block_on(run(is_shared, kind, (end, *at), writer)));
                assert!(requests.is_some_and(|requests| requests > 2), "{requests:?}");
            }
        }
    }
}

#[test]
fn opening_a_type_again_costs_its_other_handles_no_request() {
    block_on(async {
        let (time, control) = (Time::default(), Control::default());
        let engine = time.engine();
        let retry = Retry::default().with_runtime(time.runtime());
        let handle = control.over(engine.clone()).table::<nicknamed::Employee>().with_retry(retry);
        let handle = handle.create_if_missing().await.unwrap();
        let first = open::<nicknamed::Employee>(&time, &engine).await;
        for one in [0, 1, 10] {
            for _ in 0..one {
                open::<nicknamed::Employee>(&time, &engine).await;
            }
            let before = control.calls();
            handle.insert_or_replace(&nicknamed("duchess")).await.unwrap();
            assert_eq!(control.calls() - before, 1, "{one} more handles");
        }
        // If another handle stores the schema again, the next write reads it.
        first.insert_or_replace(&nicknamed("duchess")).await.unwrap();
        first.accept_schema("rewritten").await.unwrap();
        let before = control.calls();
        handle.insert_or_replace(&nicknamed("duchess")).await.unwrap();
        assert_eq!(control.calls() - before, 2);
    });
}
