//! The attributes of an entity struct: `#[entity(…)]`, `#[partition_key(…)]`, `#[row_key(…)]`, `#[index(…)]` and `#[index_entity(…)]`.

mod words;

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, DeriveInput, Ident, LitStr, Path};

use crate::attr::allow::Allows;
use crate::attr::container::words::WORDS;
use crate::attr::index::{self, IndexAttr};
use crate::attr::keyed::Keyed;
use crate::attr::piece::{self, PieceList};
use crate::attr::proposed::{self, Proposed};
use crate::attr::{Slot, foreign, foreign_keys, relations, settings, suggested};
use crate::codec;
use crate::ctxt::{self, Ctxt};
use crate::grammar;
use crate::symbol::{
    ALLOW, COPIED_BY, COPIES_FROM, CRATE, ENTITY, FEED, INDEX, INDEX_ENTITY, KIND, PART, PARTITION_KEY,
    PROPERTY, ROW_KEY, SCHEMA_NAME, SET, SLOTS, Symbol, TABLE,
};

/// A key attribute and its parsed pieces.
pub(crate) struct KeyAttr {
    /// The attribute as written.
    pub(crate) original: Attribute,
    /// The pieces of the key.
    pub(crate) list: PieceList,
}

/// The parsed attributes of the struct.
pub(crate) struct ContainerAttrs {
    /// The value of `table = "…"`.
    pub(crate) table: Option<LitStr>,
    /// The value of `schema_name = "…"`.
    pub(crate) schema_name: Option<LitStr>,
    /// The value of `kind = "…"`.
    pub(crate) kind: Option<LitStr>,
    /// The path in `crate = …`.
    pub(crate) runtime: Option<Path>,
    /// The lints in `allow(…, reason = "…")`.
    pub(crate) allows: Allows,
    /// The word `feed`, or `None` if it is absent.
    pub(crate) feed: Option<Ident>,
    /// The paths of the relations in `copied_by(…)`.
    pub(crate) copied_by: Vec<Path>,
    /// The paths of the relations in `copies_from(…)`.
    pub(crate) copies_from: Vec<Path>,
    /// The path in `set = …`.
    pub(crate) set: Option<Path>,
    /// The `PartitionKey` declared by `#[partition_key(…)]`.
    pub(crate) partition_key: Option<KeyAttr>,
    /// The `RowKey` declared by `#[row_key(…)]`.
    pub(crate) row_key: Option<KeyAttr>,
    /// The attributes `#[index(…)]` and `#[index_entity(…)]`, in order.
    pub(crate) indexes: Vec<IndexAttr>,
}

/// The words in `#[entity(…)]` that have been parsed, with their values. Each word may be given at most once.
struct EntityWords {
    table: Slot<LitStr>,
    schema_name: Slot<LitStr>,
    kind: Slot<LitStr>,
    runtime: Slot<Path>,
    allows: Allows,
    feed: Slot<Ident>,
    copied_by: Slot<Vec<Path>>,
    copies_from: Slot<Vec<Path>>,
    set: Slot<Path>,
}

impl EntityWords {
    fn empty() -> Self {
        Self {
            table: Slot::empty(TABLE.0),
            schema_name: Slot::empty(SCHEMA_NAME.0),
            kind: Slot::empty(KIND.0),
            runtime: Slot::empty(CRATE.0),
            allows: Allows::default(),
            feed: Slot::empty(FEED.0),
            copied_by: Slot::empty(COPIED_BY.0),
            copies_from: Slot::empty(COPIES_FROM.0),
            set: Slot::empty(SET.0),
        }
    }

