//! Checks that entity rows and index rows can be told apart by their keys.

use syn::LitStr;
use syn::ext::IdentExt;

use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::Entity;
use crate::model::index::Index;
use crate::model::key::Key;

/// Reports pairs of row types that cannot be told apart by the literals at the start of their keys (PAT-HET-2).
pub(super) fn check(ctxt: &Ctxt, entity: &Entity<'_>) {
    let (Some(partition_key), Some(own_key)) = (&entity.partition_key, &entity.row_key) else { return };
    let own = RowKind {
        name: "the entity itself".to_owned(),
        table: entity.table.0.to_ascii_lowercase(),
        partition: Start::of(partition_key),
        row: Start::of(own_key),
        is_in_own_partition: true,
    };
    let mut kinds = vec![own];
    for index in entity.indexes.iter().filter(|index| !index.is_broken(entity)) {
        let Some(row_key) = &index.row_key else { continue };
        let table = index.attr.table.as_ref().map_or_else(|| entity.table.0.clone(), LitStr::value);
        let kind = RowKind {
            name: format!("`{}`", index.attr.name),
            table: table.to_ascii_lowercase(),
            partition: Start::of(index.partition_key.as_ref().unwrap_or(partition_key)),
            row: Start::of(row_key),
            is_in_own_partition: index.partition_key.is_none(),
        };
        if let Some(wrong) = mixing(&kinds, &kind) {
            report_mixed(ctxt, own_key, index, wrong);
        }
        kinds.push(kind);
    }
}

/// A kind of row stored for a declaration: entities, or the rows of one index.
struct RowKind {
    /// The name used in messages: "the entity itself" or the quoted name of the index.
    name: String,
    /// The table, in lower case.
    table: String,
    /// The start of the `PartitionKey`s.
    partition: Start,
    /// The start of the `RowKey`s.
    row: Start,
    /// `true` if the rows are in the partitions of the entities.
    is_in_own_partition: bool,
}

/// The constant text at the start of a key.
struct Start {
    text: String,
    /// `true` if the text is the whole key.
    is_whole: bool,
}

impl Start {
    fn of(key: &Key) -> Self {
        Self { text: key.literal_from(0), is_whole: !key.broken && key.parts().next().is_none() }
    }

    /// Returns `true` if one text is a prefix of the other.
    fn overlaps(&self, other: &Self) -> bool {
        self.text.starts_with(&other.text) || other.text.starts_with(&self.text)
    }

    /// Returns `true` if two keys with these starts may be equal. A key that consists entirely of constant text differs from every key that starts with a
    /// longer text.
    fn may_equal(&self, other: &Self) -> bool {
        let is_shorter = |one: &Self, other: &Self| one.is_whole && one.text.len() < other.text.len();
        self.overlaps(other) && !is_shorter(self, other) && !is_shorter(other, self)
    }
}

/// A reason why two kinds of rows cannot be told apart.
#[derive(Clone, Copy)]
enum Mixing<'k> {
    /// The partitions start with the same text, and one `RowKey` start is a prefix of the other.
    Rows(&'k RowKind, &'k RowKind),
    /// The keys of the rows may be equal, although the `PartitionKey`s start with different texts.
    Keys(&'k RowKind, &'k RowKind),
}

/// Returns the first reason why a kind of row cannot be told apart from an earlier kind.
fn mixing<'k>(kinds: &'k [RowKind], kind: &'k RowKind) -> Option<Mixing<'k>> {
    let (own, _) = kinds.split_first()?;
    // If the rows of an index could be mistaken for entities, `Entities` does not insert entities into the partitions of the index. These partitions start with
    // the index's literal.
    let excludes_entities = |index: &RowKind| own.partition.text.is_empty() && index.row.overlaps(&own.row);
    let is_excluded = |one: &RowKind, other: &RowKind| {
        one.is_in_own_partition && !other.is_in_own_partition && excludes_entities(other)
    };
    kinds.iter().filter(|other| other.table == kind.table).find_map(|other| {
        if other.partition.text == kind.partition.text {
            return other.row.overlaps(&kind.row).then_some(Mixing::Rows(other, kind));
        }
        let may_equal = other.partition.may_equal(&kind.partition) && other.row.may_equal(&kind.row);
        let is_apart = !may_equal || is_excluded(other, kind) || is_excluded(kind, other);
        (!is_apart).then_some(Mixing::Keys(other, kind))
    })
}

