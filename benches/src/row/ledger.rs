//! Measures an accounting ledger with one tenant: its posts, its queries and its bytes on disk. Compares it with the same ledger on `SQLite`.
//!
//! The tasks that post entries run on a runtime with one thread per core, as in an asynchronous application. `SQLite` blocks, so each of its tasks is a thread.
//!
//! A load is durable when it completes. The engine writes all entries without waiting for the disk, and then syncs once. `SQLite` syncs once per batch. The
//! queries run on ledgers that were loaded with the same entries.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::books::ours::{self, Ours};
use crate::books::sqlite::{Grouped, SqliteBooks};
use crate::books::{ACCOUNTS, Books, Draft, FIRST, PAGE, Reader, draft, month};
use crate::folder::{Folder, bytes_below, bytes_of, settle};
use crate::harness::{Contender, Figure, Rate, alternate, crowd, crowd_of_tasks, repeat_busy};
use crate::peer::sqlite::Sqlite;
use crate::report::{OURS, Report, Target};
use crate::stage::Stage;

/// The numbers of concurrent tasks that post entries, each with its label in the table of results.
const TASKS: [(&str, usize); 5] =
    [("1 task", 1), ("2 tasks", 2), ("4 tasks", 4), ("8 tasks", 8), ("16 tasks", 16)];
/// The number of times the entries are loaded into a new ledger.
const LOADS: usize = 3;
/// The number of entries to load.
const ENTRIES: u32 = 200_000;
/// The number of entries to load in a quick run.
///
/// With two postings per entry, this is just enough for the statement of each account to fill a page. At this size, most of the disk space is a reserve of
/// fixed size, which the engine keeps in case the disk fills up.
const FEWEST: u32 = 25_000;

/// The name of the ledger whose posts are made by threads instead of tasks. Each post then waits for threads to be woken.
const THREADS: &str = "tables, threads";

/// A counter that gives each post a unique request id.
#[derive(Debug, Default)]
struct Turns(AtomicU32);

impl Turns {
    fn next(&self, postings: u32) -> Draft {
        draft(self.0.fetch_add(1, Ordering::Relaxed), postings)
    }
}

/// Measures loads, posts and queries and adds the results to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let folder = stage.folder.inside("ledger");
    std::fs::create_dir_all(folder.join(""))?;
    let (ours, peer) = load(stage, report, &folder)?;
    questions(stage, report, [&ours, &peer])?;
    drop((ours, peer));
    let ours = Arc::new(Ours::create(&folder.join("tables"))?);
    let peer = SqliteBooks::create(&folder.join("peer"))?;
    let turns = [(); 2].map(|()| Arc::<Turns>::default());
    for (tasks, postings, target) in [(16, 2, 2.0), (1, 2, 0.6), (1, 50, 0.6)] {
        posts(stage, report, (&ours, &peer), &turns, (tasks, postings, target))?;
    }
    crowded(stage, report, &ours, &turns[0])?;
    [&*ours as &dyn Books, &peer].into_iter().try_for_each(|books| books.reader()?.entries().map(drop))
}

/// Compares durable posts of entries with the given number of postings, made by the given number of concurrent tasks.
fn posts(
    stage: &Stage,
    report: &mut Report,
    (ours, peer): (&Arc<Ours>, &SqliteBooks),
    [turns, peer_turns]: &[Arc<Turns>; 2],
    (tasks, postings, target): (usize, u32, f64),
) -> Outcome<()> {
    let grouped = Grouped(peer);
    let contenders = vec![
        Contender::new(OURS, |time| posting(ours, turns, (tasks, postings), time)),
        Contender::new(THREADS, |time| crowd(tasks, time, || ours.post(vec![turns.next(postings)]))),
        Contender::new(Sqlite::NAME, |time| {
            crowd(tasks, time, || peer.post(vec![peer_turns.next(postings)]))
        }),
        Contender::new(Grouped::NAME, |time| {
            crowd(tasks, time, || grouped.post(vec![peer_turns.next(postings)]))
        }),
    ];
    let figures = alternate(contenders, stage.options.rounds, stage.options.time * 2)?;
    let unit = if tasks == 1 { "task" } else { "tasks" };
    let work = format!("ledger: durable posts of {postings} lines, {tasks} {unit}");
    let targets =
        [(Sqlite::NAME, Target::AtLeast(target)), (Grouped::NAME, Target::Shown), (THREADS, Target::Shown)];
    report.compare(&work, &figures, &targets);
    Ok(())
}

/// Posts entries with the given number of postings from the given number of tasks.
fn posting(
    ours: &Arc<Ours>,
    turns: &Arc<Turns>,
    (tasks, postings): (usize, u32),
    time: Duration,
) -> Outcome<Rate> {
    let (ours, turns) = (Arc::clone(ours), Arc::clone(turns));
    crowd_of_tasks(tasks, time, move || Arc::clone(&ours).submit(turns.next(postings)))
}