    /// Parses one attribute and reports its errors. Returns `false` if any part could not be parsed.
    fn read(&mut self, ctxt: &Ctxt, attr: &Attribute, keyed: &Keyed<'_>) -> bool {
        let mut whole = true;
        let sound = WORDS.read_after(
            ctxt,
            attr,
            |input| of_another_library(input, keyed),
            |word, input| {
                if word == TABLE {
                    let name = grammar::value(input, <LitStr as Parse>::parse)?;
                    self.table.set(ctxt, word, name, "an entity is stored in one table");
                } else if word == KIND {
                    let name = grammar::value(input, <LitStr as Parse>::parse)?;
                    self.kind.set(ctxt, word, name, "an entity has one kind");
                } else if word == SCHEMA_NAME {
                    let name = grammar::value(input, <LitStr as Parse>::parse)?;
                    self.schema_name.set(ctxt, word, name, "an entity has one stored schema");
                } else if word == CRATE {
                    let path = grammar::value(input, Path::parse_mod_style)?;
                    self.runtime.set(ctxt, word, path, "write `crate = …` once");
                } else if word == SET {
                    let path = grammar::value(input, Path::parse_mod_style)?;
                    self.set.set(ctxt, word, path, "one set contains all types of the table");
                } else if word == COPIED_BY {
                    let (paths, sound) = relations::parse(ctxt, word, "copied_by(Assignee)", input)?;
                    whole &= sound;
                    let help = "name all relations in one list: `copied_by(Assignee, Reviewer)`";
                    self.copied_by.set(ctxt, word, paths, help);
                } else if word == COPIES_FROM {
                    let (paths, sound) = relations::parse(ctxt, word, "copies_from(Assignee)", input)?;
                    whole &= sound;
                    let help = "name all relations in one list: `copies_from(Assignee, Reviewer)`";
                    self.copies_from.set(ctxt, word, paths, help);
                } else if word == ALLOW {
                    self.allows.parse(ctxt, word, input)?;
                } else if word == FEED {
                    let help = "an entity has one feed, in its partition; write `feed` once";
                    self.feed.set(ctxt, word, word.clone(), help);
                }
                Ok(())
            },
        );
        sound && whole
    }
}

/// Reports a word for all names or for an index, in the names of the declared fields.
fn of_another_library(input: ParseStream, keyed: &Keyed<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let Ok(word) = ahead.call(Ident::parse_any) else { return Ok(()) };
    let help = if word == "rename_all" {
        let rule = syn::parse2::<LitStr>(grammar::rest(&ahead).into_iter().skip(1).collect()).ok();
        keyed.renamed(rule.map(|rule| rule.value()).as_deref())
    } else if ["index", "indexes", "unique"].iter().any(|of_index| word == of_index) {
        let row = keyed.fields_in(grammar::rest(&ahead));
        let proposed = Proposed { unique: word == "unique", row, ..Proposed::default() };
        if !proposed.has_fields() {
            return Ok(());
        }
        proposed.help(keyed)
    } else if let Some(key) = key_of_word(&word) {
        let arguments = grammar::rest(&ahead);
        let fields = keyed.fields_in(arguments.clone());
        if fields.is_empty() || proposed::are_pieces(&arguments, keyed) {
            return Ok(());
        }
        let pieces = if key == ROW_KEY { keyed.joined(&fields) } else { fields.join(", ") };
        format!("write `#[{key}({pieces})]` above the struct")
    } else {
        return Ok(());
    };
    Err(ctxt::mistake("T001", &word, format!("unknown word `{word}` in `entity`"), help))
}

/// Returns the key that a word declares inside `#[entity(…)]`, by its own name or by that of another library.
fn key_of_word(word: &Ident) -> Option<Symbol> {
    let own = [PARTITION_KEY, ROW_KEY].into_iter().find(|key| word == *key);
    own.or_else(|| foreign_keys::key_of_word(&word.to_string()))
}

