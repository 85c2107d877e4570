//! Indexes that messages propose. A proposed index passes the rules for indexes: its key contains the key of the entity, unless it is unique, and its rows
//! start with another literal than the entities of their partition.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Ident, LitStr};

use crate::attr::keyed::Keyed;
use crate::casing::pascal_case;
use crate::grammar;
use crate::samples;
use crate::symbol::{INCLUDE, PARTITION_KEY, ROW_KEY, TABLE, UNIQUE, WHEN};

/// Words with which other libraries name the fields of an index's `RowKey`.
pub(super) const ROW_WORDS: &[&str] = &[
    "key",
    "keys",
    "field",
    "fields",
    "column",
    "columns",
    "on",
    "sort_key",
    "sk",
    "range",
    "range_key",
    "index_key",
    "composite",
    "template",
    "facets",
    "parts",
    "attributes",
    "properties",
    "text",
    "local",
    "path",
    "paths",
];
/// Words with which other libraries name the fields of an index's `PartitionKey`.
pub(super) const PARTITION_WORDS: &[&str] = &["hash_key", "hash", "pk", "partition"];
/// Words with which other libraries declare a unique index.
const UNIQUE_WORDS: &[&str] = &[UNIQUE.0, "is_unique", "IsUnique"];

/// An index that a message proposes.
#[derive(Default)]
pub(super) struct Proposed {
    /// `true` for `index_entity`.
    pub(super) list: bool,
    /// The name, or `None` for a name made from the first field.
    pub(super) name: Option<String>,
    pub(super) unique: bool,
    /// The fields of the `PartitionKey`. If empty, the rows are in the partition of the entity.
    pub(super) partition: Vec<String>,
    /// The fields of the `RowKey`.
    pub(super) row: Vec<String>,
    /// Other settings, as written.
    pub(super) more: Vec<String>,
}

impl Proposed {
    /// Reads the settings of an index, in the words of any library.
    pub(super) fn of(settings: TokenStream, keyed: &Keyed<'_>) -> Self {
        let mut proposed = Self::default();
        let mut items = vec![TokenStream::new()];
        for token in settings {
            let is_comma = matches!(&token, TokenTree::Punct(comma) if comma.as_char() == ',');
            match items.last_mut() {
                Some(item) if !is_comma => item.extend([token]),
                _ => items.push(TokenStream::new()),
            }
        }
        for (at, item) in items.into_iter().enumerate() {
            proposed.read(item, at == 0, keyed);
        }
        proposed
    }

    fn read(&mut self, item: TokenStream, is_first: bool, keyed: &Keyed<'_>) {
        let text = grammar::source(&item);
        let mut tokens = item.clone().into_iter();
        let (first, rest) = (tokens.next(), tokens.collect::<TokenStream>());
        let fields = keyed.fields_in(item);
        let word = match &first {
            Some(TokenTree::Ident(word)) => word.to_string(),
            _ => String::new(),
        };
        let is = |words: &[&str]| words.contains(&word.as_str());
        if rest.is_empty() && !fields.is_empty() {
            self.row.extend(fields);
        } else if is(UNIQUE_WORDS) {
            self.unique = !rest.to_string().contains("false");
        } else if is(&["name", "index_name", "Name"]) || is_first && rest.is_empty() {
            let name =
                if rest.is_empty() { first.to_token_stream() } else { rest.into_iter().skip(1).collect() };
            let name =
                syn::parse2::<LitStr>(name.clone()).map_or_else(|_| name.to_string(), |name| name.value());
            let name = pascal_case(&name.replace(['-', ' '], "_"));
            self.name = syn::parse_str::<Ident>(&name).is_ok().then_some(name);
        } else if is(PARTITION_WORDS) || is(&[PARTITION_KEY.0]) {
            self.partition.extend(keyed.fields_in(rest));
        } else if is(ROW_WORDS) || is(&[ROW_KEY.0]) {
            self.row.extend(keyed.fields_in(rest));
        } else if is(&[INCLUDE.0, WHEN.0, TABLE.0]) {
            self.more.push(text);
        } else if keyed.field(&word).is_some() {
            // A field with a direction, such as `email = 1`.
            self.row.push(word);
        }
    }

