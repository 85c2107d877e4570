//! Regression tests for two reported faults on a lossy network. An increment was lost, and blobs were deleted although entities still referred to them.

use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use object_store::memory::InMemory;
use table_azure::testing::WireRequest;
use table_azure::{AzureTables, Options, RetryPolicy};
use table_core::{ETag, Entity, Error, Result, TableStoreExt};
use table_patterns::large::{BlobRef, Large, LargeTable, whole};
use table_patterns::series::{self, Series, SeriesTable};
use tests::histories::{Account, Act, LossyWire, account_client};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Counts")]
#[partition_key(employee)]
#[row_key(day)]
struct Counts {
    #[digits(6)]
    employee: u32,
    day: NaiveDate,
}

impl Series for Counts {
    type Value = i32;
    const SLOTS: &'static [&'static str] = series::HOURS;
}

#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Employees")]
#[partition_key(department)]
#[row_key(id)]
struct Employee {
    department: String,
    #[digits(6)]
    id: u32,
    #[blob]
    photo: Option<BlobRef>,
}

/// Creates a client for the account. `script` determines the faults of its connection. The client retries after 0.4 s.
fn client(
    account: &Account,
    options: Options,
    script: impl FnMut(&WireRequest) -> Act + Send + 'static,
) -> AzureTables {
    let wire = Arc::new(LossyWire::new(account.clone(), Duration::ZERO, Box::new(script)));
    let retry = RetryPolicy { initial_delay: Duration::from_millis(400), ..RetryPolicy::default() };
    account_client(wire, options.retry(retry), 7).unwrap()
}

/// Returns a script that applies `act` to the first write and serves all other requests normally.
fn first_write(act: Act) -> impl FnMut(&WireRequest) -> Act + Send {
    let mut first = true;
    move |request| if request.method != "GET" && std::mem::take(&mut first) { act } else { Act::Serve }
}

fn counts(client: &AzureTables) -> SeriesTable<Counts, AzureTables> {
    SeriesTable::new(client.table::<Counts>())
}

/// Sends two concurrent increments to a slot that contains 5. `lost` determines whether the request or the response of the first increment is lost. Returns
/// both results and the stored sum.
async fn two_increments(lost: Act) -> (Result<i32>, Result<i32>, i32) {
    let account = Account::default();
    let today = Counts { employee: 1, day: NaiveDate::from_ymd_opt(2014, 4, 23).unwrap() };
    let calm = || client(&account, Options::new(), |_| Act::Serve);
    counts(&calm()).increment(&today, 9, 5).await.unwrap();

    let (slow, day) = (counts(&client(&account, Options::new(), first_write(lost))), today.clone());
    let first = tokio::spawn(async move { slow.increment(&day, 9, 1).await });
    tokio::time::sleep(Duration::from_millis(150)).await;
    let second = counts(&calm()).increment(&today, 9, 1).await;
    let first = first.await.unwrap();
    let stored = counts(&calm()).get(Counts::key(1, today.day)).await.unwrap().unwrap();
    (first, second, stored.slot(9).copied().unwrap())
}

/// Tests two increments that write equal content in quick succession. The client could mistake the second one for the first.
#[tokio::test(start_paused = true)]
async fn con_11_and_pat_ser_3_two_acknowledged_increments_count_twice() {
    let (first, second, stored) = two_increments(Act::DropBefore).await;
    assert!(first.unwrap_err().is_ambiguous());
    assert_eq!((second.unwrap(), stored), (6, 6));
    // The first increment took effect before the second. Its caller cannot know this, and gets an ambiguous error. Neither increment is repeated.
    let (first, second, stored) = two_increments(Act::DropAfter).await;
    assert!(first.unwrap_err().is_ambiguous());
    assert_eq!((second.unwrap(), stored), (7, 7));
}

/// Tests an increment whose response was lost. If no other client has written in the meantime, the retry succeeds.
#[tokio::test(start_paused = true)]
async fn con_11_and_pat_ser_3_an_increment_without_a_response_is_known_by_its_id() {
    let account = Account::default();
    let today = Counts { employee: 1, day: NaiveDate::from_ymd_opt(2014, 4, 23).unwrap() };
    for sum in 1..4 {
        let act = if sum == 2 { Act::DropBefore } else { Act::DropAfter };
        let client = client(&account, Options::new(), first_write(act));
        assert_eq!(counts(&client).increment(&today, 9, 1).await.unwrap(), sum);
    }
}

