//! Detects monotonically increasing partition keys, which send all inserts to one partition.

use table_core::TableEntity;

use crate::audit::finding::Finding;
use crate::audit::shape::Shape;
use table_inspect::infer::{Codec, Group, Piece};

/// The minimum number of partitions from which a trend is inferred.
const PARTITIONS: usize = 8;

const FIX: &str = "begin the PartitionKey with a part that spreads the writes, such as the device, and put the time into the RowKey; the package `table-advice` measures the effect";

/// Checks the partition keys in each group of similar rows.
pub(in crate::audit) fn of_kinds(kinds: &[Group<'_>], findings: &mut Vec<Finding>) {
    for kind in kinds {
        let mut rows: Vec<&TableEntity> = Vec::new();
        for row in &kind.rows {
            if rows.last().is_none_or(|last| last.key().partition_key != row.key().partition_key) {
                rows.push(row);
            }
        }
        if rows.len() < PARTITIONS {
            continue;
        }
        let texts: Vec<&str> = rows.iter().map(|row| row.key().partition_key.as_str()).collect();
        let (fact, fix) = if begins_with_time(&texts) {
            ("PartitionKeys begin with a time: all inserts reach the newest partition", FIX.to_owned())
        } else if is_counted(&texts) && follows_time(&rows) {
            // Imports, copies and restores also write rows in key order, so the trend may not come from the application.
            let fix = format!("unless a program loaded the rows in key order, {FIX}");
            ("PartitionKeys grow with each insert: all inserts reach the last partition", fix)
        } else {
            continue;
        };
        let mut finding = Finding::new("PAT-ANTI-1", fact, fix);
        rows.iter().rev().for_each(|row| finding.push(row.key()));
        finding.rows = kind.rows.len() as u64;
        findings.push(finding);
    }
}

/// Returns `true` if the first part of each key is a time.
fn begins_with_time(texts: &[&str]) -> bool {
    let pieces = table_inspect::infer::pieces(texts);
    let first = pieces.iter().find(|piece| matches!(piece, Piece::Part { .. }));
    // The inference reports leading zeros of a tick count as a literal, not as part of the time.
    let is_at_front = match pieces.first() {
        Some(Piece::Literal(text)) => text.chars().all(|character| character == '0'),
        _ => true,
    };
    let follows = |codec: &Codec| matches!(codec, Codec::Ticks | Codec::InvertedTicks | Codec::Pattern(_));
    is_at_front && matches!(first, Some(Piece::Part { codec, .. }) if follows(codec))
}

/// Returns `true` if each key consists of the same letters followed by a number.
fn is_counted(texts: &[&str]) -> bool {
    let shapes: Vec<Shape> = texts.iter().map(|text| Shape::of(text)).collect();
    let first = shapes.first().map(|shape| shape.text.clone()).unwrap_or_default();
    first.ends_with('9') && shapes.iter().all(|shape| shape.text == first && shape.numbers.len() == 1)
}

/// Returns `true` if every row has a write time and, in key order, at least 95% of the write times are later than the previous one.
fn follows_time(rows: &[&TableEntity]) -> bool {
    let times: Vec<_> = rows.iter().filter_map(|row| row.timestamp()).collect();
    let rising = times.iter().zip(times.iter().skip(1)).filter(|(one, next)| one < next).count();
    times.len() == rows.len() && rising * 100 >= (rows.len() - 1) * 95
}