/// Parses this crate's attributes on the struct.
pub(crate) fn parse(ctxt: &Ctxt, input: &DeriveInput, keyed: &Keyed<'_>) -> ContainerAttrs {
    let mut words = EntityWords::empty();
    let mut partition_key = Slot::empty(PARTITION_KEY.0);
    let mut row_key = Slot::empty(ROW_KEY.0);
    let mut indexes = Vec::new();
    let mut misplaced = Vec::new();
    for attr in &input.attrs {
        if attr.path() == &ENTITY {
            if !words.read(ctxt, attr, keyed) {
                words.allows.set_partial();
                misplaced.extend(grammar::names(attr.meta.to_token_stream()));
            }
        } else if attr.path() == &PARTITION_KEY {
            parse_key(ctxt, attr, "#[partition_key(department)]", &mut partition_key, keyed);
        } else if attr.path() == &ROW_KEY {
            parse_key(ctxt, attr, "#[row_key(\"empid_\", id)]", &mut row_key, keyed);
        } else if attr.path() == &INDEX || attr.path() == &INDEX_ENTITY {
            indexes.extend(index::parse(ctxt, attr, attr.path() == &INDEX_ENTITY, input, keyed));
        } else {
            refuse_field_attribute(ctxt, attr, keyed);
            foreign::refuse(ctxt, attr, None, keyed);
        }
    }
    // If another attribute declares a key, the error is reported there, and the key is not reported as missing.
    let elsewhere = |word: Symbol| {
        let name = misplaced.iter().find(|name| **name == word)?;
        let original = syn::parse_quote!(#[#name]);
        Some(KeyAttr {
            original,
            list: PieceList::wrong(misplaced.iter().map(Ident::to_token_stream).collect()),
        })
    };
    ContainerAttrs {
        table: words.table.take(),
        schema_name: words.schema_name.take(),
        kind: words.kind.take(),
        runtime: words.runtime.take(),
        allows: words.allows,
        feed: words.feed.take(),
        copied_by: words.copied_by.take().unwrap_or_default(),
        copies_from: words.copies_from.take().unwrap_or_default(),
        set: words.set.take(),
        partition_key: partition_key.take().or_else(|| elsewhere(PARTITION_KEY)),
        row_key: row_key.take().or_else(|| elsewhere(ROW_KEY)),
        indexes,
    }
}

fn parse_key(ctxt: &Ctxt, attr: &Attribute, form: &str, slot: &mut Slot<KeyAttr>, keyed: &Keyed<'_>) {
    // A malformed key is not reported as missing. An empty key is reported by the key rules.
    let is_empty = attr.meta.require_list().is_ok_and(|list| list.tokens.is_empty());
    let list = if is_empty {
        PieceList::default()
    } else if let Some(pieces) = suggested::assigned_pieces(attr) {
        let name = attr.path().to_token_stream();
        let help =
            format!("write `#[{name}({pieces})]`: the keys of every table are `PartitionKey` and `RowKey`");
        ctxt.error("T004", attr, format!("`{name}` takes its pieces in parentheses, without a name"), help);
        PieceList::wrong(attr.meta.to_token_stream())
    } else {
        grammar::in_parentheses(ctxt, attr, form, |input| piece::parse_list(ctxt, input))
            .unwrap_or_else(|| PieceList::wrong(attr.meta.to_token_stream()))
    };
    let help = match slot.get() {
        Some(KeyAttr { original, .. }) => {
            let name = attr.path().to_token_stream();
            let [first, second] = [original, attr].map(grammar::arguments);
            let are_fields = [original, attr].iter().all(|attr| !keyed.are_pieces(attr));
            let pieces = if !are_fields {
                let ends = first
                    .clone()
                    .into_iter()
                    .last()
                    .is_some_and(|token| matches!(token, TokenTree::Literal(_)));
                let separator = if ends { "" } else { " \"_\"," };
                format!("{first},{separator} {second}")
            } else if attr.path() == &PARTITION_KEY {
                format!("{first}, {second}")
            } else {
                keyed.joined(&[keyed.fields_in(first), keyed.fields_in(second)].concat())
            };
            format!(
                "write `#[{name}({pieces})]` above the struct: a key is declared once, with all its pieces"
            )
        }
        None => String::new(),
    };
    slot.set(ctxt, attr, KeyAttr { original: attr.clone(), list }, help);
}

fn refuse_field_attribute(ctxt: &Ctxt, attr: &Attribute, keyed: &Keyed<'_>) {
    let arguments = grammar::source(&grammar::arguments(attr));
    let of_codecs = codec::attributes().map(|word| (word.name, codec::in_attribute(word)));
    let others =
        [(PROPERTY.0, "property(\"Name\")"), (SLOTS.0, "slots(\"Day\", 1..=366)"), (PART.0, "part(2)")];
    for (name, form) in of_codecs.chain(others.map(|(name, form)| (name, form.to_owned()))) {
        if attr.path().is_ident(name) {
            let rule = settings::of(attr).into_iter().find(|setting| setting.word == "rename_all");
            let form = if arguments.is_empty() { form } else { format!("{name}({arguments})") };
            let of_key = [PARTITION_KEY, ROW_KEY].into_iter().flat_map(|key| keyed.fields_of(key));
            let help = match (rule, of_key.into_iter().last()) {
                (Some(rule), _) => keyed.renamed(rule.text().as_deref()),
                (None, Some(field)) if name != PROPERTY.0 && name != PART.0 && name != SLOTS.0 => {
                    format!("write `#[{form}]` above the field that it encodes, such as `{field}`")
                }
                _ => format!("write `#[{form}]` above the field"),
            };
            ctxt.error("T003", attr, format!("`{name}` belongs on a field"), help);
        }
    }
}
