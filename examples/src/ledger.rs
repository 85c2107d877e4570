//! The ledger program. It loads, posts, closes, moves and erases the books of tenants, checks their invariants and prints rates.

pub mod books;
mod check;
mod load;
mod webhook;

use std::error::Error;
use std::time::Instant;

use chrono::{Datelike, NaiveDate};
use futures_util::{StreamExt, TryStreamExt, stream};
use table_core::index::Index;
use table_core::{TableStoreExt, ticks};
use table_patterns::EntityStore;
use table_patterns::periods::delete_in_batches;
use table_patterns::tenant::Tenant;

#[cfg(feature = "azure")]
use crate::cleanup::run_and_delete;
use crate::grid::thousands;
use crate::ledger::books::{Bookkeeping, Draft, Refused};
use crate::model::ledger::{Account, Audit, Balances, Books, Entry, Line, MonthSums, Posting, Request, next};
use crate::store::{self, Place, Store};

type Failed = Box<dyn Error>;

/// The names of the tenants. All queries concern the first tenant.
const TENANTS: [&str; 2] = ["contoso", "adatum"];
const CONTOSO: &str = TENANTS[0];
/// The number of accounts of each tenant. Their balances take up five rows.
const ACCOUNTS: u32 = 1_000;

/// Runs the complete program. `entries` is the number of entries, and `tasks` is the number of concurrent tasks that post entries.
///
/// # Errors
/// An error if the folder is not empty, or any error from the store.
///
/// # Panics
/// Panics if an invariant of the ledger is violated.
pub async fn run(place: &Place, entries: u32, tasks: usize) -> Result<(), Failed> {
    match place {
        Place::Account(connection_string) => in_account(connection_string, entries, tasks).await,
        Place::Memory => Box::pin(on(&store::in_memory(), entries, tasks)).await,
        Place::Folder(folder) => {
            store::require_empty(folder)?;
            Box::pin(on(&store::open(folder)?, entries, tasks)).await
        }
        Place::Temporary => {
            let folder = tempfile::Builder::new().prefix("ledger-").tempdir()?;
            Box::pin(on(&store::open(folder.path())?, entries, tasks)).await
        }
    }
}

#[cfg(feature = "azure")]
async fn in_account(connection_string: &str, entries: u32, tasks: usize) -> Result<(), Failed> {
    let store = store::azure(connection_string).await?;
    run_and_delete(&store, Box::pin(on(&store, entries, tasks))).await
}

#[cfg(not(feature = "azure"))]
#[expect(clippy::unused_async, reason = "the signature of the feature `azure`")]
async fn in_account(_: &str, _: u32, _: usize) -> Result<(), Failed> {
    Err("this build has no client for accounts: add `--features azure` to the command, before `--`".into())
}

async fn on(store: &Store, entries: u32, tasks: usize) -> Result<(), Failed> {
    println!("Store: {store}\n");
    let books = Bookkeeping::open(store).await?.acting("importer");
    load::load(&books, entries).await?;
    post(&books, tasks, entries / 10 + 16).await?;
    questions(store, &books).await?;
    refusals(&books).await?;
    documents_and_audit(store, &books).await?;
    webhook::follow(&books).await?;
    next_version(store, &books).await?;
    check::tenant(&books, CONTOSO).await?;
    Box::pin(one_tenant(store, &books)).await
}

/// Returns today's date, which is the effective date of entries posted now.
pub(super) fn today() -> NaiveDate {
    ticks::now().date_naive()
}

/// Returns a draft with the given number of postings. The postings go to every seventh account, starting with account number `first`.
fn draft(request: String, effective: NaiveDate, first: u32, postings: u32) -> Draft {
    let line = |at| {
        let account = (first + at * 7) % ACCOUNTS;
        let cents = if at == 0 { i64::from(postings - 1) * 100 } else { -100 };
        Line { account, cents }
    };
    Draft {
        reference: format!("invoice {}", first % 1_000),
        request,
        effective,
        lines: (0..postings).map(line).collect(),
    }
}

