//! Tests transactions: reads that are still current at the commit, fair turns, group commits, and forwarded errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::PartitionKey;
use table_core::runtime::Runtime;
use table_core::{Entity, Error, ErrorCode, IfMatch};

use crate::EntityStore;
use crate::entities::{Entities, Turn};
use crate::participant::{Changes, Participant};
use crate::sequence::GaplessSequence;
use crate::series::{Series, SeriesTable};
use crate::slot_names;
use crate::tests::faults::{Call, Fault, FaultyStore, sendable};
use crate::unit::UnitOfWork;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bank", feed)]
#[partition_key(tenant)]
#[row_key("account_", number)]
#[index(ByOwner, unique, row_key("owner_", owner))]
struct Account {
    tenant: String,
    #[digits(4)]
    number: u32,
    #[without('_')]
    owner: String,
    cents: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bank")]
#[partition_key(tenant)]
#[row_key("entry_", number)]
struct Entry {
    tenant: String,
    #[digits(6)]
    number: u32,
    cents: i64,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bank")]
#[partition_key(tenant)]
#[row_key("page_", page)]
struct Page {
    tenant: String,
    #[digits(4)]
    page: u32,
}

impl Series for Page {
    type Value = i64;
    const SLOTS: &'static [&'static str] = slot_names!("S", 0, 50);
}

type Store = FaultyStore<Engine>;
type Accounts = Entities<Account, Store>;

#[derive(Debug)]
enum Refused {
    TooLittle,
    Store(#[expect(dead_code, reason = "shown by a failing test")] Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

fn account(number: u32, cents: i64) -> Account {
    Account { tenant: "t".into(), number, owner: number.to_string(), cents }
}

fn bank() -> (Store, Accounts) {
    let store = FaultyStore::new(Engine::in_memory());
    let accounts = block_on(store.entities::<Account>().create_if_missing()).unwrap();
    for number in [1, 2] {
        block_on(accounts.insert(&account(number, 1_000))).unwrap();
    }
    store.heal();
    (store, accounts)
}

fn cents(accounts: &Accounts, number: u32) -> i64 {
    block_on(accounts.get(Account::key("t", number))).unwrap().unwrap().cents
}

async fn transfer(accounts: &Accounts, cents: i64, runs: &AtomicUsize) -> Result<u32, Refused> {
    let numbers = GaplessSequence::new(accounts, "entry")?;
    let page = Page { tenant: "t".into(), page: 0 };
    let done = accounts
        .transaction(Account::partition("t"), async |unit| {
            runs.fetch_add(1, Ordering::Relaxed);
            let from = unit.get(Account::key("t", 1)).await?.expect("inserted");
            let to = unit.get(Account::key("t", 2)).await?.expect("inserted");
            if from.cents < cents {
                return Err(Refused::TooLittle);
            }
            unit.update(&from, |from| from.cents -= cents)?;
            unit.update(&to, |to| to.cents += cents)?;
            let number: u32 = numbers.next_in(unit).await?;
            unit.insert(&Entry { tenant: "t".into(), number, cents })?;
            unit.increment(&page, &[(1, -cents), (2, cents)]).await?;
            Ok(number)
        })
        .await?;
    Ok(done.into_value())
}

/// Returns a runtime without delays. If `is_impatient` is `true`, the timeout for turns ends immediately. Otherwise, it never ends.
pub(super) fn pace(is_impatient: bool) -> Runtime {
    Runtime::new().sleep_by(move |time| {
        let is_endless = time >= Duration::from_secs(2) && !is_impatient;
        if is_endless { Box::pin(std::future::pending()) } else { Box::pin(std::future::ready(())) }
    })
}

/// Takes the turn in the partition.
fn turn(accounts: &Accounts) -> Turn {
    let (table, partition_key) = (accounts.table().name().unwrap(), PartitionKey::new("t").unwrap());
    block_on(accounts.turns.enter(table, &partition_key, &pace(false)))
}

#[test]
fn a_turn_that_is_never_released_blocks_no_transaction() {
    let (_, accounts) = bank();
    let accounts = accounts.with_runtime(pace(true));
    // This turn belongs to a future that is never polled again.
    let held = turn(&accounts);
    let runs = AtomicUsize::new(0);
    assert_eq!(block_on(transfer(&accounts, 3, &runs)).unwrap(), 1);
    assert_eq!(block_on(transfer(&accounts, 3, &runs)).unwrap(), 2);
    drop(held);
    assert_eq!(block_on(transfer(&accounts, 3, &runs)).unwrap(), 3);
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

#[test]
fn concurrent_transactions_lose_nothing_and_take_numbers_without_gaps() {
    let (store, accounts) = bank();
    let accounts = accounts.with_runtime(pace(false));
    let runs = Arc::new(AtomicUsize::new(0));
    // The turn is held until all transactions wait for it. Otherwise, fast threads might never run at the same time.
    let held = turn(&accounts);
    let all_wait = Arc::new(Barrier::new(5));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (accounts, runs, all_wait) = (accounts.clone(), Arc::clone(&runs), Arc::clone(&all_wait));
            std::thread::spawn(move || {
                let mut all = Box::pin(join_all((0..30).map(|_| transfer(&accounts, 3, &runs))));
                block_on(async {
                    assert!(futures_util::poll!(&mut all).is_pending());
                    all_wait.wait();
                    all.await
                })
                .into_iter()
                .map(Result::unwrap)
                .collect::<Vec<_>>()
            })
        })
        .collect();
    all_wait.wait();
    drop(held);
    let mut numbers: Vec<u32> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=120).collect::<Vec<_>>());
    assert_eq!((cents(&accounts, 1), cents(&accounts, 2)), (640, 1_360));
    let table = SeriesTable::new(store.entities::<Page>());
    let page = block_on(table.get(Page::key("t", 0))).unwrap().unwrap();
    assert_eq!((page.slot(1), page.slot(2)), (Some(&-360), Some(&360)));
    let submits = store.calls().into_iter().filter(|call| *call == Call::Submit).count();
    assert!(submits < 120, "several transactions share a commit: {submits}");
    let runs = runs.load(Ordering::Relaxed);
    assert!(runs <= 3 * 120, "a transaction runs once, and again where its group was full: {runs}");
}

