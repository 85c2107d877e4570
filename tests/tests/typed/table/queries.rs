//! Tests the queries, scans and query plans of a typed table.

use std::num::{NonZeroU32, NonZeroUsize};

use futures_util::{StreamExt, TryStreamExt};
use pollster::block_on;
use table_core::embedded::{Engine, EngineOptions, FaultInjection};
use table_core::query::{QueryClass, Requests};
use table_core::{ErrorCode, Result, Table, TableStoreExt};
use tests::employee::{Employee, NameOnly};

use super::{employees, filled, ids};

#[test]
fn queries_filter_project_and_limit() -> Result<()> {
    block_on(async {
        let table = filled(&["Marketing", "Sales"], 20);
        let sales = || table.query(Employee::partition("Sales"));
        assert_eq!(ids(&sales().collect().await?), (0..20).collect::<Vec<_>>());
        assert_eq!(ids(&table.query(Employee::ids("Sales", 5, 8)).collect().await?), [5, 6, 7]);
        let filtered = sales().filter(Employee::AGE.ge(15)).filter(Employee::AGE.lt(18));
        assert_eq!(ids(&filtered.clone().collect().await?), [15, 16, 17]);
        assert_eq!(ids(&sales().page_size(3).limit(7).collect().await?), (0..7).collect::<Vec<_>>());
        let none = sales().limit(0).collect().await.unwrap_err();
        assert_eq!((none.code(), none.rule()), (ErrorCode::InvalidInput, Some("TOP-2")));
        assert_eq!(sales().limit(7).count().await?, 7);
        assert_eq!(sales().limit(7).stream().count().await, 7);
        assert_eq!(filtered.first().await?.unwrap().id, 15);
        assert_eq!(table.query(Employee::partition("None")).first().await?, None);
        let names: Vec<NameOnly> = table.query(Employee::ids("Sales", 3, 4)).project().collect().await?;
        assert_eq!(names, [NameOnly { first_name: "Number 3".into(), properties: 1 }]); // DQ-13
        let name = table.get_as::<NameOnly>(Employee::key("Sales", 3)).await?.unwrap();
        assert_eq!(name.properties, 1); // REQ-8
        let versioned = sales().page_size(2).collect_versioned().await?;
        let etag = table.patch(Employee::key("Sales", 4)).set(Employee::AGE, 1).if_match(versioned[4].etag());
        etag.send().await?;
        Ok(())
    })
}

#[test]
fn top_1_pages_follow_their_continuation_as_text_too() -> Result<()> {
    block_on(async {
        let table = filled(&["Sales"], 10);
        let query = table.query(Employee::partition("Sales")).page_size(4);
        let mut page = query.page().await?;
        let mut sizes = vec![page.items.len()];
        while let Some(continuation) = page.continuation {
            let later = continuation.to_string().parse()?; // PAGE-7
            page = query.page_from(&later).await?;
            sizes.push(page.items.len());
        }
        assert_eq!(sizes, [4, 4, 2]);
        let other = table.query(Employee::partition("Marketing"));
        let continuation = query.page().await?.continuation.unwrap();
        assert_eq!(other.page_from(&continuation).await.unwrap_err().rule(), Some("PAGE-9"));
        Ok(())
    })
}

#[test]
fn a_fan_out_reads_its_ranges_in_order_by_streams_and_by_pages() -> Result<()> {
    block_on(async {
        let departments: Vec<String> = (0..20).map(|number| format!("D{number:02}")).collect();
        let departments: Vec<&str> = departments.iter().map(String::as_str).collect();
        let table = filled(&departments, 7);
        // One department is empty.
        table.bulk().delete_all((0..7).map(|id| Employee::key("D03", id))).await.unwrap();
        let expected: Vec<(&str, u32)> = departments
            .iter()
            .filter(|department| **department != "D03")
            .flat_map(|department| (0..7).map(|id| (*department, id)))
            .collect();
        let place = |employee: &Employee| (employee.department.clone(), employee.id);
        let is_expected = |found: Vec<(String, u32)>| {
            assert_eq!(found.iter().map(|(d, id)| (d.as_str(), *id)).collect::<Vec<_>>(), expected);
        };
        let query = table.query(Employee::partitions(&departments)).page_size(3);
        assert_eq!(query.class(), QueryClass::FanOut(20));
        is_expected(query.clone().collect().await?.iter().map(place).collect());
        let streamed: Vec<_> = query.clone().stream().map_ok(|e| place(&e)).try_collect().await?;
        is_expected(streamed);

        let mut found = Vec::new();
        let mut page = query.page().await?;
        loop {
            assert!(page.items.len() <= 3);
            found.extend(page.items.iter().map(|employee| place(employee)));
            let Some(continuation) = page.continuation else { break };
            page = query.page_from(&continuation).await?;
        }
        is_expected(found);
        assert_eq!(query.limit(9).collect().await?.len(), 9);
        Ok(())
    })
}