fn rate(what: &str, count: u32, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "  {what:<58} {} in {seconds:.2} s: {} a second",
        thousands(count.into()),
        thousands(per_second(count, seconds))
    );
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shown with limited precision")]
fn per_second(count: u32, seconds: f64) -> u64 {
    (f64::from(count) / seconds.max(1e-9)) as u64
}

/// Posts entries one after another. Then posts from concurrent tasks that share accounts, and from concurrent tasks with different accounts.
async fn post(books: &Bookkeeping, tasks: usize, count: u32) -> Result<(), Failed> {
    println!("\nPosts of {CONTOSO}");
    let chart = &books.chart(CONTOSO).await?;
    let books = &books.acting("clerk");
    let one = async |name: &str, number: u32, accounts: u32, postings: u32| {
        let draft = draft(format!("{name} {number}"), today(), number % accounts, postings);
        books.post(CONTOSO, chart, &[draft]).await.map(drop)
    };
    let all = async |name: &str, tasks: usize, accounts: u32, postings: u32| {
        let began = Instant::now();
        let posts = stream::iter((0..count).map(|number| one(name, number, accounts, postings)));
        posts.buffer_unordered(tasks).try_collect::<()>().await?;
        rate(name, count, began);
        Ok::<_, Refused>(())
    };
    all("entries of 2 postings by one task", 1, 1_000, 2).await?;
    all("entries of 50 postings by one task", 1, 1_000, 50).await?;
    all(&format!("entries on the same accounts by {tasks} tasks"), tasks, 1, 2).await?;
    all(&format!("entries on any accounts by {tasks} tasks"), tasks, 1_000, 2).await?;
    Ok(())
}

/// Queries balances, statements and entries, and prints the cost of each query.
async fn questions(store: &Store, books: &Bookkeeping) -> Result<(), Failed> {
    println!("\nQuestions of {CONTOSO}");
    let cost = |what: &str| println!("  {what:<58} {}", *store.meter().take());
    store.meter().take();
    let now = books.balance(CONTOSO, 0).await?;
    cost("the balance of an account");
    let same = books.balance_at(CONTOSO, 0, today()).await?;
    cost("the balance at the end of today");
    assert_eq!(now, same, "the balance is the sum of all postings");
    let trial = books.trial_balance(CONTOSO, load::FIRST.with_day(28).ok_or("a day")?).await?;
    cost("the trial balance at a date in the past");
    assert_eq!(trial.values().sum::<i64>(), 0, "debits equal credits");
    store.meter().take();
    let (newest, cursor) = books.statement(CONTOSO, 0, None).await?;
    cost("50 postings of a statement, the newest first");
    assert!(newest.is_sorted_by(|one, other| one.effective >= other.effective));
    if let Some(cursor) = cursor {
        let (more, _) = books.statement(CONTOSO, 0, Some(&cursor)).await?;
        assert!(newest.last().map(|last| last.effective) >= more.first().map(|first| first.effective));
        let refused =
            books.statement(TENANTS[1], 0, Some(&cursor)).await.err().ok_or("another tenant's cursor")?;
        assert_eq!(refused.rule(), Some("PAGE-9"));
        store.meter().take();
    }
    let found = books.entries.query(Entry::by_reference(CONTOSO, "invoice 7")).limit(20);
    let found = found.project::<crate::model::ledger::EntryLine>().collect().await?;
    cost("20 entries with a reference");
    assert!(!found.is_empty());
    let volumes = books.entries_of(CONTOSO, load::FIRST, load::FIRST).await?;
    cost("the entries of a day");
    assert!(volumes.iter().any(|entry| entry.volume >= 100));
    Ok(())
}

