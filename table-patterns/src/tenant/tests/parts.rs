//! Tests that an import never stores a truncated blob, even if it is interrupted within a blob.

use pollster::block_on;
use table_core::ErrorCode;

use super::assert_moved;
use super::kit::{World, steps_with_file};
use crate::tenant::Import;

/// Exports `contoso`, whose first file has `bytes` bytes. Returns the lines of each export step.
fn exported(bytes: u32) -> (World, Vec<String>) {
    let world = World::after(&steps_with_file(bytes));
    let (tenant, mut steps) = (world.tenant("contoso"), Vec::new());
    let mut export = tenant.export();
    while let Some(lines) = block_on(export.step()).unwrap() {
        steps.push(lines);
    }
    (world, steps)
}

fn is_first_part(lines: &str) -> bool {
    lines.starts_with("{\"Blob\"") && lines.contains("\"From\":0,")
}

/// Pushes the steps of an export, starting at `from`. If a step is refused because it begins within a blob, restarts from the blob's first part. Returns `true`
/// if a step was refused.
fn push_from(import: &mut Import<'_>, steps: &[String], from: usize) -> bool {
    let (mut at, mut has_refused) = (from, false);
    while at < steps.len() {
        match block_on(import.push(&steps[at])) {
            Ok(()) => at += 1,
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
                assert!(error.message().contains("from the first part of the blob"), "{error}");
                assert!(!is_first_part(&steps[at]));
                at = (0..at).rev().find(|at| is_first_part(&steps[*at])).unwrap();
                has_refused = true;
            }
        }
    }
    has_refused
}

#[test]
fn an_import_that_continues_within_a_blob_stores_the_whole_blob() {
    let (from, steps) = exported(2_500_000);
    let mut refused = 0;
    for cut in 1..steps.len() {
        for again in 1..=cut {
            let to = World::new();
            let tenant = to.tenant("contoso");
            let mut import = tenant.import();
            for lines in &steps[..cut] {
                block_on(import.push(lines)).unwrap();
            }
            // The process ends, and another process continues the import.
            let mut import = tenant.import().resume();
            block_on(import.push(&steps[0])).unwrap();
            refused += usize::from(push_from(&mut import, &steps, again));
            block_on(import.finish()).unwrap();
            assert_moved(&from, &to, "contoso");
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_part_of_a_blob_that_is_pushed_twice_is_stored_once() {
    let (from, steps) = exported(2_500_000);
    let to = World::new();
    let tenant = to.tenant("contoso");
    let mut import = tenant.import();
    for (at, lines) in steps.iter().enumerate() {
        block_on(import.push(lines)).unwrap();
        if at > 0 {
            block_on(import.push(lines)).unwrap();
        }
    }
    block_on(import.finish()).unwrap();
    assert_moved(&from, &to, "contoso");
}

/// Tests that a push that failed within a blob can be repeated, like a push that contains only rows.
#[test]
fn a_push_that_is_repeated_after_a_failure_stores_the_whole_blob() {
    // The file is larger than one upload part.
    let (from, steps) = exported(9_500_000);
    for lost in [false, true] {
        for number in 0.. {
            let to = World::new();
            let tenant = to.tenant("contoso");
            let mut import = tenant.import();
            to.blobs.fail_at(number, lost);
            let failed = (0..steps.len()).find(|at| block_on(import.push(&steps[*at])).is_err());
            to.blobs.heal();
            let Some(failed) = failed else {
                assert!(number > 2, "{number} requests");
                break;
            };
            push_from(&mut import, &steps, failed);
            block_on(import.finish()).unwrap();
            assert_eq!(to.tickets_of("contoso"), from.tickets_of("contoso"), "request {number}");
        }
    }
}
