//! Groups rows into kinds by `EntityType` and key prefix.

use std::collections::BTreeMap;

use table_core::schema::ENTITY_TYPE;
use table_core::{TableEntity, Value};

/// The maximum number of key prefixes that are treated as kinds. If there are more, they are treated as values.
const KINDS: usize = 12;

/// The rows of one kind.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The `EntityType` of all rows in the group, if any.
    pub kind: Option<String>,
    /// The common `RowKey` prefix of this kind.
    pub prefix: String,
    /// The rows, in input order.
    pub rows: Vec<&'a TableEntity>,
}

/// Returns the kinds, most frequent first. Also returns the rows that belong to no kind, because too few other rows are similar.
pub(super) fn group(rows: &[TableEntity]) -> (Vec<Group<'_>>, Vec<&TableEntity>) {
    let mut by_type: BTreeMap<Option<&str>, Vec<&TableEntity>> = BTreeMap::new();
    for row in rows {
        let kind = match row.get(ENTITY_TYPE) {
            Some(Value::String(kind)) => Some(kind.as_str()),
            _ => None,
        };
        by_type.entry(kind).or_default().push(row);
    }
    let mut groups = Vec::new();
    for (kind, members) in by_type {
        match kind {
            Some(kind) => {
                groups.push(Group { kind: Some(kind.to_owned()), prefix: String::new(), rows: members });
            }
            None => split(String::new(), members, &mut groups),
        }
    }
    // A prefix shared by fewer than 1% of the rows may be a coincidence.
    let is_rare = |group: &Group<'_>| {
        let count = group.rows.len();
        group.kind.is_none() && rows.len() > 1 && (count == 1 || count * 100 < rows.len())
    };
    let (rare, mut kinds): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_rare);
    kinds.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
    (kinds, rare.into_iter().flat_map(|group| group.rows).collect())
}

/// Splits a group by the words after its key prefix. This requires that a few repeated words cover at least 90% of the rows. Such words are literals of the
/// schema instead of values.
fn split<'a>(prefix: String, rows: Vec<&'a TableEntity>, groups: &mut Vec<Group<'a>>) {
    let mut by_word: BTreeMap<&str, Vec<&'a TableEntity>> = BTreeMap::new();
    for row in &rows {
        let rest = row.key().row_key.as_str().get(prefix.len()..).unwrap_or_default();
        by_word.entry(word(rest)).or_default().push(row);
    }
    let repeated: Vec<usize> = by_word
        .iter()
        .filter(|(word, rows)| !word.is_empty() && rows.len() > 1)
        .map(|(_, rows)| rows.len())
        .collect();
    let are_words =
        (1..=KINDS).contains(&repeated.len()) && repeated.iter().sum::<usize>() * 10 >= rows.len() * 9;
    if !are_words {
        split_constants(prefix, rows, groups);
        return;
    }
    for (word, rows) in by_word {
        if word.is_empty() {
            groups.push(Group { kind: None, prefix: prefix.clone(), rows });
        } else {
            split(format!("{prefix}{word}"), rows, groups);
        }
    }
}

/// Separates rows whose keys are constant words from rows whose keys start with a digit. An example of a constant word is a `sentinel` row in each partition.
fn split_constants<'a>(prefix: String, rows: Vec<&'a TableEntity>, groups: &mut Vec<Group<'a>>) {
    let mut by_word: BTreeMap<&str, Vec<&'a TableEntity>> = BTreeMap::new();
    for row in &rows {
        let rest = row.key().row_key.as_str().get(prefix.len()..).unwrap_or_default();
        let is_constant = !rest.is_empty() && word(rest) == rest;
        by_word.entry(if is_constant { rest } else { "" }).or_default().push(row);
    }
    let others = by_word.remove("").unwrap_or_default();
    let is_number = |row: &&TableEntity| {
        let rest = row.key().row_key.as_str().get(prefix.len()..).unwrap_or_default();
        rest.starts_with(|character: char| character.is_ascii_digit())
    };
    let are_repeated = by_word.values().all(|rows| rows.len() > 1);
    if others.is_empty() || by_word.len() > KINDS || !are_repeated || !others.iter().all(is_number) {
        groups.push(Group { kind: None, prefix, rows });
        return;
    }
    for (word, rows) in by_word {
        groups.push(Group { kind: None, prefix: format!("{prefix}{word}"), rows });
    }
    groups.push(Group { kind: None, prefix, rows: others });
}

/// Returns the letters at the start of a string, with the separators after them.
///
/// If no separators follow, returns the entire string if it consists only of letters. Otherwise, returns an empty string.
fn word(text: &str) -> &str {
    let letters = text.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(text.len());
    let behind = text.get(letters..).unwrap_or_default();
    let separators = behind.find(|character| !"_-:|!~.@ ^+".contains(character)).unwrap_or(behind.len());
    let is_word = letters > 0 && (separators > 0 || behind.is_empty());
    if is_word { text.get(..letters + separators).unwrap_or_default() } else { "" }
}
