//! Tests concurrent registrations. The requests of the sample run in chosen orders and in random orders.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::task::noop_waker;
use table_patterns::query::{Continuation, Page, Query, Select};
use table_patterns::store::{Capabilities, Committed, StoredRow, TablePage};
use table_patterns::{BlockOn, EntityKey, TableName, Transaction};

use super::*;

/// A store that pauses before each read and write, so a test can choose the program that sends the next request.
#[derive(Clone, Debug)]
struct Pausing(Engine);

impl fmt::Display for Pausing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Pauses the caller until it is polled again.
async fn pause() {
    let mut has_paused = false;
    std::future::poll_fn(|context| {
        if has_paused {
            return Poll::Ready(());
        }
        has_paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl TableStore for Pausing {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    async fn create_table(&self, table: &TableName) -> Result<()> {
        self.0.create_table(table).await
    }

    async fn delete_table(&self, table: &TableName) -> Result<()> {
        self.0.delete_table(table).await
    }

    async fn list_tables(&self, prefix: &str, from: Option<&str>, top: usize) -> Result<TablePage> {
        self.0.list_tables(prefix, from, top).await
    }

    async fn get(&self, table: &TableName, key: &EntityKey, select: &Select) -> Result<Option<StoredRow>> {
        pause().await;
        self.0.get(table, key, select).await
    }

    async fn query(&self, table: &TableName, query: &Query, from: Option<&Continuation>) -> Result<Page> {
        pause().await;
        self.0.query(table, query, from).await
    }

    async fn submit(&self, table: &TableName, transaction: Transaction) -> Result<Committed> {
        pause().await;
        self.0.submit(table, transaction).await
    }
}

/// A program that a test runs request by request.
struct Program<'a, T> {
    /// The rest of the program. `None` if the program has ended or has been stopped.
    future: Option<Pin<Box<dyn Future<Output = Result<T>> + 'a>>>,
    outcome: Option<Result<T>>,
}

impl<'a, T> Program<'a, T> {
    fn new(future: impl Future<Output = Result<T>> + 'a) -> Self {
        Self { future: Some(Box::pin(future)), outcome: None }
    }

    /// Runs the program until it ends or is about to send its next request.
    fn step(&mut self) {
        if let Some(future) = &mut self.future
            && let Poll::Ready(outcome) = future.as_mut().poll(&mut Context::from_waker(&noop_waker()))
        {
            (self.future, self.outcome) = (None, Some(outcome));
        }
    }

    fn steps(&mut self, number: usize) {
        (0..number).for_each(|_| self.step());
    }

    fn finish(mut self) -> Result<T> {
        while self.outcome.is_none() {
            self.step();
        }
        self.outcome.expect("the program has ended")
    }

    fn is_running(&self) -> bool {
        self.future.is_some()
    }

    fn stop(&mut self) {
        self.future = None;
    }

    fn succeeded(&self, expected: &T) -> bool
    where
        T: PartialEq,
    {
        matches!(&self.outcome, Some(Ok(outcome)) if outcome == expected)
    }
}

/// A seeded generator of pseudo-random numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap_or(0)
    }
}

fn open(store: &Pausing) -> Users<Pausing> {
    Users::open(store).block_on().unwrap()
}

fn is_stored(users: &Users<Pausing>, user: &User) -> bool {
    users.users.get(User::key(&user.tenant, user.id)).block_on().unwrap().is_some()
}

#[test]
fn the_program_of_the_page_runs() {
    main().unwrap();
}

/// Tests a registration that continues after its reservation has expired. In the meantime, a second attempt for the same user has reserved the login and
/// stopped.
#[test]
fn a_late_attempt_does_not_rely_on_a_reservation_that_another_user_takes_over() {
    let users = open(&Pausing(Engine::in_memory()));
    let minutes = |minutes| ticks::now() + TimeDelta::minutes(minutes);
    let [ada, ben, cleo] =
        [("contoso", 1), ("adatum", 2), ("fabrikam", 3)].map(|(tenant, id)| user(tenant, id, "x"));
    let mut late = Program::new(users.register(&ada, minutes(0)));
    late.steps(2); // it has reserved the login
    users.reserve(&cleo, minutes(6)).block_on().unwrap().expect("expired");
    users.reserve(&ada, minutes(12)).block_on().unwrap().expect("expired");
    let mut other = Program::new(users.register(&ben, minutes(18)));
    other.steps(4); // it has read the expired reservation and the missing user
    let late = late.finish().unwrap();
    assert_eq!((late, other.finish().unwrap()), (true, false));
    assert!(is_stored(&users, &ada) && !is_stored(&users, &ben));
}

