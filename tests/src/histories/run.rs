//! Runs the history of a seed, records it, and checks it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use table_azure::testing::{Wire, WireRequest};
use table_azure::{Options, RetryPolicy};

use crate::histories::check::check;
use crate::histories::client::{account_client, wrong_clock};
use crate::histories::history::{History, Outcome};
use crate::histories::mutant::{Mutant, MutantStore};
use crate::histories::program::{Actor, Recorder, prepare};
use crate::histories::service::Account;
use crate::histories::wire::{Act, LossyWire, Script};

/// The number of calls in a history with each kind of outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of calls.
    pub calls: usize,
    /// The number of calls that succeeded.
    pub done: usize,
    /// The number of refused calls.
    pub refused: usize,
    /// The number of ambiguous calls.
    pub ambiguous: usize,
    /// The number of calls whose write the account received more than once.
    pub repeated: usize,
}

impl Tally {
    /// Counts the outcomes of the calls in a history.
    #[must_use]
    pub fn of(history: &History) -> Self {
        let mut tally = Self { calls: history.records.len(), ..Self::default() };
        for record in &history.records {
            let count = match record.outcome {
                Outcome::Refused(_) => &mut tally.refused,
                Outcome::Ambiguous => &mut tally.ambiguous,
                _ => &mut tally.done,
            };
            *count += 1;
            tally.repeated += usize::from(record.arrivals > 1);
        }
        tally
    }

    /// Returns the sum of two tallies.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls + other.calls,
            done: self.done + other.done,
            refused: self.refused + other.refused,
            ambiguous: self.ambiguous + other.ambiguous,
            repeated: self.repeated + other.repeated,
        }
    }
}

/// A history with impossible results.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed that reproduces the history.
    pub seed: u64,
    /// A description of the row or counter whose results are impossible, and of all calls on it.
    pub report: String,
    /// The requests sent by each client.
    pub sent: Vec<Vec<String>>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.report)?;
        for (client, lines) in self.sent.iter().enumerate() {
            writeln!(f, "\nclient {client} sent:")?;
            lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        Ok(())
    }
}

/// Runs the history of `seed`. The clients have the fault `mutant`. If it is `None`, they are correct.
///
/// # Errors
/// The history if its results are impossible.
///
/// # Panics
/// Panics if no runtime can be built.
pub fn run(seed: u64, mutant: Option<Mutant>) -> Result<Tally, Box<Failure>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    #[expect(
        clippy::expect_used,
        reason = "a runtime of one thread without I/O needs nothing from the system"
    )]
    let runtime = runtime.expect("a runtime of one thread");
    runtime.block_on(history(seed, mutant))
}

async fn history(seed: u64, mutant: Option<Mutant>) -> Result<Tally, Box<Failure>> {
    let mut random = StdRng::seed_from_u64(seed);
    let (account, report) = (Account::default(), Recorder::default());
    let broken = |error: table_core::Error| {
        Box::new(Failure { seed, report: format!("it could not be run: {error}"), sent: Vec::new() })
    };

    let calm = Arc::new(LossyWire::new(account.clone(), Duration::ZERO, Box::new(|_| Act::Serve)));
    let owner = account_client(Arc::clone(&calm) as Arc<dyn Wire>, Options::new(), seed).map_err(broken)?;
    let owner = MutantStore::new(owner, None);
    prepare(&owner).await.map_err(broken)?;

    // A merge without an identifier keeps the identifier of another writer (`docs/lost-answers.md`). Therefore, either all writers use identifiers or none
    // does.
    let identify = random.random();
    let (mut wires, mut tasks) = (Vec::new(), Vec::new());
    for number in 0..random.random_range(2..4_usize) {
        let behind = Duration::from_millis(random.random_range(10..2_000));
        let script = by_chance(account.clone(), random.random());
        let wire = Arc::new(LossyWire::new(account.clone(), behind, script));
        let retry = RetryPolicy {
            max_retries: random.random_range(0..4),
            initial_delay: Duration::from_millis(20),
            max_delay: Duration::from_millis(200),
            operation_timeout: Duration::from_secs(random.random_range(1..120)),
            ..RetryPolicy::default()
        };
        let clock = wrong_clock(random.random_range(-7_200..7_200));
        let options = Options::new().retry(retry).clock(clock).operation_ids(identify);
        let own = random.random();
        let sent_over = Mutant::wire(mutant, Arc::clone(&wire) as Arc<dyn Wire>);
        let tables = MutantStore::new(account_client(sent_over, options, own).map_err(broken)?, mutant);
        wires.push(Arc::clone(&wire));
        let actor = Actor::new(number, tables, wire, report.clone(), own);
        tasks.push(tokio::spawn(actor.work(random.random_range(2..6))));
    }
    let mut actors = Vec::new();
    for task in tasks {
        let early =
            |error| Failure { seed, report: format!("a program ended early: {error}"), sent: Vec::new() };
        actors.push(task.await.map_err(|error| Box::new(early(error)))?);
    }
    // After this time, all delayed requests have arrived.
    tokio::time::sleep(LATEST * 2).await;
    let last = Actor::new(actors.len(), owner, calm, report.clone(), seed).look().await;
    actors.into_iter().chain([last]).for_each(Actor::tell);
    let history = report.history();
    match check(&history) {
        Ok(()) => Ok(Tally::of(&history)),
        Err(report) => {
            let sent = wires.iter().map(|wire| wire.log()).collect();
            Err(Box::new(Failure { seed, report, sent }))
        }
    }
}

/// The maximum delay of a delayed request.
const LATEST: Duration = Duration::from_secs(3);

/// Returns a script that chooses the fate of each request at random. Three quarters of the requests are handled normally.
fn by_chance(account: Account, seed: u64) -> Script {
    let mut random = StdRng::seed_from_u64(seed);
    Box::new(move |_: &WireRequest| {
        let some = |random: &mut StdRng, most: Duration| {
            Duration::from_millis(random.random_range(1..u64::try_from(most.as_millis()).unwrap_or(2)))
        };
        match random.random_range(0..64_u32) {
            0 => Act::NoConnection,
            1 | 2 => Act::DropBefore,
            3..6 => Act::DropAfter,
            6 | 7 => Act::Late(some(&mut random, LATEST)),
            8 | 9 => Act::Slow(some(&mut random, LATEST)),
            10 => Act::SilenceBefore,
            11 => Act::SilenceAfter,
            12 => Act::Double,
            13 | 14 => Act::Busy,
            15 => Act::GatewayBefore(502),
            16 => Act::GatewayAfter(504),
            17 => Act::GatewayAfter(200),
            18 => Act::CutBody,
            19 => {
                account.jump(Duration::from_secs(random.random_range(1..7_200)));
                Act::Serve
            }
            _ => Act::Serve,
        }
    })
}
