//! Tests the stored rows of copies against a snapshot that matches the pattern
//! catalogue.

use pollster::block_on;

use super::kit::{Company, ada, project, sales};

#[test]
fn pat_den_1_the_layout_of_a_department_with_its_manager() {
    let company = Company::new();
    block_on(company.employees.insert(&ada())).unwrap();
    block_on(company.departments.insert(&sales(Some(223)))).unwrap();
    block_on(company.projects.insert(&project("Engine", Some(223)))).unwrap();
    company.recover();
    let mut lines = Vec::new();
    for table in ["Company", "Projects"] {
        for (partition_key, row_key, properties) in company.rows(table) {
            lines.push(format!("{table}: {partition_key} / {}", row_key.replace('\u{FFFC}', "U+FFFC ")));
            lines.push(format!("  {properties}"));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}
