//! The keywords of all attributes, and help texts for unknown keywords.

use std::fmt;

use syn::{Ident, Path};

/// A keyword in one of this crate's attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Symbol(pub(crate) &'static str);

pub(crate) const ENTITY: Symbol = Symbol("entity");
pub(crate) const TABLE: Symbol = Symbol("table");
pub(crate) const KIND: Symbol = Symbol("kind");
pub(crate) const CRATE: Symbol = Symbol("crate");
pub(crate) const ALLOW: Symbol = Symbol("allow");
pub(crate) const FEED: Symbol = Symbol("feed");
pub(crate) const COPIED_BY: Symbol = Symbol("copied_by");
pub(crate) const COPIES_FROM: Symbol = Symbol("copies_from");
pub(crate) const SET: Symbol = Symbol("set");
pub(crate) const SCHEMA_NAME: Symbol = Symbol("schema_name");
pub(crate) const REASON: Symbol = Symbol("reason");
pub(crate) const LOW_CARDINALITY: Symbol = Symbol("low_cardinality");
pub(crate) const HOT_PARTITION: Symbol = Symbol("hot_partition");
pub(crate) const MANY_BUCKETS: Symbol = Symbol("many_buckets");
pub(crate) const AMBIGUOUS_PARTITION_KEY: Symbol = Symbol("ambiguous_partition_key");
pub(crate) const AMBIGUOUS_ROW_KEY: Symbol = Symbol("ambiguous_row_key");

pub(crate) const PARTITION_KEY: Symbol = Symbol("partition_key");
pub(crate) const ROW_KEY: Symbol = Symbol("row_key");
pub(crate) const INDEX: Symbol = Symbol("index");
pub(crate) const INDEX_ENTITY: Symbol = Symbol("index_entity");
pub(crate) const UNIQUE: Symbol = Symbol("unique");
pub(crate) const AT_MOST: Symbol = Symbol("at_most");
pub(crate) const INCLUDE: Symbol = Symbol("include");
pub(crate) const WHEN: Symbol = Symbol("when");

pub(crate) const CODEC: Symbol = Symbol("codec");
pub(crate) const DERIVED: Symbol = Symbol("derived");
pub(crate) const LITERAL: Symbol = Symbol("literal");

pub(crate) const PROPERTY: Symbol = Symbol("property");
pub(crate) const JSON: Symbol = Symbol("json");
pub(crate) const ALSO: Symbol = Symbol("also");
pub(crate) const REST: Symbol = Symbol("rest");
pub(crate) const CHUNKS: Symbol = Symbol("chunks");

pub(crate) const KEY_PART: Symbol = Symbol("key_part");

pub(crate) const PROJECTION: Symbol = Symbol("projection");
pub(crate) const OF: Symbol = Symbol("of");

pub(crate) const ENTITY_SET: Symbol = Symbol("entity_set");
pub(crate) const ENTITY_GROUP: Symbol = Symbol("entity_group");
pub(crate) const OTHER: Symbol = Symbol("other");
pub(crate) const UPGRADE: Symbol = Symbol("upgrade");
pub(crate) const FROM: Symbol = Symbol("from");
pub(crate) const UNDER: Symbol = Symbol("under");

pub(crate) const LARGE: Symbol = Symbol("large");
pub(crate) const BLOB: Symbol = Symbol("blob");
pub(crate) const SLOTS: Symbol = Symbol("slots");
pub(crate) const PART: Symbol = Symbol("part");

/// Names of the attributes with which other libraries mark partition-key and row-key fields.
pub(crate) const FOREIGN_KEYS: [&str; 4] = ["key", "keys", "primary_key", "id"];

impl PartialEq<Symbol> for Ident {
    fn eq(&self, word: &Symbol) -> bool {
        self == word.0
    }
}

impl PartialEq<Symbol> for &Ident {
    fn eq(&self, word: &Symbol) -> bool {
        *self == word.0
    }
}

impl PartialEq<Symbol> for Path {
    fn eq(&self, word: &Symbol) -> bool {
        self.is_ident(word.0)
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Returns the help text for an unknown word. It contains the most similar known word or, without one, all known words.
pub(crate) fn known<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let list = || known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("write `{near}`, which resembles it"),
        None => format!("known here: {}", list()),
    }
}

/// Returns the known word most similar to the given word, or `None` if no known word is similar enough.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|known| (distance(word, known), known)).min()?;
    (near.0 * 2 <= near.1.len()).then_some(near.1)
}

/// Returns the edit distance between two words.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((j, b), above) in b.iter().enumerate().zip(&row) {
            let right_above = row.get(j + 1).copied().unwrap_or(usize::MAX);
            let left = next.get(j).copied().unwrap_or(usize::MAX);
            next.push((above + usize::from(a != *b)).min(right_above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("digits", "digits"), 0);
        assert_eq!(distance("digit", "digits"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_similar_word_is_suggested_and_a_distant_one_is_not() {
        assert_eq!(known("digit", ["desc", "digits"]), "write `digits`, which resembles it");
        assert_eq!(known("shard", ["desc", "digits"]), "known here: `desc`, `digits`");
    }
}