#[test]
fn the_errors_of_the_function_pass_through_and_nothing_is_written() {
    let (_, accounts) = bank();
    let runs = AtomicUsize::new(0);
    assert!(matches!(block_on(transfer(&accounts, 5_000, &runs)), Err(Refused::TooLittle)));
    assert_eq!((runs.load(Ordering::Relaxed), cents(&accounts, 1)), (1, 1_000));
    assert_eq!(block_on(transfer(&accounts, 5, &runs)).unwrap(), 1);
}

#[test]
fn a_refused_unit_fails_alone_and_the_others_of_its_group_are_committed() {
    let (_, accounts) = bank();
    let insert = async |number: u32| {
        let insert = accounts.transaction(Account::partition("t"), async |unit| {
            unit.insert(&account(number, 0))?;
            Ok::<_, Error>(())
        });
        insert.await.map(|committed| committed.etags().flatten().count())
    };
    let outcomes = block_on(join_all([10, 11, 1, 12].map(&insert)));
    for (at, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(versions) => assert_eq!(versions, 1),
            Err(error) => assert!(at == 2 && error.is_already_exists(), "{at}: {error}"),
        }
    }
    assert!([10, 11, 12].iter().all(|number| cents(&accounts, *number) == 0));
}

#[test]
fn reads_still_hold_at_the_commit_or_the_function_runs_again() {
    let (store, accounts) = bank();
    let other = accounts.clone();
    let mut is_first = true;
    store.script(move |call, _| match call {
        Call::Submit if std::mem::take(&mut is_first) => {
            let other = other.clone();
            Fault::Meanwhile(Box::new(move || {
                let key = Account::key("t", 1);
                drop(block_on(other.update(key, |account| account.cents = account.cents.min(7))));
            }))
        }
        _ => Fault::None,
    });
    let entry = async |unit: &mut UnitOfWork<Store, crate::entities::NoOutbox>| {
        let read = unit.get(Account::key("t", 1)).await?.expect("inserted");
        unit.insert(&Entry { tenant: "t".into(), number: 1, cents: read.cents })?;
        Ok::<_, Error>(read.cents)
    };
    let done = block_on(accounts.transaction(Account::partition("t"), entry)).unwrap();
    store.heal();
    assert_eq!(*done, 7, "decided on the row that was there at the commit");
    assert!(done.versioned(Entry { tenant: "t".into(), number: 1, cents: 7 }).is_some());
}

