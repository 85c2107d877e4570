//! Snapshot tests of plans, one for each cost class.

use crate::name::TableName;
use crate::query::{KeyRange, Plan, Query, QueryClass, Requests, Select, TextRange};

fn plan(filter: &str) -> String {
    Query::parse(filter).unwrap().plan(&TableName::new("Employee").unwrap()).to_string()
}

#[test]
fn dq_2_point() {
    insta::assert_snapshot!(plan("PartitionKey eq 'Sales' and RowKey eq '2'"), @r"
    point query on Employee
      PartitionKey: 'Sales'
      RowKey:       '2'
      $filter:      PartitionKey eq 'Sales' and RowKey eq '2'
      $select:      all properties
      index:        none, the primary key
      requests:     at most 1
    ");
}

#[test]
fn dq_3_range() {
    let query = Query {
        select: Select::names(["FirstName", "Age"]),
        top: Some(50),
        ..Query::new(KeyRange::rows("Sales", TextRange::prefix("empid_")))
    };
    let plan = query.plan(&TableName::new("Employee").unwrap());
    insta::assert_snapshot!(Plan { index: Some("ByEmail".to_owned()), ..plan }, @r"
    range query on Employee
      PartitionKey: 'Sales'
      RowKey:       from 'empid_' before 'empid`'
      $filter:      PartitionKey eq 'Sales' and RowKey ge 'empid_' and RowKey lt 'empid`'
      $select:      FirstName, Age
      $top:         50
      index:        ByEmail
      requests:     at least 1, one for each page of at most 50 entities; unbounded, since the pages depend on the data
    ");
}

#[test]
fn dq_4_partition_scan() {
    insta::assert_snapshot!(plan("PartitionKey eq 'Sales' and LastName eq 'Smith'"), @r"
    partition scan on Employee
      PartitionKey: 'Sales'
      RowKey:       any
      $filter:      PartitionKey eq 'Sales' and LastName eq 'Smith'
      $select:      all properties
      index:        none, the primary key
      requests:     at least 1, one for each page of at most 1000 entities; unbounded, since the pages depend on the data
    ");
}

#[test]
fn dq_5_table_scan() {
    let query = Query::parse("LastName eq 'Jones' and RowKey gt '3'").unwrap();
    let plan = query.plan(&TableName::new("Employee").unwrap());
    let plan = Plan { reason: Some("monthly audit".to_owned()), ..plan };
    insta::assert_snapshot!(plan, @r"
    table scan on Employee
      reason:       monthly audit
      PartitionKey: any
      RowKey:       after '3'
      $filter:      RowKey gt '3' and LastName eq 'Jones'
      $select:      all properties
      index:        none, the primary key
      requests:     at least 1, one for each page of at most 1000 entities; unbounded, since the pages depend on the data
      warning:      every partition of the table is read; the RowKey bounds nothing without the PartitionKey (DQ-5)
    ");
}

#[test]
fn cls_1_partition_range() {
    insta::assert_snapshot!(plan("PartitionKey ge 'S' and PartitionKey lt 'T'"), @r"
    targeted cross-partition scan on Employee
      PartitionKey: from 'S' before 'T'
      RowKey:       any
      $filter:      PartitionKey ge 'S' and PartitionKey lt 'T'
      $select:      all properties
      index:        none, the primary key
      requests:     at least 1, one for each page of at most 1000 entities; unbounded, since the pages depend on the data
      warning:      a range of partitions is read, which may span servers; pages may be short (CLS-1)
    ");
}

#[test]
fn fan_out() {
    let buckets: Vec<Query> = ["0_Sales", "1_Sales"].map(|key| Query::new(KeyRange::partition(key))).into();
    let plan = Plan::new(&TableName::new("Employee").unwrap(), QueryClass::FanOut(2), &buckets);
    insta::assert_snapshot!(plan, @r"
    fan-out over 2 on Employee
      PartitionKey: '0_Sales'
      RowKey:       any
      $filter:      PartitionKey eq '0_Sales'
      PartitionKey: '1_Sales'
      RowKey:       any
      $filter:      PartitionKey eq '1_Sales'
      $select:      all properties
      index:        none, the primary key
      requests:     at least 2, one for each page of at most 1000 entities; unbounded, since the pages depend on the data
    ");
    let points = [Query::new(KeyRange::point("a", "1")), Query::new(KeyRange::point("b", "1"))];
    let plan = Plan::new(&TableName::new("Employee").unwrap(), QueryClass::FanOut(2), &points);
    assert_eq!(plan.requests, Requests::AtMost(2));
}

/// Tests that the plan shows the query and warns about `or` between row keys (PAT-ANTI-3).
#[test]
fn dq_7_or_between_row_keys() {
    insta::assert_snapshot!(plan("PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322')"), @r"
    partition scan on Employee
      PartitionKey: 'Sales'
      RowKey:       any
      $filter:      PartitionKey eq 'Sales' and (RowKey eq '121' or RowKey eq '322')
      $select:      all properties
      index:        none, the primary key
      requests:     at least 1, one for each page of at most 1000 entities; unbounded, since the pages depend on the data
      warning:      `or` between RowKeys is a partition scan, not several lookups; get each key as a point, in parallel (DQ-7)
    ");
}

#[test]
fn cls_2_fil_7_and_fil_18_give_warnings() {
    let warnings = |filter: &str| -> Vec<&str> {
        let query = Query::parse(filter).unwrap();
        query.plan(&TableName::new("Employee").unwrap()).warnings.iter().map(|warning| warning.rule).collect()
    };
    assert_eq!(warnings("PartitionKey eq 'a' or PartitionKey eq 'b'"), ["DQ-5", "CLS-2"]);
    assert_eq!(warnings("PartitionKey eq 'a' and RowKey lt 5"), ["FIL-18"]);
    assert_eq!(warnings("PartitionKey eq 'a' and RowKey gt 'b' and RowKey lt 'a'"), ["CLS-3"]);
    let fifteen = format!("PartitionKey eq 'a' and {}", vec!["A eq 1"; 14].join(" and "));
    assert!(warnings(&fifteen).is_empty());
    assert_eq!(warnings(&format!("{fifteen} and B")), ["FIL-7"]);
}
