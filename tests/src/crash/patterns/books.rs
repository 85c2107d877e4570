//! Crash tests of the example ledger: entries with gapless numbers, postings, balances, requests, audit lines and a feed. Each `post` is a unit of work.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;
use examples::ledger::books::{Bookkeeping, Chart, Refused};
use examples::model::ledger::{Audit, Entry, Line, Posting, Request, SLOTS};
use examples::store::Store;
use table_core::embedded::Engine;
use table_core::{Error, ErrorCode, PartitionKey, Result, TableStoreExt};
use table_patterns::blob::object_store::memory::InMemory;
use table_patterns::feed::Cursor;

use super::ledger::Values;

/// The tenants. Each has separate partitions.
pub(super) const TENANTS: [&str; 2] = ["contoso", "adatum"];
/// The number of accounts. Their balances fill two rows.
pub(super) const ACCOUNTS: u32 = 2 * SLOTS;
/// The last day for which the books are closed.
pub(super) const CLOSED: NaiveDate = match NaiveDate::from_ymd_opt(2026, 1, 31) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// The handles of the example ledger, and its chart of accounts.
pub(super) struct Books {
    pub(super) keeping: Bookkeeping,
    pub(super) chart: Chart,
}

impl Books {
    pub(super) async fn open(engine: &Engine) -> Result<Self> {
        let store = Store::new(engine.clone(), engine.clone(), Arc::new(InMemory::new()));
        let keeping = Bookkeeping::open(&store).await?.acting("clerk");
        for tenant in TENANTS {
            match keeping.open_books(tenant, CLOSED).await.map_err(failure) {
                Err(error) if error.is_already_exists() => {}
                opened => opened?,
            }
        }
        Ok(Self { keeping, chart: (0..ACCOUNTS).map(|account| (account, "EUR".to_owned())).collect() })
    }
}

/// Returns the error of the store. Any other reason for a rejection is unexpected, and becomes `InvalidInput`.
pub(super) fn failure(refused: Refused) -> Error {
    match refused {
        Refused::Store(error) => error,
        refused => Error::new(ErrorCode::InvalidInput, format!("the ledger refuses an entry: {refused}")),
    }
}

/// Returns the key of a request in the [evidence](super::ledger).
pub(super) fn request_key(tenant: &str, request: &str) -> String {
    format!("{tenant}/{request}").replace(' ', "_")
}

/// Returns the postings of an entry as text.
pub(super) fn lines_text(lines: &[Line]) -> String {
    let line = |Line { account, cents }: &Line| format!("{account}:{cents}");
    lines.iter().map(line).collect::<Vec<_>>().join(",")
}

/// Checks the invariants of the ledger. Returns the postings of each request that received a response.
pub(super) async fn stored(books: &Books, wrong: &mut Vec<String>) -> Result<Values> {
    let mut values = Values::new();
    for tenant in TENANTS {
        let entries = books.keeping.entries.query(Entry::rows(tenant)).collect().await?;
        let mut report = |finding: String| wrong.push(format!("ledger of {tenant}: {finding}"));
        for (entry, number) in entries.iter().zip(1..) {
            if entry.number != number {
                report(format!("entry {} has the place of {number}", entry.number));
            }
            if entry.lines.iter().map(|line| line.cents).sum::<i64>() != 0 {
                report(format!("entry {number} does not sum to zero"));
            }
        }
        reversals(&entries, &mut report);
        sums(books, tenant, &entries, &mut report).await?;
        requests(books, tenant, &entries, &mut values, &mut report).await?;
        records(books, tenant, &entries, &mut report).await?;
    }
    let findings = books.keeping.entries.check().run().await?.findings;
    wrong.extend(findings.iter().map(|finding| format!("ledger: {finding:?}")));
    Ok(values)
}

/// Checks that entries and their reversals refer to each other.
fn reversals(entries: &[Entry], report: &mut impl FnMut(String)) {
    let by_number: BTreeMap<u32, &Entry> = entries.iter().map(|entry| (entry.number, entry)).collect();
    let linked = |entry: &Entry, to: Option<u32>, back: fn(&Entry) -> Option<u32>| {
        to.is_none_or(|to| by_number.get(&to).is_some_and(|other| back(other) == Some(entry.number)))
    };
    for entry in entries {
        if !linked(entry, entry.reverses, |other| other.reversed_by)
            || !linked(entry, entry.reversed_by, |other| other.reverses)
        {
            report(format!("entry {} and its reversal do not name each other", entry.number));
        }
    }
}

/// Checks that statements, balances and the trial balance match the sums of the entries.
async fn sums(books: &Books, tenant: &str, entries: &[Entry], report: &mut impl FnMut(String)) -> Result<()> {
    let (mut expected, mut lines) = (BTreeMap::<u32, i64>::new(), Vec::new());
    for entry in entries {
        for (line, at) in entry.lines.iter().zip(0_u32..) {
            *expected.entry(line.account).or_default() += line.cents;
            lines.push((entry.number, at, line.account, line.cents));
        }
    }
    let postings = books.keeping.entries.table().store().table::<Posting>();
    let postings = postings.query(Posting::rows(tenant)).collect().await?;
    let mut found: Vec<_> = postings
        .iter()
        .map(|posting| (posting.entry, posting.line, posting.account, posting.cents))
        .collect();
    found.sort_unstable();
    if found != lines {
        report(format!("the statements have {} postings, the entries {}", found.len(), lines.len()));
    }
    for account in 0..ACCOUNTS {
        let (balance, sum) = (books.keeping.balance(tenant, account).await?, expected.get(&account));
        if balance != sum.copied().unwrap_or_default() {
            report(format!("account {account} has the balance {balance}, its postings sum to {sum:?}"));
        }
    }
    expected.retain(|_, cents| *cents != 0);
    let last = NaiveDate::from_ymd_opt(9_999, 1, 1).unwrap_or_default();
    let trial = books.keeping.trial_balance(tenant, last).await?;
    if trial != expected {
        report("the trial balance differs from the sums of the postings".to_owned());
    }
    Ok(())
}

