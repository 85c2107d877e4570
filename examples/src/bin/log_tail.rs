//! A log tail. Times in descending order sort the newest entry first (PAT-LOG).

use std::error::Error;

use chrono::{DateTime, Duration, Utc};
use table_core::{Engine, Entity, TableStoreExt, Versioned};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "EmployeeExpense")]
#[partition_key("empid_", employee)]
#[row_key(desc(at), "_", number)]
struct Expense {
    #[digits(6)]
    employee: u32,
    at: DateTime<Utc>,
    /// A number that distinguishes claims made at the same time (PAT-LOG-4).
    #[digits(3)]
    number: u16,
    cents: i64,
}

fn main() -> Result<(), Box<dyn Error>> {
    pollster::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let expenses = Engine::in_memory().table::<Expense>().create_if_missing().await?;
    let first = DateTime::from_timestamp(1_406_830_906, 0).unwrap_or_default(); // 2014-07-31T18:21:46Z
    let claim = |day: u16, number| Expense {
        employee: 123,
        at: first + Duration::days(day.into()),
        number,
        cents: i64::from(day) * 100,
    };
    expenses.bulk().insert_all((0..30).flat_map(|day| [claim(day, 1), claim(day, 2)])).await?;
    assert_eq!(claim(0, 1).key_of()?.row_key.as_str(), "2519954698939999999_001");

    // Reading the three newest entries takes one request and reads three rows, whatever the length of the log.
    let newest = expenses.query(Expense::partition(123)).page_size(3);
    println!("{}", newest.plan()?);
    let page = newest.page().await?;
    let found: Vec<Expense> = page.items.into_iter().map(Versioned::into_value).collect();
    assert_eq!(found, [claim(29, 1), claim(29, 2), claim(28, 1)]);

    // A time range is a key range. The library swaps the bounds of the range, because the times are in descending order.
    let two_days = expenses.query(Expense::rows(123).at(claim(3, 1).at..=claim(4, 1).at)).collect().await?;
    assert_eq!(two_days, [claim(4, 1), claim(4, 2), claim(3, 1), claim(3, 2)]);
    Ok(())
}