/// Shows how the ledger handles repeated requests, closed periods, closed accounts and repeated reversals.
async fn refusals(books: &Bookkeeping) -> Result<(), Failed> {
    let chart = &books.chart(CONTOSO).await?;
    let manager = books.acting("manager");
    let late = draft("late".into(), today(), 3, 2);
    let number = books.post(CONTOSO, chart, std::slice::from_ref(&late)).await?;
    let others = [
        Draft { lines: draft(String::new(), today(), 4, 3).lines, ..late.clone() },
        Draft { reference: "another invoice".to_owned(), ..late.clone() },
    ];
    for other in others {
        let refused = books.post(CONTOSO, chart, &[other]).await;
        assert!(matches!(refused, Err(Refused::OtherRequest)), "one identifier for two entries: {refused:?}");
    }

    let reversal = manager.reverse(CONTOSO, number[0], today()).await?;
    let again = manager.reverse(CONTOSO, number[0], today()).await;
    assert!(matches!(again, Err(Refused::Reversed)), "an entry is reversed once: {again:?}");
    let [entry, reverse] = [number[0], reversal].map(|number| Entry::key(CONTOSO, number));
    let (entry, reverse) = (books.entries.get(entry).await?, books.entries.get(reverse).await?);
    assert_eq!(entry.and_then(|entry| entry.reversed_by), Some(reversal));
    assert_eq!(reverse.and_then(|entry| entry.reverses), Some(number[0]));

    manager.close(CONTOSO, today()).await?;
    assert_eq!(books.post(CONTOSO, chart, &[late]).await?, number, "a repetition gets the first answer");
    let closed = books.post(CONTOSO, chart, &[draft("closed".into(), today(), 3, 2)]).await;
    assert!(matches!(closed, Err(Refused::Period)), "the period is closed: {closed:?}");

    let tomorrow = today().succ_opt().ok_or("the last day")?;
    let with_balance = manager.close_account(CONTOSO, 0).await;
    assert!(matches!(with_balance, Err(Refused::Account(0))), "{with_balance:?}");
    let missing = manager.close_account(CONTOSO, ACCOUNTS + 1).await;
    assert!(matches!(missing, Err(Refused::Unknown)), "the account does not exist: {missing:?}");
    manager.close_account(CONTOSO, ACCOUNTS).await?;
    let lines = vec![Line { account: 0, cents: 5 }, Line { account: ACCOUNTS, cents: -5 }];
    let to_closed = Draft { lines, ..draft("to a closed account".into(), tomorrow, 0, 2) };
    let refused = books.post(CONTOSO, chart, &[to_closed]).await;
    assert!(matches!(refused, Err(Refused::Account(ACCOUNTS))), "{refused:?}");
    Ok(())
}

/// Attaches a document to an entry and deletes the oldest years from the audit log.
async fn documents_and_audit(store: &Store, books: &Bookkeeping) -> Result<(), Failed> {
    books.acting("clerk").attach(CONTOSO, 1, vec![7; 2_000_000]).await?;
    let entry = books.entries.get(Entry::key(CONTOSO, 1)).await?.ok_or("loaded")?;
    let document = books.files.open(&entry, Entry::ATTACHMENT_BLOB).await?.ok_or("attached")?;
    assert_eq!(document.bytes().await?.len(), 2_000_000);
    let year = u32::try_from(today().year())?;
    let audit = books.audit(CONTOSO, year).await?;
    let by = |actor: &str| audit.iter().filter(|line| line.actor == actor).count();
    println!(
        "\nAudit of {year}: {} lines, {} by clerks, {} by managers",
        audit.len(),
        by("clerk"),
        by("manager")
    );
    assert!(by("clerk") > 0 && by("manager") > 0 && by("unknown") == 0);
    let old = Audit {
        tenant: CONTOSO.into(),
        year: year - 11,
        id: "1".into(),
        actor: "clerk".into(),
        change: "old".into(),
    };
    let audits = store.table::<Audit>();
    audits.insert(&old).await?;
    let expired = Audit::rows(CONTOSO).year(..year - 10);
    let deleted = delete_in_batches(&audits, expired).run().await?.deleted;
    assert_eq!(deleted, 1, "kept for ten years");
    Ok(())
}