/// Reports an index whose rows cannot be told apart from other rows.
fn report_mixed(ctxt: &Ctxt, own_key: &Key, index: &Index, mixing: Mixing<'_>) {
    let name = &index.attr.name;
    let (wrong, other) = match mixing {
        Mixing::Rows(other, kind) => {
            let wrong = format!(
                "the rows of `{name}` would mix with the rows of {} in one partition; their RowKeys start with {:?} and {:?}",
                other.name, kind.row.text, other.row.text
            );
            (wrong, other)
        }
        Mixing::Keys(other, kind) => {
            let wrong = format!(
                "a row of `{name}` and a row of {} could have the same key; their PartitionKeys start with {:?} and {:?}, and their RowKeys with \
                 {:?} and {:?}",
                other.name, kind.partition.text, other.partition.text, kind.row.text, other.row.text
            );
            (wrong, other)
        }
    };
    let method = index.method();
    // A literal at the start is replaced, because it is the cause.
    let written = index.row_key_pieces().into_iter().skip_while(|piece| piece.starts_with('"')).collect();
    let pieces = started(&format!("{method}_"), written);
    let also = if own_key.literal_from(0).is_empty() && other.name == "the entity itself" {
        let first = own_key.parts().next().map(|part| format!("{}_", part.name.unraw()));
        let own = grammar::items(grammar::arguments(&own_key.original));
        let own = started(first.as_deref().unwrap_or("entity"), own);
        format!(" and `#[row_key({own})]` above the struct")
    } else {
        String::new()
    };
    let help = format!(
        "start each RowKey with a different literal: `row_key({pieces})` in `{name}`{also}; or give `{name}` separate \
         partitions, `partition_key(\"{method}_\", …)`, or a table: `table = \"…\"`",
    );
    ctxt.error("T066", name, wrong, help);
}

/// Returns the literal followed by the pieces of a key. An empty literal among the pieces is removed, because it is allowed only as the entire key.
fn started(literal: &str, pieces: Vec<String>) -> String {
    let pieces = pieces.into_iter().filter(|piece| piece != "\"\"");
    std::iter::once(format!("{literal:?}")).chain(pieces).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    use crate::derive;

    /// Returns `true` if a declaration with these keys and indexes is rejected with T066.
    fn is_refused(keys: &str, indexes: &[&str]) -> bool {
        let indexes = indexes.iter().map(|index| format!("#[index({index})]")).collect::<Vec<_>>().join(" ");
        let fields = "struct Employee { department: String, id: u32, name: String, email: String }";
        let declaration: TokenStream = format!("{keys} {indexes} {fields}").parse().unwrap();
        let expanded = derive::entity(declaration, || syn::parse_quote!(::table_core)).to_string();
        assert!(!expanded.contains("compile_error") || expanded.contains("[T066]"), "{expanded}");
        expanded.contains("[T066]")
    }

    const PREFIXED: &str = r#"#[partition_key("emp_", department)] #[row_key(id)]"#;
    const PLAIN: &str = r#"#[partition_key(department)] #[row_key("empid_", id)]"#;

    #[test]
    fn pat_het_2_a_partition_literal_that_is_a_prefix_of_another_is_refused() {
        for partition in ["\"emp\", name", "\"emp_n_\", name", "name"] {
            assert!(
                is_refused(PREFIXED, &[&format!("A, unique, partition_key({partition}), row_key(id)")]),
                "{partition}"
            );
        }
        let twice = |second| {
            let first = r#"A, unique, partition_key("a_", department), row_key(id)"#;
            is_refused(PLAIN, &[first, second])
        };
        assert!(twice(r#"B, unique, partition_key("a_b_", name), row_key(id)"#));
        assert!(twice("B, unique, partition_key(name), row_key(id)"));
        assert!(!twice(r#"B, unique, partition_key("b_", name), row_key(id)"#));
    }

    #[test]
    fn pat_het_2_rows_of_partitions_with_a_common_prefix_are_accepted_if_their_keys_differ() {
        let accepted = [
            // The literals of the `RowKey`s differ.
            (
                r#"#[partition_key("emp_", department)] #[row_key("e_", id)]"#,
                r#"A, unique, partition_key("emp", name), row_key("a_", id)"#,
            ),
            // The entire `PartitionKey` or `RowKey` is shorter than the literal in the other row's key.
            (PREFIXED, r#"A, unique, partition_key("emp"), row_key(name)"#),
            (
                r#"#[partition_key("emp_", department)] #[row_key("e_", id)]"#,
                r#"A, unique, partition_key("emp", name), row_key("e")"#,
            ),
            // Another table.
            (PREFIXED, r#"A, unique, table = "Others", partition_key("emp", name), row_key(id)"#),
            // `Entities` inserts no entity into the partitions of the index.
            (PLAIN, r#"A, unique, partition_key("email_", department), row_key(email)"#),
            (
                "#[partition_key(department)] #[row_key(id)]",
                r#"A, unique, partition_key("email_", email), row_key(id)"#,
            ),
        ];
        for (keys, index) in accepted {
            assert!(!is_refused(keys, &[index]), "{keys} {index}");
        }
    }

    #[test]
    fn pat_het_2_a_copy_in_the_partition_of_its_entity_is_told_apart_from_the_partitions_of_another_index() {
        let own = r#"A, unique, row_key("email_", email)"#;
        let other = |row_key: &str| format!(r#"B, unique, partition_key("all_", name), row_key({row_key})"#);
        assert!(is_refused(PLAIN, &[own, &other(r#""email_", email"#)]));
        assert!(is_refused(PLAIN, &[&other(r#""email_", email"#), own]));
        assert!(!is_refused(PLAIN, &[own, &other(r#""mail_", email"#)]));
        // Entities are not inserted into the partitions of `B`, so the copies of index `A` are not inserted there either.
        assert!(!is_refused(PLAIN, &[own, &other("email")]));
    }
}