/// Checks that each entry belongs to exactly one request, or reverses another entry.
async fn requests(
    books: &Books,
    tenant: &str,
    entries: &[Entry],
    values: &mut Values,
    report: &mut impl FnMut(String),
) -> Result<()> {
    let requests = books.keeping.entries.table().store().table::<Request>();
    let requests = requests.query(Request::rows(tenant)).collect().await?;
    let by_number: BTreeMap<u32, &Entry> = entries.iter().map(|entry| (entry.number, entry)).collect();
    let mut answers: Vec<u32> = requests.iter().map(|request| request.entry).collect();
    for entry in entries {
        if let Some(reversed) = entry.reverses {
            answers.push(entry.number);
            values.insert(request_key(tenant, &format!("reversal of {reversed}")), lines_text(&entry.lines));
        }
    }
    answers.sort_unstable();
    if !answers.iter().eq(by_number.keys()) {
        report(format!("{} entries answer {} requests", entries.len(), answers.len()));
    }
    for Request { id, entry, .. } in requests {
        match by_number.get(&entry) {
            Some(known) => drop(values.insert(request_key(tenant, &id), lines_text(&known.lines))),
            None => report(format!("request {id} has no entry {entry}")),
        }
    }
    Ok(())
}

/// Checks that the audit log and the change feed each contain every change to an entry exactly once.
async fn records(
    books: &Books,
    tenant: &str,
    entries: &[Entry],
    report: &mut impl FnMut(String),
) -> Result<()> {
    let created = entries.iter().map(|entry| format!("created entry_{:08}", entry.number));
    let reversed = entries.iter().filter(|entry| entry.reversed_by.is_some());
    let reversals = reversed.map(|entry| format!("changed entry_{:08}", entry.number));
    let mut expected: Vec<String> = created.chain(reversals).collect();
    let changes = expected.len();
    expected.push("created books".to_owned());
    expected.sort_unstable();
    let table = books.keeping.entries.table();
    let audit = table.store().table::<Audit>().query(Audit::rows(tenant)).collect().await?;
    if let Some(line) = audit.iter().find(|line| line.actor != "clerk") {
        report(format!("the audit log names {} for {}", line.actor, line.change));
    }
    let mut logged: Vec<String> = audit.into_iter().map(|line| line.change).collect();
    logged.sort_unstable();
    if logged != expected {
        report(format!("the audit log has {} lines for {} changes", logged.len(), expected.len()));
    }
    let (feed, partition) = (books.keeping.entries.feed(), PartitionKey::new(tenant)?);
    let listed = feed.read(table.name()?, &partition, &Cursor::default(), usize::MAX).await?;
    let inserted = listed.iter().filter(|change| change.kind == "inserted").count();
    if (inserted, listed.len()) != (entries.len(), changes) {
        report(format!("the feed has {} changes, {inserted} of them insertions, of {changes}", listed.len()));
    }
    Ok(())
}

/// Deletes the tenant's first row whose `RowKey` starts with the given prefix. The library may have reserved the prefix.
#[cfg(test)]
pub(super) async fn delete_row(stores: &super::Stores, prefix: &str) -> Result<()> {
    use table_core::query::{KeyRange, Query, TextRange};
    use table_core::{IfMatch, Operation, OperationKind, RowKey, TableStore, Transaction};

    let table = stores.books.keeping.entries.table().name()?;
    let query = Query::new(KeyRange::rows(TENANTS[0], TextRange::prefix(prefix)));
    let page = stores.engine.query(table, &query, None).await?;
    let first = page.rows.iter().next();
    let first = first.ok_or_else(|| Error::new(ErrorCode::ResourceNotFound, "no row has the prefix"))?;
    let (partition_key, row_key) = (PartitionKey::new(first.partition_key)?, RowKey::new(first.row_key)?);
    let mut transaction = Transaction::new(partition_key, stores.engine.capabilities().limits)?;
    transaction.push(Operation { row_key, kind: OperationKind::Delete(IfMatch::Any) })?;
    stores.engine.submit(table, transaction).await.map(drop)
}

/// Adds one cent to a balance. The check must detect this corruption.
#[cfg(test)]
pub(super) async fn add_cent(books: &Books) -> Result<()> {
    use examples::model::ledger::Balances;

    let store = books.keeping.entries.table().store();
    let page = Balances { tenant: TENANTS[0].to_owned(), page: 0, closed: std::collections::BTreeSet::new() };
    let balances = table_patterns::series::SeriesTable::<Balances, _>::new(store.table::<Balances>());
    balances.increment(&page, 3, 1).await.map(drop)
}