/// Replaces a photo through the client `photographer`. Returns the result. Even if the call fails, the blob of the stored entity must exist.
async fn replaced(account: &Account, photographer: AzureTables) -> Result<ETag> {
    let blobs = Arc::new(InMemory::new());
    let calm = client(account, Options::new().operation_ids(true), |_| Act::Serve);
    let ada = Employee { department: "Sales".into(), id: 223, photo: None };
    let etag = calm.table::<Employee>().insert(&ada).await.unwrap();

    let large = LargeTable::new(photographer.table::<Employee>(), blobs.clone(), "staff");
    let outcome = large.replace(ada, etag, [Employee::PHOTO_BLOB.content(whole("new photo"))]).await;

    let stored = calm.table::<Employee>().get(Employee::key("Sales", 223)).await.unwrap().unwrap();
    assert!(stored.photo.is_some(), "the write was applied");
    let reader = LargeTable::new(calm.table::<Employee>(), blobs, "staff");
    assert!(reader.open(&stored, Employee::PHOTO_BLOB).await.unwrap().is_some(), "PAT-LARGE-2");
    outcome.map(|written| written.etag().clone())
}

/// Tests a write whose first attempt is applied although its response is lost. The retry is rejected, so the client reads the entity to determine the outcome.
/// The primary is busy at this time. The client must not read the configured secondary instead, which lags behind.
#[tokio::test(start_paused = true)]
async fn con_11_and_pat_large_2_an_applied_write_is_not_judged_by_a_stale_secondary() {
    for ids in [false, true] {
        let account = Account::default();
        let (mut write, mut busy) = (first_write(Act::DropAfter), true);
        let script = move |request: &WireRequest| {
            let throttled = request.method == "GET" && std::mem::take(&mut busy);
            if throttled { Act::Busy } else { write(request) }
        };
        let options = Options::new()
            .operation_ids(ids)
            .secondary_endpoint("https://contoso-secondary.table.core.windows.net");
        let outcome = replaced(&account, client(&account, options, script)).await;
        assert_eq!(
            outcome.map(drop).map_err(|error| error.is_ambiguous()),
            if ids { Ok(()) } else { Err(true) }
        );
    }
}

/// Tests a machine that sleeps for an hour between two attempts. During this time, the monotonic clock of the client does not advance.
#[tokio::test(start_paused = true)]
async fn con_11_and_pat_large_2_a_suspended_program_recognises_its_own_write() {
    for ids in [false, true] {
        let account = Account::default();
        let (mut write, clock) = (first_write(Act::DropAfter), account.clone());
        let script = move |request: &WireRequest| {
            let act = write(request);
            if act != Act::Serve {
                clock.jump(Duration::from_secs(60 * 60));
            }
            act
        };
        let outcome = replaced(&account, client(&account, Options::new().operation_ids(ids), script)).await;
        let answer = outcome.map(drop).map_err(|error: Error| error.is_ambiguous());
        assert_eq!(answer, if ids { Ok(()) } else { Err(true) });
    }
}

/// Tests that a read by the caller may return old data from the secondary. An update must nevertheless read current data.
#[tokio::test(start_paused = true)]
async fn con_2_and_rty_5_a_secondary_an_hour_behind_affects_no_decision() {
    let account = Account::default();
    let hour = Duration::from_secs(60 * 60);
    let today = Counts { employee: 1, day: NaiveDate::from_ymd_opt(2014, 4, 23).unwrap() };
    let key = || Counts::key(1, today.day);
    // Every other read from the primary fails. A client that may use the secondary therefore uses it.
    let mut fails = false;
    let wire = LossyWire::new(
        account.clone(),
        hour,
        Box::new(move |request| {
            fails = request.method == "GET" && !fails;
            if fails { Act::Busy } else { Act::Serve }
        }),
    );
    let tables = account_client(Arc::new(wire), Options::new(), 7).unwrap();
    let series = counts(&tables);
    assert_eq!(series.increment(&today, 9, 1).await.unwrap(), 1);
    tokio::time::sleep(hour * 2).await;
    for sum in 2..5 {
        assert_eq!(series.increment(&today, 9, 1).await.unwrap(), sum);
        assert_eq!(series.get(key()).await.unwrap().unwrap().slot(9), Some(&sum));
    }
    let old = SeriesTable::new(tables.secondary_reads().unwrap().table::<Counts>());
    assert_eq!(old.get(key()).await.unwrap().unwrap().slot(9), Some(&1));
    let error = old.increment(&today, 9, 1).await.unwrap_err();
    assert_eq!((error.rule(), error.is_ambiguous()), (Some("RTY-5"), false));
}
