//! Tests that an audit finds the defects of each test table, and finds nothing in tables without defects.

use table_core::schema::{IndexKind, StoredIndex, StoredPiece};
use table_core::{TableEntity, Value, ticks};

use super::*;

fn row(partition: &str, row: &str) -> TableEntity {
    TableEntity::new(partition, row).unwrap()
}

fn audit(rows: impl IntoIterator<Item = TableEntity>) -> Vec<Finding> {
    audit_with(Vec::new(), rows)
}

fn audit_with(
    schemas: Vec<(String, StoredSchema)>,
    rows: impl IntoIterator<Item = TableEntity>,
) -> Vec<Finding> {
    let mut audit = Audit::new("Company", schemas, 1_000);
    rows.into_iter().for_each(|row| audit.push(row));
    audit.finish()
}

/// Returns the rule and the fact of each finding.
fn facts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}", finding.rule, finding.fact)).collect()
}

#[test]
fn a_table_without_faults_has_no_findings() {
    let employees = (0..40).map(|id| row("Sales", &format!("empid_{id:06}")).with("Age", id));
    assert_eq!(audit(employees), []);
    let mixed = (0..40).flat_map(|id| {
        let name = ["ada", "ben", "cleo o'neil", "d.e.f", "g_h"][id % 5];
        let user = row("users", &format!("user_{id:03}"));
        [user, row("users", &format!("email_{name}{id}@contoso.com"))]
    });
    assert_eq!(audit(mixed), []);
    let guids = (0..40_u128).map(|id| row(&uuid::Uuid::from_u128((id * id) << 90).to_string(), ""));
    assert_eq!(audit(guids), []);
}

#[test]
fn numbers_without_padding_are_found_at_any_position() {
    for (id, key) in [("PartitionKey", 0), ("RowKey", 1)] {
        let rows = (0..30).map(|n| match key {
            0 => row(&n.to_string(), ""),
            _ => row("p", &format!("order_{n}_item")),
        });
        let found = audit(rows);
        let place = if key == 0 { "" } else { " of kind 'order_'" };
        assert_eq!(facts(&found), [format!("DQ-10 numbers of different widths in {id}{place}")]);
        assert!(found[0].fix.contains("`#[digits(2)]`") && found[0].samples.len() == 3, "{found:?}");
    }
    let padded = (0..30).map(|n| if n == 7 { row("p", "0007") } else { row("p", &format!("{n:06}")) });
    assert_eq!(facts(&audit(padded)), ["DQ-10 numbers padded to different widths in RowKey"]);
}

#[test]
fn mixed_formats_are_found_with_the_rows_that_differ() {
    let dates = (1..29).map(|day| match day {
        7 => row("p", "07.11.2026"),
        day => row("p", &format!("2026-11-{day:02}")),
    });
    let found = audit(dates);
    assert_eq!(facts(&found), ["DQ-10 mixed formats in RowKey: most are like '2026-11-01'"]);
    assert_eq!(found[0].samples, [("p".to_owned(), "07.11.2026".to_owned())]);
    let guids = (0..30_u128).map(|n| {
        let text = uuid::Uuid::from_u128((n << 64) | 0xABC).to_string();
        row("p", &if n == 3 { text.to_uppercase() } else { text })
    });
    assert_eq!(audit(guids).len(), 1);
    let spelled =
        (0..60).map(|n| row("p", &format!("{}{n:03}", if n % 6 == 0 { "Order_" } else { "order_" })));
    assert_eq!(facts(&audit(spelled)), ["DQ-10 mixed formats in RowKey: 'Order_' next to 'order_'"]);
}

#[test]
fn separators_within_parts_are_found() {
    let rows = (0..30).map(|n| {
        let name = if n == 4 { "R_D" } else { ["Sales", "Marketing", "HR"][n % 3] };
        row(&format!("{name}_{n:03}"), "a")
    });
    let found = audit(rows);
    assert_eq!(
        facts(&found),
        ["PAT-CK-2 unescaped separator `_` in parts of PartitionKey of kind 'a': most keys have 1"]
    );
    assert_eq!(found[0].sample_text(), "('R_D_004', 'a')");
}

#[test]
fn partition_keys_that_grow_are_found() {
    let at = |n: u64| ticks::to_datetime(638_000_000_000_000_000 + n * 36_000_000_000).unwrap();
    let by_hour = (0..20).map(|n| row(&at(n).format("%Y%m%d%H").to_string(), "a"));
    let by_ticks = (0..20_u64).map(|n| row(&format!("0{}", 638_000_000_000_000_000 + n), "a"));
    for found in [audit(by_hour), audit(by_ticks)] {
        assert!(facts(&found)[0].starts_with("PAT-ANTI-1 PartitionKeys begin with a time"), "{found:?}");
    }
    let by_device = (0..20).map(|n| row(&format!("device{:02}_{}", n, at(n).format("%Y%m%d%H")), "a"));
    assert_eq!(audit(by_device), []);
}