/// Loads entries into new ledgers. Compares the load rates and the sizes on disk. Finally, reopens the last two ledgers.
fn load(stage: &Stage, report: &mut Report, folder: &Folder) -> Outcome<(Ours, SqliteBooks)> {
    let entries = if stage.options.quick { FEWEST } else { ENTRIES };
    let (mut rates, mut places) = ([const { Vec::new() }; 2], [folder.join("ours"), folder.join("peer")]);
    for round in 0..LOADS {
        places = ["ours", "peer"].map(|name| folder.join(&format!("{name}-{round}")));
        let [place, peer_place] = &places;
        let (ours, peer) = (ours::relaxed(place)?, SqliteBooks::create(peer_place)?);
        for (books, rates) in [&ours as &dyn Books, &peer].into_iter().zip(&mut rates) {
            let drafts = (0..entries).map(|turn| draft(turn, 2)).collect();
            settle()?;
            let start = Instant::now();
            books.load(drafts)?;
            let rate = Rate { operations: entries.into(), elapsed: start.elapsed() };
            rates.push(rate.per_second());
        }
    }
    let [rates, peer_rates] = rates;
    let figures = [Figure::new(OURS, rates), Figure::new(Sqlite::NAME, peer_rates)];
    report.compare("ledger: load of entries of 2 lines", &figures, &[(Sqlite::NAME, Target::AtLeast(0.5))]);
    let [place, peer_place] = &places;
    let (all, peer_all, rows) = (bytes_below(place)?, bytes_below(peer_place)?, bytes_of(place, ".rows")?);
    for (work, bytes, target) in [
        ("ledger: bytes on disk of an entry", all, Target::AtMost(3.0)),
        ("ledger: bytes of them in rows", rows, Target::Shown),
    ] {
        let [of_ours, of_peer] = [bytes, peer_all].map(|bytes| per_entry(bytes, entries));
        let (shown, against) = (format!("{of_ours:.0}"), format!("{} {of_peer:.0}", Sqlite::NAME));
        report.line(work, shown, against, of_ours / of_peer, target);
    }
    Ok((Ours::open(place)?, SqliteBooks::open(peer_place)?))
}

#[expect(clippy::cast_precision_loss, reason = "bytes are shown with three digits")]
fn per_entry(bytes: u64, entries: u32) -> f64 {
    bytes as f64 / f64::from(entries)
}

/// Compares the post rate with the most concurrent tasks with the highest rate at any number of tasks.
fn crowded(stage: &Stage, report: &mut Report, ours: &Arc<Ours>, turns: &Arc<Turns>) -> Outcome<()> {
    let contenders =
        TASKS.map(|(name, tasks)| Contender::new(name, move |time| posting(ours, turns, (tasks, 2), time)));
    let mut figures = alternate(Vec::from(contenders), stage.options.rounds, stage.options.time)?;
    let Some(many) = figures.pop() else { return Ok(()) };
    let faster = |best: Figure, other: Figure| if other.median() > best.median() { other } else { best };
    let best = figures.into_iter().fold(many.clone(), faster);
    report.compare_figures(
        "ledger: posts of 16 tasks, against the best number of tasks",
        &[many, best],
        Target::AtLeast(0.9),
    );
    Ok(())
}

/// A query on a ledger. Its arguments are an account and a month.
type Question = fn(&mut dyn Reader, u32, u32) -> Outcome<()>;

/// The measured queries. Each has a name, the query, the number of runs between two clock readings, and the target ratio.
const QUESTIONS: [(&str, Question, u32, f64); 3] = [
    ("balance of an account", |reader, account, _| keep(reader.balance(account)), 64, 0.5),
    ("50 lines of a statement", |reader, account, _| keep(reader.statement(account)), 8, 0.5),
    ("trial balance of 1,000 accounts", |reader, _, until| keep(reader.trial_balance(until)), 1, 1.0),
];

fn keep<T>(found: Outcome<T>) -> Outcome<()> {
    black_box(found?);
    Ok(())
}

/// Compares the queries for balances, statements and trial balances.
fn questions(stage: &Stage, report: &mut Report, ledgers: [&dyn Books; 2]) -> Outcome<()> {
    let (rounds, time) = (stage.options.rounds, stage.options.time);
    let account = |turn: u32| turn.wrapping_mul(7_919) % ACCOUNTS;
    let until = month(FIRST) + 12;
    for (work, question, batch, target) in QUESTIONS {
        let mut contenders = Vec::new();
        for books in ledgers {
            let (mut reader, mut turn) = (books.reader()?, 0_u32);
            if reader.statement(account(turn))?.len() != PAGE {
                return Err("an account has too few postings for a page".into());
            }
            contenders.push(Contender::new(books.name(), move |time| {
                repeat_busy(time, batch, || {
                    turn = turn.wrapping_add(1);
                    question(&mut *reader, account(turn), until)
                })
            }));
        }
        let figures = alternate(contenders, rounds, time)?;
        let work = format!("ledger: {work}");
        report.compare_times(&work, &figures, &[(Sqlite::NAME, Target::AtLeast(target))]);
    }
    Ok(())
}