    /// Returns `true` if the proposal has a field.
    pub(super) fn has_fields(&self) -> bool {
        !self.partition.is_empty() || !self.row.is_empty()
    }

    /// Returns the help text that shows the index. If the entity's `RowKey` needs a literal, it also shows this key.
    pub(super) fn help(&self, keyed: &Keyed<'_>) -> String {
        let index = self.attribute(keyed);
        let is_elsewhere = !self.partition.is_empty()
            || keyed.is_alone()
            || self.more.iter().any(|it| it.starts_with(TABLE.0));
        match keyed.row_key_with_literal().filter(|_| !is_elsewhere) {
            Some((own, before)) => format!(
                "write `{own} {index}` above the struct, in place of `{before}`: the rows of an index are in the partition of the entity, so each kind of \
                 row starts with another literal"
            ),
            None => format!("write `{index}` above the struct"),
        }
    }

    fn attribute(&self, keyed: &Keyed<'_>) -> String {
        // Without another entity in the partition, an index in it would find nothing.
        if self.partition.is_empty() && keyed.is_alone() {
            let (first, rest) = self.row.split_at(self.row.len().min(1));
            let elsewhere = Self {
                list: self.list,
                name: self.name.clone(),
                unique: self.unique,
                partition: first.to_vec(),
                row: rest.to_vec(),
                more: self.more.clone(),
            };
            return elsewhere.attribute(keyed);
        }
        let (own_partition, own_row) = (keyed.fields_of(PARTITION_KEY), keyed.fields_of(ROW_KEY));
        let is_here = self.partition.is_empty();
        let mut row: Vec<String> = Vec::new();
        let needed = own_partition.iter().filter(|_| !is_here).chain(&own_row);
        for name in self.row.iter().chain(needed.filter(|_| !self.unique && !self.list)) {
            let is_known = self.partition.contains(name)
                || row.contains(name)
                || is_here && own_partition.contains(name);
            row.extend((!is_known).then(|| name.clone()));
        }
        let first = self.partition.first().or(row.first()).map_or("", String::as_str);
        let mut literal = format!("{first}_");
        if keyed
            .literal_of_row()
            .is_some_and(|own| !own.is_empty() && (own.starts_with(&literal) || literal.starts_with(&own)))
        {
            literal = format!("by_{literal}");
        }
        let mut words = vec![self.name.clone().unwrap_or_else(|| format!("By{}", pascal_case(first)))];
        words.extend(self.unique.then(|| UNIQUE.0.to_owned()));
        words.extend(self.list.then(|| "at_most = 100".to_owned()));
        words.extend(
            (!is_here).then(|| format!("{PARTITION_KEY}({literal:?}, {})", keyed.joined(&self.partition))),
        );
        let pieces = keyed.joined(&row);
        words.push(match (is_here, pieces.is_empty()) {
            (true, _) => format!("{ROW_KEY}({literal:?}, {pieces})"),
            (false, true) => format!("{ROW_KEY}({first:?})"),
            (false, false) => format!("{ROW_KEY}({pieces})"),
        });
        words.extend(self.more.iter().cloned());
        let word = if self.list { "index_entity" } else { "index" };
        format!("#[{word}({})]", words.join(", "))
    }
}

/// Returns `true` if the arguments of a word are the pieces of a key, such as `("email_", email)`, and not only names of fields.
pub(super) fn are_pieces(arguments: &TokenStream, keyed: &Keyed<'_>) -> bool {
    arguments.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            let mut tokens = group.stream().into_iter();
            tokens.any(|token| match token {
                TokenTree::Group(_) => true,
                TokenTree::Literal(text) => {
                    samples::name_in(&text.to_string()).is_none_or(|name| keyed.field(&name).is_none())
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => false,
            })
        }
        _ => false,
    })
}