/// Shows a newer version of the program, which adds a field and an index on the field. The older version continues to post until the index has been built.
async fn next_version(store: &Store, old: &Bookkeeping) -> Result<(), Failed> {
    println!("\nThe next version of the program");
    let new = store.entities::<next::Entry>().create_if_missing().await?;
    let announced = new.backfill::<next::EntryByCostCenter>().run().await?;
    assert!(announced.retry_after.is_some(), "the index waits for programs of the older version");
    let (chart, tomorrow) = (old.chart(CONTOSO).await?, today().succ_opt().ok_or("the last day")?);
    old.post(CONTOSO, &chart, &[draft("by the older program".into(), tomorrow, 9, 2)]).await?;
    println!("  the older program posts while the index is announced");

    // From here on, the older version no longer runs.
    let began = Instant::now();
    let built = new.backfill::<next::EntryByCostCenter>().assume_no_older_programs().run().await?;
    rate("indexed", u32::try_from(built.scanned)?, began);
    new.update(next::Entry::key(CONTOSO, 2), |entry| entry.cost_center = Some("north".into())).await?;
    let north = new.query(next::Entry::by_cost_center(CONTOSO, "north"));
    let north = north.project::<next::CenterLine>().collect().await?;
    assert_eq!(north.len(), 1);
    assert_eq!(next::EntryByCostCenter::SCHEMA.name, "ByCostCenter");
    let report = new.check().run().await?;
    assert_eq!(report.found, 0, "index rows that disagree with their entries");
    Ok(())
}

/// Returns the types and documents of a tenant, for exports and imports.
fn tenant(store: &Store, books: &Bookkeeping, name: &str) -> Result<Tenant, Failed> {
    let tenant =
        Tenant::new().with_entities(&books.entries, Entry::partition(name))?.with_blobs(&books.files)?;
    let tenant = tenant.with_entities(&books.accounts, Account::partition(name))?;
    let tenant = tenant.with_table(&store.table::<Books>(), Books::partition(name))?;
    let tenant = tenant.with_table(&store.table::<Posting>(), Posting::partition(name))?;
    let tenant = tenant.with_table(&store.table::<Balances>(), Balances::partition(name))?;
    let tenant = tenant.with_table(&store.table::<MonthSums>(), MonthSums::partition(name))?;
    let tenant = tenant.with_table(&store.table::<Request>(), Request::partition(name))?;
    Ok(tenant.with_table(&store.table::<Audit>(), Audit::partition(name))?)
}

/// Exports a tenant, imports it into another store, and posts an entry there. Then erases the tenant from the original store.
async fn one_tenant(store: &Store, books: &Bookkeeping) -> Result<(), Failed> {
    println!("\nThe tenant {CONTOSO} as one thing");
    let contoso = tenant(store, books, CONTOSO)?;
    let count = contoso.count().await?;
    println!("  {:?}, {} other rows, {} blobs", count.entities, count.other + count.reserved, count.blobs);
    let elsewhere = store::in_memory();
    let moved = Bookkeeping::open(&elsewhere).await?.acting("clerk");
    let target = tenant(&elsewhere, &moved, CONTOSO)?;
    let (mut export, mut import, began, mut bytes) = (contoso.export(), target.import(), Instant::now(), 0);
    while let Some(lines) = export.step().await? {
        bytes += lines.len();
        import.push(&lines).await?;
    }
    let imported = import.finish().await?;
    rate("rows exported and imported", u32::try_from(imported.rows)?, began);
    println!("    {} bytes", thousands(u64::try_from(bytes)?));
    check::tenant(&moved, CONTOSO).await?;
    let (chart, tomorrow) = (moved.chart(CONTOSO).await?, today().succ_opt().ok_or("the last day")?);
    let next = moved.post(CONTOSO, &chart, &[draft("after the move".into(), tomorrow, 9, 2)]).await?;
    let last = books.entries.query(Entry::rows(CONTOSO)).collect().await?.len();
    assert_eq!(next, [u32::try_from(last)? + 1], "numbers continue without a gap");

    let began = Instant::now();
    let erased = contoso.erase().await?;
    rate("rows erased", u32::try_from(erased.rows)?, began);
    assert_eq!(contoso.remaining().await?, 0);
    check::tenant(books, TENANTS[1]).await
}