#[test]
fn a_stopped_removal_frees_the_login() {
    let users = open(&Pausing(Engine::in_memory()));
    let now = ticks::now();
    let (ada, ben) = (user("contoso", 1, "x"), user("adatum", 2, "x"));
    assert!(users.register(&ada, now).block_on().unwrap());
    let mut removal = Program::new(users.remove(&ada));
    removal.steps(3); // it has read the reservation and deleted the user
    removal.stop();
    assert!(!is_stored(&users, &ada));
    assert!(users.register(&ben, now).block_on().unwrap());
    users.remove(&ada).block_on().unwrap(); // repeated
    assert!(is_stored(&users, &ben));
    assert!(!users.register(&ada, now).block_on().unwrap());
}

#[test]
fn at_most_one_of_two_users_registers_a_login_in_any_order_of_requests() {
    let users = open(&Pausing(Engine::in_memory()));
    let now = ticks::now();
    let mut registered = [0, 0];
    for seed in 0..10_000 {
        let mut random = Random(u64::from(seed));
        let login = format!("login{seed}");
        let rivals = [user("contoso", seed, &login), user("adatum", seed, &login)];
        let mut programs: Vec<(usize, Program<'_, bool>)> = Vec::new();
        for attempt in 0..5 {
            let rival = usize::try_from(attempt).unwrap() % 2;
            // The reservations of earlier programs have expired according to the clock of this program.
            let now = now + TimeDelta::minutes(6 * attempt);
            programs.push((rival, Program::new(users.register(&rivals[rival], now))));
        }
        while programs.iter().any(|(_, program)| program.is_running()) {
            let next = random.below(programs.len());
            if random.below(20) == 0 {
                programs[next].1.stop();
            }
            programs[next].1.steps(1 + random.below(5));
        }
        let is_registered =
            [0, 1].map(|rival| programs.iter().any(|(of, program)| *of == rival && program.succeeded(&true)));
        assert_ne!(is_registered, [true, true], "seed {seed}: both users were registered");
        for rival in [0, 1].into_iter().filter(|rival| is_registered[*rival]) {
            registered[rival] += 1;
            assert!(is_stored(&users, &rivals[rival]), "seed {seed}: a registered user has no row");
        }
    }
    assert!(registered.iter().all(|times| *times > 1_000), "{registered:?}");
}

#[test]
fn registrations_and_removals_that_all_end_leave_at_most_one_user() {
    let users = open(&Pausing(Engine::in_memory()));
    let now = ticks::now();
    let mut stored = 0;
    for seed in 0..10_000 {
        let mut random = Random(u64::from(seed));
        let login = format!("login{seed}");
        let rivals = [user("contoso", seed, &login), user("adatum", seed, &login)];
        let mut programs: Vec<Program<'_, bool>> = Vec::new();
        for _ in 0..6 {
            let rival = &rivals[random.below(2)];
            let now = now + TimeDelta::minutes(6 * i64::try_from(random.below(4)).unwrap());
            programs.push(if random.below(3) == 0 {
                Program::new(async { users.remove(rival).await.map(|()| false) })
            } else {
                Program::new(users.register(rival, now))
            });
        }
        while programs.iter().any(Program::is_running) {
            let next = random.below(programs.len());
            programs[next].steps(1 + random.below(3));
        }
        let left = rivals.iter().filter(|rival| is_stored(&users, rival)).count();
        assert!(left < 2, "seed {seed}: two users have the login");
        stored += left;
    }
    assert!(stored > 3_000, "{stored}");
}