#[test]
fn partitions_with_most_of_the_rows_are_found() {
    let one = (0..1_000).map(|n| row("all", &format!("{n:06}")));
    assert_eq!(facts(&audit(one)), ["SCL-1 all rows are in the one partition 'all'"]);
    let most = (0..1_000).map(|n| {
        row(
            if n < 900 {
                "a"
            } else if n < 950 {
                "b"
            } else {
                "c"
            },
            &format!("{n:06}"),
        )
    });
    assert_eq!(facts(&audit(most)), ["SCL-1 partition 'a' has 90 % of the rows, of 3 partitions"]);
}

#[test]
fn entities_near_a_limit_are_found() {
    let large = (0..15).fold(row("p", "large"), |row, n| row.with(format!("T{n}"), "x".repeat(30_000)));
    let many = (0..250).fold(row("p", "many"), |row, n| row.with(format!("N{n}"), n));
    let long = row("p", &"k".repeat(500));
    let found = audit([long, large, many]);
    let rules: Vec<_> = found.iter().map(|finding| finding.rule).collect();
    for rule in ["SIZE-1", "ENT-2", "TYPE-10", "KEY-7"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
}

#[test]
fn the_size_of_an_entity_follows_the_published_formula() {
    // Small entities cause no findings about sizes (SIZE-7).
    let ada = row("Sales", "00001").with("FirstName", "Ada").with("Age", 34);
    assert_eq!(size(&ada), 4 + 20 + (8 + 18 + 10) + (8 + 6 + 4));
}

#[test]
fn properties_of_several_types_are_found() {
    let rows = (0..10).map(|n| {
        let value = if n == 9 { Value::from("36") } else { Value::Int32(36) };
        row("p", &format!("{n:03}")).with("Age", value)
    });
    let found = audit(rows);
    assert_eq!(facts(&found), ["TYPE-12 property `Age` has several types (9 Edm.Int32, 1 Edm.String)"]);
    assert_eq!(found[0].samples, [("p".to_owned(), "009".to_owned())]);
}

#[test]
fn rows_that_no_declared_type_explains_are_found() {
    let schema: StoredSchema =
        "schema 1\nentity Employee\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
        RowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\nproperty Age Edm.Int32\n"
            .parse()
            .unwrap();
    let rows = [
        row("Sales", "empid_000001").with("Age", 36),
        row("Sales", "empid_000002").with("Age", "old"),
        row("Sales", "empid_3").with("Age", 36),
        row("Sales", "\u{FFFC}outbox_1"),
    ];
    let found = audit_with(vec![("company".to_owned(), schema)], rows);
    let of = |rule: &str| {
        found.iter().find(|finding| finding.rule == rule && finding.fact.contains("declared type"))
    };
    assert_eq!(of("PAT-HET-6").unwrap().sample_text(), "('Sales', 'empid_3')");
    assert_eq!(of("TYPE-12").unwrap().sample_text(), "('Sales', 'empid_000002')");
}

/// The schema of an employee entity.
const EMPLOYEE: &str = "schema 1\nentity Employee\ntable Company\nPartitionKey department text 0..512 ordered legal\n\
    RowKey \"empid_\"\nRowKey id digits(6) 6 ordered [0-9]\nproperty Email Edm.String\n";

#[test]
fn an_index_row_is_explained_only_in_the_table_of_its_index() {
    let mut employee: StoredSchema = EMPLOYEE.parse().unwrap();
    let person: StoredSchema =
        EMPLOYEE.replace("Employee", "Person").replace("empid_", "person_").parse().unwrap();
    let mut by_email = StoredIndex {
        name: "ByEmail".into(),
        kind: IndexKind::Copies,
        unique: true,
        sparse: false,
        when: None,
        table: Some("Directory".into()),
        partition_key: None,
        row_key: employee.row_key.clone(),
        include: None,
        properties: Vec::new(),
    };
    by_email.row_key[0] = StoredPiece::Literal("email_".into());
    employee.indexes.push(by_email);
    let schemas = vec![("company".to_owned(), employee), ("directory".to_owned(), person)];
    let unexplained = |table: &str| {
        let mut audit = Audit::new(table, schemas.clone(), 1_000);
        for key in ["email_000001", "empid_000002", "person_000003"] {
            audit.push(row("Sales", key).with("Email", "ada@contoso.com"));
        }
        let findings = audit.finish();
        let found = findings.iter().find(|finding| finding.fact.contains("no declared type"));
        found.map(Finding::sample_text).unwrap_or_default()
    };
    assert_eq!(unexplained("Directory"), "('Sales', 'empid_000002')");
    assert_eq!(unexplained("Company"), "('Sales', 'email_000001'), ('Sales', 'person_000003')");
}
