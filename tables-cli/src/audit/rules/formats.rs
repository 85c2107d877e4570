//! Checks the key formats of similar rows. Reports mixed formats, numbers of different widths, and unescaped separators.

use std::collections::{BTreeMap, BTreeSet};

use table_core::TableEntity;

use crate::audit::finding::Finding;
use crate::audit::shape::Shape;
use table_inspect::infer::Group;

/// The characters assumed to separate key parts.
const SEPARATORS: [char; 8] = ['_', '|', ':', '!', '~', '^', '+', ','];

/// The name of a key, `PartitionKey` or `RowKey`, and a function that reads this key from an entity.
type KeyOf = (&'static str, fn(&TableEntity) -> &str);

const KEYS: [KeyOf; 2] =
    [("PartitionKey", |row| row.key().partition_key.as_str()), ("RowKey", |row| row.key().row_key.as_str())];

/// Checks the key formats in each group of similar rows.
pub(in crate::audit) fn of_kinds(kinds: &[Group<'_>], findings: &mut Vec<Finding>) {
    for kind in kinds {
        for key in KEYS {
            of_key(kind, key, findings);
        }
    }
    spellings(kinds, findings);
}

/// Formats the name of a group of rows for a message, such as ` of kind 'Saga'`. Returns an empty string if the group has no name.
fn of_name(kind: &Group<'_>) -> String {
    let name = kind.kind.as_deref().unwrap_or(&kind.prefix);
    if name.is_empty() { String::new() } else { format!(" of kind '{name}'") }
}

fn of_key(kind: &Group<'_>, (name, text): KeyOf, findings: &mut Vec<Finding>) {
    let texts: Vec<(&TableEntity, &str)> = kind.rows.iter().map(|row| (*row, text(row))).collect();
    let different: BTreeSet<&str> = texts.iter().map(|(_, text)| *text).collect();
    if different.len() < 3 {
        return;
    }
    let place = format!("{name}{}", of_name(kind));
    if separators(&texts, &place, findings) {
        return;
    }
    let shapes: Vec<Shape> = texts.iter().map(|(_, text)| Shape::of(text)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for shape in &shapes {
        *counts.entry(&shape.text).or_default() += 1;
    }
    let Some((usual, count)) = counts.iter().max_by_key(|(_, count)| **count) else { return };
    // Keys with no common shape are treated as free text.
    if *count * 5 < texts.len() * 4 {
        return;
    }
    let rows = || texts.iter().map(|(row, _)| *row).zip(&shapes);
    if counts.len() > 1 {
        let mut finding = Finding::new(
            "DQ-10",
            format!("mixed formats in {place}: most are like '{}'", example(&texts, &shapes, usual)),
            "write all keys by one codec, and copy the others with `tables copy --row-key` or `--partition-key`",
        );
        rows().filter(|(_, shape)| shape.text != *usual).for_each(|(row, _)| finding.push(row.key()));
        findings.push(finding);
    }
    let usual_rows: Vec<_> = rows().filter(|(_, shape)| shape.text == *usual).collect();
    widths(&usual_rows, &place, findings);
}

fn example<'a>(texts: &[(&TableEntity, &'a str)], shapes: &[Shape], usual: &str) -> &'a str {
    let mut like = texts.iter().zip(shapes).filter(|(_, shape)| shape.text == usual);
    like.next().map_or("", |((_, text), _)| *text)
}

/// Reports numbers with different widths at the same position in the keys. Such keys do not sort by value.
fn widths(rows: &[(&TableEntity, &Shape)], place: &str, findings: &mut Vec<Finding>) {
    let positions = rows.first().map_or(0, |(_, shape)| shape.numbers.len());
    for at in 0..positions {
        let number = |shape: &Shape| shape.numbers.get(at).cloned().unwrap_or_default();
        let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, shape) in rows {
            *widths.entry(number(shape).len()).or_default() += 1;
        }
        if widths.len() < 2 {
            continue;
        }
        let is_padded =
            rows.iter().any(|(_, shape)| number(shape).len() > 1 && number(shape).starts_with('0'));
        let fact =
            if is_padded { "numbers padded to different widths" } else { "numbers of different widths" };
        let widest = widths.last_key_value().map_or(1, |(width, _)| *width);
        let usual = widths.iter().max_by_key(|(_, count)| **count).map_or(1, |(width, _)| *width);
        let fix =
            format!("pad the number, for example with `#[digits({widest})]`; without, '10' sorts before '9'");
        let mut finding = Finding::new("DQ-10", format!("{fact} in {place}"), fix);
        // The samples contain keys with the usual width and keys with other widths.
        let mut others = rows.iter().filter(|(_, shape)| number(shape).len() != usual);
        let like = rows.iter().find(|(_, shape)| number(shape).len() == usual);
        like.into_iter().chain(others.by_ref().take(2)).for_each(|(row, _)| finding.push(row.key()));
        finding.rows = rows.len() as u64;
        findings.push(finding);
        return;
    }
}

/// Reports keys with more separators than most others, a sign that a key part contains the separator. Returns `true` if it reports any keys.
fn separators(texts: &[(&TableEntity, &str)], place: &str, findings: &mut Vec<Finding>) -> bool {
    for separator in SEPARATORS {
        let count = |text: &str| text.matches(separator).count();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, text) in texts {
            *counts.entry(count(text)).or_default() += 1;
        }
        let Some((usual, rows)) = counts.iter().max_by_key(|(_, rows)| **rows) else { continue };
        let is_usual = *usual > 0 && *rows < texts.len() && *rows * 5 >= texts.len() * 4;
        if !is_usual || counts.keys().all(|count| count <= usual) {
            continue;
        }
        // Free text may contain separators anywhere, so keys are reported only if most keys have similar shapes.
        let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
        for (_, text) in texts.iter().filter(|(_, text)| count(text) == *usual) {
            *shapes.entry(Shape::of(text).text.replace(['A', 'm'], "a")).or_default() += 1;
        }
        if shapes.values().max().is_none_or(|most| most * 4 < rows * 3) {
            continue;
        }
        let mut finding = Finding::new(
            "PAT-CK-2",
            format!("unescaped separator `{separator}` in parts of {place}: most keys have {usual}"),
            format!(
                "encode the parts, for example with `escaped(…)` or `without('{separator}', …)`: such keys cannot be split into their parts"
            ),
        );
        texts.iter().filter(|(_, text)| count(text) > *usual).for_each(|(row, _)| finding.push(row.key()));
        findings.push(finding);
        return true;
    }
    false
}

/// Reports groups of rows whose RowKey prefixes differ only in case or separators.
fn spellings(kinds: &[Group<'_>], findings: &mut Vec<Finding>) {
    let plain = |kind: &Group<'_>| -> String {
        kind.prefix
            .chars()
            .filter(|character| character.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    for (at, kind) in kinds.iter().enumerate() {
        let name = plain(kind);
        let earlier = kinds.iter().take(at).find(|other| {
            kind.kind == other.kind && !name.is_empty() && other.prefix != kind.prefix && plain(other) == name
        });
        if let Some(earlier) = earlier {
            let (usual, other) = (&earlier.prefix, &kind.prefix);
            let fact = format!("mixed formats in RowKey: '{other}' next to '{usual}'");
            let fix = "write one spelling, and copy the other rows with `tables copy --row-key`";
            let mut finding = Finding::new("DQ-10", fact, fix);
            kind.rows.iter().for_each(|row| finding.push(row.key()));
            findings.push(finding);
        }
    }
}
