//! Tests of workload files: both layouts of PAT-ANTI-1, the report, the picture, and invalid files.

use crate::{Prices, Report, WorkloadFile};

const LOG_INS: &str = r#"{
    "name": "log-ins", "seconds": 6, "start": "2014-04-23T15:59:58Z", "entities": 3000000,
    "fields": {
        "department": { "texts": ["Legal", "Sales"] },
        "employee": { "zipf": { "values": 500, "exponent": 0.9 } },
        "event": "sequence",
        "at": "time"
    },
    "layouts": [
        { "name": "by hour", "entities_a_partition": 9000000,
          "partition_key": [{ "hour": "at" }],
          "row_key": [{ "ticks": "at" }, "_", { "field": "employee", "digits": 6 }, "_", { "field": "event" }] },
        { "name": "by employee", "entities_a_partition": 3000,
          "partition_key": [{ "field": "department" }, "_", { "field": "employee", "digits": 6 }],
          "row_key": [{ "inverted_ticks": "at" }, "_", { "field": "event" }] }
    ],
    "patterns": [
        { "name": "log in", "per_second": 2500, "write": { "bytes": 300 } },
        { "name": "of one employee", "per_second": 2, "read": { "given": ["department", "employee"], "rows": 50, "bytes": 300 } },
        { "name": "of one hour", "per_second": 0.5, "read": { "given": ["at"], "rows": 9000000, "bytes": 300 } }
    ]
}"#;

fn run(layout: &str) -> Report {
    let prices =
        Prices { currency: "USD".into(), per_10k_reads: 0.00036, per_10k_writes: 0.00036, per_gib_read: 0.0 };
    WorkloadFile::parse(LOG_INS).unwrap().workload(layout).unwrap().prices(prices).run().unwrap()
}

#[test]
fn pat_anti_1_a_time_key_compared_with_the_compound_key() {
    let (by_hour, by_employee) = (run("by hour"), run("by employee"));
    insta::assert_snapshot!("by_hour", by_hour);
    insta::assert_snapshot!("by_employee", by_employee);
    assert!(by_hour.require_max_partition_share(0.99).is_err() && by_hour.require_no_throttling().is_err());
    by_employee.require_max_partition_share(0.12).unwrap();
    by_employee.require_no_throttling().unwrap();
}

#[test]
fn pat_anti_1_the_picture_of_the_hours() {
    insta::assert_snapshot!("by_hour_svg", run("by hour").svg());
    let strange = LOG_INS.replace("\"Legal\"", "\"<&'\\u0007>\"").replace("log-ins", "</text>\\\"");
    let file = WorkloadFile::parse(&strange).unwrap();
    let svg = file.workload("by employee").unwrap().run().unwrap().svg();
    assert!(svg.contains("&lt;/text&gt;&quot;") && svg.contains("&lt;&amp;&apos;\u{FFFD}&gt;_0000"), "{svg}");
    assert_eq!(svg.matches("<text ").count(), svg.matches("</text>").count());
}

#[test]
fn cls_1_the_layout_determines_the_class_of_a_query() {
    for (given, by_hour, by_employee) in [
        (r#"["at", "employee", "event", "department"]"#, "point query", "point query"),
        (r#"["at", "employee", "event"]"#, "point query", "table scan"),
        (r#"["department", "employee", "at"]"#, "range query", "range query"),
        (r#"["department", "employee"]"#, "table scan", "partition scan"),
        (r#"["department"]"#, "table scan", "targeted cross-partition scan"),
        (r#"["employee"]"#, "table scan", "table scan"),
        ("[]", "table scan", "table scan"),
    ] {
        let file = LOG_INS.replace(r#"["department", "employee"]"#, given);
        let file = WorkloadFile::parse(&file).unwrap();
        for (layout, expected) in [("by hour", by_hour), ("by employee", by_employee)] {
            let report = file.workload(layout).unwrap().run().unwrap();
            let class = report.pattern("of one employee").unwrap().class.unwrap();
            assert_eq!(class.to_string(), expected, "{given} {layout}");
        }
    }
}

#[test]
fn an_invalid_file_is_refused_when_it_is_parsed() {
    for (good, bad, expected) in [
        ("\"fields\"", "\"felds\"", "unknown field `felds`"),
        ("\"seconds\": 6", "\"seconds\": -6", "the workload cannot be read"),
        (
            "\"hour\": \"at\"",
            "\"hour\": \"when\"",
            "layout `by hour` names the field `when`; describe it under `fields`",
        ),
        ("[\"at\"]", "[\"when\"]", "pattern `of one hour` names the field `when`"),
        ("2014-04-23T15:59:58Z", "yesterday", "`start` must be a time like"),
        ("\"write\": { \"bytes\": 300 }", "\"read\": null", "either a `read` or a `write`"),
    ] {
        let error = WorkloadFile::parse(&LOG_INS.replace(good, bad)).unwrap_err();
        assert_eq!(error.code(), table_core::ErrorCode::InvalidWorkload);
        assert!(format!("{error:?}").contains(expected), "{error:?}");
    }
}

#[test]
fn a_file_with_an_invalid_workload_is_refused_when_it_is_run() {
    for (good, bad, expected) in [
        ("\"values\": 500", "\"values\": 0", "field `employee`: a distribution must have 1"),
        ("\"exponent\": 0.9", "\"exponent\": -1", "field `employee`: a zipf exponent"),
        ("[\"Legal\", \"Sales\"]", "[]", "field `department`: a distribution must have 1"),
        ("2500", "-2500", "pattern `log in`: a rate must be a number of at least 0, but it is -2500"),
        ("\"seconds\": 6", "\"seconds\": 0", "the workload has no operations"),
        ("\"digits\": 6", "\"digits\": 2", "has more than 2 digits"),
        ("\"digits\": 6", "\"digits\": 99999", "a number has at most 20 digits"),
        ("{ \"hour\": \"at\" }", "{ \"hour\": \"employee\" }", "field `employee` does not support this form"),
    ] {
        let file = WorkloadFile::parse(&LOG_INS.replace(good, bad)).unwrap();
        let error = file.workload("by hour").and_then(|workload| workload.run()).unwrap_err();
        assert_eq!(error.code(), table_core::ErrorCode::InvalidWorkload);
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = WorkloadFile::parse(LOG_INS).unwrap().workload("by minute").unwrap_err();
    assert!(
        error.to_string().contains("no layout `by minute`; its layouts are `by hour`, `by employee`"),
        "{error}"
    );
}