#[test]
fn a_conflict_on_an_entity_that_the_handle_read_runs_the_function_again() {
    let (_, accounts) = bank();
    let mut rivals = 2;
    let mut runs = 0;
    let done = accounts.transaction(Account::partition("t"), async |unit| {
        runs += 1;
        let read = accounts.get(Account::key("t", 1)).await?.expect("inserted");
        if rivals > 0 {
            rivals -= 1;
            accounts.update(Account::key("t", 1), |account| account.cents += 1).await?;
        }
        unit.update(&read, |account| account.cents *= 2).map(drop)
    });
    block_on(done).map(drop).unwrap();
    assert_eq!((runs, cents(&accounts, 1)), (3, 2_004));
}

#[test]
fn a_run_that_writes_another_key_or_value_than_the_refused_runs_is_committed() {
    for (taken, is_value) in (1..12).flat_map(|taken| [(taken, false), (taken, true)]) {
        let (store, accounts) = bank();
        let (accounts, rival) = (accounts.with_runtime(pace(false)), store.entities::<Account>());
        let mut next = 10;
        let done = block_on(accounts.transaction(Account::partition("t"), async |unit| {
            let new = Account { owner: next.to_string(), ..account(if is_value { 90 } else { next }, 5) };
            if next < 10 + taken {
                // The rival chooses the same key or the same owner, and commits first.
                let number = if is_value { next + 100 } else { next };
                rival.insert(&Account { owner: new.owner.clone(), ..account(number, 7) }).await?;
            }
            next += 1;
            unit.insert(&new).map(drop)
        }));
        assert!(done.is_ok(), "{taken} are taken: {:?}", done.err());
        let own = if is_value { 90 } else { 10 + taken };
        assert_eq!((next, cents(&accounts, own)), (11 + taken, 5));
    }
}

#[test]
fn a_second_run_that_writes_the_same_key_as_the_refused_run_fails() {
    let (_, accounts) = bank();
    let mut runs = 0;
    let done = accounts.transaction(Account::partition("t"), async |unit| {
        runs += 1;
        // Account 1 already exists. The entry's key differs in each run.
        unit.insert(&Entry { tenant: "t".into(), number: runs, cents: 0 })?;
        unit.insert(&account(1, 5)).map(drop)
    });
    let error = block_on(done).map(drop).unwrap_err();
    assert!(error.is_already_exists() && error.to_string().contains("insert of `Account`"), "{error}");
    assert_eq!(runs, 2);
}

#[test]
fn a_returned_version_saves_the_next_read() {
    let (store, accounts) = bank();
    let done = block_on(
        accounts.transaction(Account::partition("t"), async |unit| unit.insert(&account(3, 5)).map(drop)),
    )
    .unwrap();
    let read = done.versioned(account(3, 5)).unwrap();
    store.heal();
    block_on(accounts.update(&read, |account| account.cents = 6)).unwrap();
    assert!(!store.calls().contains(&Call::Get), "{:?}", store.calls());
    assert_eq!(cents(&accounts, 3), 6);
}

#[test]
fn a_transaction_runs_in_a_task_that_changes_threads() {
    let (_, accounts) = bank();
    let numbers = GaplessSequence::new(&accounts, "entry").unwrap();
    let entry = |number| Entry { tenant: "t".into(), number, cents: 1 };
    let task = async move {
        let owner = "ada".to_owned();
        let opened = accounts.transaction(Account::partition("t"), async move |unit| {
            let read = unit.get(Account::key("t", 1)).await?.expect("inserted");
            unit.update(&read, |account| account.owner.clone_from(&owner)).map(drop)
        });
        opened.await?;
        numbers.set(Account::partition("t"), 7).await?;
        let insert = |number: u32, unit: &mut UnitOfWork<_, _>| unit.insert(&entry(number)).map(drop);
        numbers.next(Account::partition("t"), insert).await
    };
    assert_eq!(block_on(sendable(task)).unwrap(), 7);
}

/// A participant that records who made each change.
struct Trail;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bank")]
#[partition_key(tenant)]
#[row_key("audit_", id)]
struct Audit {
    tenant: String,
    id: String,
    actor: String,
    request: String,
}