/// Tests that a scan must have a reason, and a maximum number of rows to read. A scan in code that runs often is therefore noticed (PAT-ANTI-3).
#[test]
fn dq_5_a_scan_has_a_reason_and_a_bound_that_never_truncates_silently() -> Result<()> {
    block_on(async {
        let table = filled(&["Marketing", "Sales"], 600);
        let scan = |rows| table.scan("monthly audit").max_rows(rows);
        let mut sum = 0;
        assert_eq!(scan(1_200).for_each(|employee| sum += employee.age).await?, 1_200);
        assert_eq!(sum, 2 * (0..600).sum::<i32>());
        assert_eq!(scan(1_200).filter(Employee::AGE.lt(5)).collect().await?.len(), 10);
        let error = scan(1_199).collect().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("DQ-5")));
        let text = error.to_string();
        assert!(text.contains("monthly audit") && text.contains("1200") && text.contains("1199"), "{text}");
        // The limit applies to the rows that are read, and not to the rows that match.
        assert!(scan(1_199).filter(Employee::AGE.lt(5)).collect().await.is_err());
        // The stream ends after the error, even for a caller that ignores errors.
        for rows in [0, 10, 999, 1_000, 1_199] {
            let found: Vec<_> = scan(rows).stream().collect().await;
            let (last, before) = found.split_last().unwrap();
            assert!(last.is_err() && before.iter().all(Result::is_ok), "{rows}");
        }
        assert_eq!(scan(5).plan()?.reason.as_deref(), Some("monthly audit"));
        assert_eq!(employees().scan("empty").max_rows(0).collect().await?, []);
        Ok(())
    })
}

#[test]
fn plans_are_available_without_a_request() -> Result<()> {
    let table = Table::<Employee, Engine>::of(Engine::in_memory()); // not even created
    let plan = table.query(Employee::ids("Sales", 100, 200)).page_size(50).plan()?;
    assert_eq!(plan.class, QueryClass::Range);
    assert_eq!(plan.requests, Requests::OnePerPage { entities: 50, at_least: 1 });
    let text = plan.to_string();
    assert!(text.contains("PartitionKey eq 'Sales' and RowKey ge '000100' and RowKey lt '000200'"), "{text}");
    let fan_out = table.query(Employee::partitions(&["A", "B"])).plan()?;
    assert_eq!((fan_out.class, fan_out.lookups.len()), (QueryClass::FanOut(2), 2));
    Ok(())
}

#[test]
fn page_13_empty_and_short_pages_lose_nothing() -> Result<()> {
    let faults = FaultInjection {
        empty_page_every: NonZeroU32::new(2),
        page_entities: NonZeroUsize::new(2),
        partition_pages: true,
        ..FaultInjection::default()
    };
    block_on(async {
        let table =
            EngineOptions::new().faults(faults).in_memory().table::<Employee>().create_if_missing().await?;
        let departments = ["A", "B", "C"];
        let all = departments.iter().flat_map(|department| (0..7).map(|id| Employee::new(department, id)));
        table.bulk().insert_all(all).await.unwrap();
        assert_eq!(table.query(Employee::partition("B")).collect().await?.len(), 7);
        assert_eq!(table.query(Employee::partition("B")).stream().count().await, 7);
        assert_eq!(table.query(Employee::partitions(&departments)).collect().await?.len(), 21);
        assert_eq!(
            table
                .query(Employee::partition("C"))
                .filter(Employee::FIRST_NAME.eq("Number 6"))
                .first()
                .await?
                .map(|e| e.id),
            Some(6)
        );
        assert_eq!(table.scan("all").max_rows(21).collect().await?.len(), 21);
        let fan_out = table.query(Employee::partitions(&departments));
        let (mut page, mut count) = (fan_out.page().await?, 0);
        loop {
            count += page.items.len();
            let Some(continuation) = page.continuation else { break };
            page = fan_out.page_from(&continuation).await?;
        }
        assert_eq!(count, 21);
        Ok(())
    })
}