impl Participant<Entry> for Trail {
    fn name(&self) -> &'static str {
        "trail"
    }

    fn changes(&self, old: Option<&Entry>, new: Option<&Entry>, out: &mut Changes) -> table_core::Result<()> {
        let Some(entry) = new.or(old) else { return Ok(()) };
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let (actor, request) = (text(out.actor()), text(out.correlation_id()));
        out.insert(&Audit { tenant: entry.tenant.clone(), id: out.id(), actor, request })
    }
}

#[test]
fn a_store_participant_writes_in_every_unit_and_knows_the_actor() {
    let store = Engine::in_memory().with_participant::<Entry>(Trail);
    block_on(async {
        let accounts = store.entities::<Account>().create_if_missing().await?;
        let entry = |number| Entry { tenant: "t".into(), number, cents: 1 };
        let entries = store.entities::<Entry>().with_actor("ada").with_correlation_id("request 1");
        entries.insert(&entry(1)).await?;
        entries.delete(Entry::key("t", 1), IfMatch::Any).await?;
        let mut unit =
            accounts.unit(Account::partition("t"))?.with_actor("grace").with_correlation_id("request 2");
        unit.insert(&entry(2))?;
        unit.commit().await?;
        let numbers = GaplessSequence::new(&accounts, "entry")?;
        numbers
            .next(Account::partition("t"), |number: u32, unit| unit.insert(&entry(number + 9)).map(drop))
            .await?;
        let trail =
            table_core::TableStoreExt::table::<Audit>(&store).query(Audit::rows("t")).collect().await?;
        let mut actors: Vec<_> =
            trail.iter().map(|audit| (audit.actor.as_str(), audit.request.as_str())).collect();
        actors.sort_unstable();
        assert_eq!(
            actors,
            [("", ""), ("ada", "request 1"), ("ada", "request 1"), ("grace", "request 2")],
            "by the handle, also for a delete; by a unit; by a numbered unit"
        );
        Ok::<_, Error>(())
    })
    .unwrap();
}

/// Tests that waiting transactions share a timer.
#[test]
fn transactions_that_wait_for_their_turns_share_a_timer() {
    let (_, accounts) = bank();
    let timers = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&timers);
    let runtime = Runtime::new().sleep_by(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::pending())
    });
    let accounts = accounts.with_runtime(runtime);
    for number in 100..150 {
        let held = turn(&accounts);
        let mut insert =
            Box::pin(accounts.transaction(Account::partition("t"), async |unit| {
                unit.insert(&account(number, 0)).map(drop)
            }));
        assert!((&mut insert).now_or_never().is_none(), "the turn is taken");
        drop(held);
        block_on(insert).unwrap();
    }
    assert_eq!(timers.load(Ordering::Relaxed), 1);
}

#[test]
fn a_transaction_that_finds_its_group_full_does_not_run_twice() {
    let (_, accounts) = bank();
    let runs = AtomicUsize::new(0);
    // Three of these units fill a group: a transaction has at most 100 operations.
    let post = async |first: u32| {
        let post = accounts.transaction(Account::partition("t"), async |unit| {
            runs.fetch_add(1, Ordering::Relaxed);
            for number in first..first + 30 {
                unit.insert(&Entry { tenant: "t".into(), number, cents: 1 })?;
            }
            Ok::<_, Error>(())
        });
        post.await.map(drop)
    };
    let held = turn(&accounts);
    let mut posts = Box::pin(join_all((0..12).map(|at| post(at * 30))));
    assert!((&mut posts).now_or_never().is_none(), "the turn is taken");
    drop(held);
    block_on(posts).into_iter().collect::<Result<(), _>>().unwrap();
    assert_eq!(runs.into_inner(), 12);
}

#[test]
fn a_lost_response_is_an_error_of_every_unit_of_the_group() {
    let (store, accounts) = bank();
    store.script(
        |call, _| if call == Call::Submit { Fault::After(ErrorCode::OperationTimedOut) } else { Fault::None },
    );
    let insert = async |number: u32| {
        let insert = accounts
            .transaction(Account::partition("t"), async |unit| unit.insert(&account(number, 0)).map(drop));
        insert.await.map(drop)
    };
    let outcomes = block_on(join_all([20, 21, 22].map(&insert)));
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().is_err_and(Error::is_ambiguous)), "{outcomes:?}");
    store.heal();
    assert_eq!(block_on(insert(20)).unwrap_err().code(), ErrorCode::EntityAlreadyExists);
}
