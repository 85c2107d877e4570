//! Field attributes: `#[digits(6)]`, `#[escaped]`, `#[without('_')]`, `#[property("Name", json)]`.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, LitStr, Meta};

use crate::attr::keyed::Keyed;
use crate::attr::proposed::Proposed;
use crate::attr::settings::{self, Setting};
use crate::attr::{Slot, foreign, stored};
use crate::casing::pascal_case;
use crate::codec::{self, Codec};
use crate::ctxt::{self, Ctxt};
use crate::grammar::{self, Words};
use crate::symbol::{ALSO, CHUNKS, ENTITY, INDEX, INDEX_ENTITY, JSON, PROPERTY, REST, Symbol};

/// The parsed attributes of one field.
pub(crate) struct FieldAttrs {
    /// The field's codec in keys, with the attribute that declares it.
    pub(crate) codec: Option<(Attribute, Codec)>,
    /// The property name in `#[property("Name")]`.
    pub(crate) name: Option<LitStr>,
    /// The `json` word, which stores the field as JSON.
    pub(crate) json: Option<Ident>,
    /// The `also` word, which additionally stores a key field as a property.
    pub(crate) also: Option<Ident>,
    /// The `rest` word, which marks a map of all properties without a field.
    pub(crate) rest: Option<Ident>,
    /// The `chunks` word, which splits the value across several properties.
    pub(crate) chunks: Option<Ident>,
}

/// The arguments of `#[property(…)]` parsed so far.
struct Read {
    name: Slot<LitStr>,
    flags: [(Symbol, Slot<Ident>); 4],
}

/// The words accepted by `#[property(…)]`.
const WORDS: Words = Words {
    of: PROPERTY,
    form: "#[property(\"Name\", json)]",
    known: &[(JSON, "json"), (ALSO, "also"), (REST, "rest"), (CHUNKS, "chunks")],
    suggested: &[
        ("name", "write `#[property(\"Name\")]`"),
        ("column", "write `#[property(\"Name\")]`"),
        ("serde", "write `json`"),
        ("skip_serializing_if", "remove it: a `None` is not stored"),
        (
            "nullable",
            "remove it, and declare `{name}: Option<_>`: a property that may be absent has this type",
        ),
        (
            "optional",
            "remove it, and declare `{name}: Option<_>`: a property that may be absent has this type",
        ),
        ("type", "remove it: a property has the type of its field, `_`"),
        ("column_type", "remove it: a property has the type of its field, `_`"),
        ("max_length", "remove it: the program checks the length of `{name}` before it writes it"),
        ("min_length", "remove it: the program checks the length of `{name}` before it writes it"),
        ("precision", "remove it: a property has the precision of its type"),
        ("timestamp", "remove it: reads return the Timestamp with the version, `Versioned::timestamp`"),
        ("required", "remove it: `{name}` is required, because its type is not an `Option`"),
        ("not_null", "remove it: `{name}` is required, because its type is not an `Option`"),
    ],
};

/// Words in `#[property(…)]` that other libraries use for an index of the field, or for a key.
const OF_INDEX: [&str; 3] = ["index", "indexed", "unique"];
const OF_KEY: [&str; 5] = ["key", "primary_key", "partition_key", "row_key", "id"];

/// Parses this crate's attributes on a field.
pub(crate) fn parse(ctxt: &Ctxt, field: &syn::Field, keyed: &Keyed<'_>) -> FieldAttrs {
    let mut own = Slot::empty("codec");
    let mut read = Read {
        name: Slot::empty("name"),
        flags: [JSON, ALSO, REST, CHUNKS].map(|word| (word, Slot::empty(word.0))),
    };
    let before = ctxt.count();
    for attr in &field.attrs {
        if let Some(word) = codec::word_of(attr) {
            let help = "a field has one codec; name another one in the key itself";
            if let Some(codec) = codec::parse_attribute(ctxt, attr, word) {
                own.set(ctxt, attr, (attr.clone(), codec), help);
            }
        } else if attr.path() == &PROPERTY {
            parse_property(ctxt, attr, field, &mut read, keyed);
        } else if !keyed.refuse_mark(ctxt, attr) {
            refuse_container_attribute(ctxt, attr, field.ident.as_ref(), keyed);
            foreign::refuse(ctxt, attr, field.ident.as_ref(), keyed);
        }
    }
    // A habit from another library is often several attributes on one field, such as `#[key] #[auto]`.
    ctxt.join_after(before, "T009");
    let Read { name, flags: [(_, json), (_, also), (_, rest), (_, chunks)] } = read;
    FieldAttrs {
        codec: own.take(),
        name: name.take(),
        json: json.take(),
        also: also.take(),
        rest: rest.take(),
        chunks: chunks.take(),
    }
}

fn parse_property(ctxt: &Ctxt, attr: &Attribute, field: &syn::Field, read: &mut Read, keyed: &Keyed<'_>) {
    let form = || {
        let is_named = matches!(attr.meta, Meta::NameValue(_));
        if is_named { "#[property(\"Name\")]".to_owned() } else { WORDS.form.to_owned() }
    };
    grammar::in_parentheses(ctxt, attr, form, |input| {
        grammar::list(ctxt, PROPERTY.0, WORDS.form, input, |input| {
            if input.peek(LitStr) {
                let text: LitStr = input.parse()?;
                read.name.set(ctxt, &text, text.clone(), "a property has one name");
                return Ok(());
            }
            of_another_library(input, field, keyed)?;
            let read = WORDS.word(input, |word, _| {
                if let Some((known, slot)) = read.flags.iter_mut().find(|(known, _)| word == known) {
                    slot.set(ctxt, word, word.clone(), format!("write `{known}` once"));
                }
                Ok(())
            });
            read.map_err(|error| syn::Error::new(error.span(), of_field(&error.to_string(), attr, field)))
        })
    });
}

/// Reports a word for an index, a key, or another stored form, in the terms of this field.
fn of_another_library(input: ParseStream, field: &syn::Field, keyed: &Keyed<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let (Ok(word), Some(ident), Some(owner)) = (ahead.call(Ident::parse_any), &field.ident, keyed.owner())
    else {
        return Ok(());
    };
    let text = word.to_string();
    if WORDS.known.iter().any(|(known, _)| text == known.0) {
        return Ok(());
    }
    let name = ident.unraw().to_string();
    let value = Setting { word: text.clone(), value: grammar::rest(&ahead).into_iter().skip(1).collect() };
    let help = if OF_INDEX.contains(&text.as_str()) {
        Proposed { unique: text == "unique", row: vec![name], ..Proposed::default() }.help(keyed)
    } else if OF_KEY.contains(&text.as_str()) {
        keyed
            .keys_of(&[name])
            .unwrap_or_else(|| format!("write `#[partition_key({ident})] #[row_key(\"\")]` above the struct"))
    } else if let Some(effect) = settings::effect_of(&text) {
        stored::help(effect, value.name(), field, owner)
    } else {
        return Ok(());
    };
    Err(ctxt::mistake("T001", &word, format!("unknown word `{word}` in `{PROPERTY}`"), help))
}

/// Replaces the sample name and type in a message with the field's name and type. If the attribute itself contains the sample name, the name is kept.
fn of_field(message: &str, attr: &Attribute, field: &syn::Field) -> String {
    const SAMPLE: &str = "\"Name\"";
    let mut message = foreign::for_field(message, field.ident.as_ref());
    let is_written = grammar::arguments(attr).to_string().contains(SAMPLE);
    if let Some(ident) = field.ident.as_ref().filter(|_| !is_written) {
        message = message.replace(SAMPLE, &format!("{:?}", pascal_case(&ident.unraw().to_string())));
    }
    let message = message.replace("Option<_>", &grammar::type_text(&stored::optional(&field.ty)));
    message.replace("`_`", &format!("`{}`", grammar::type_text(&field.ty)))
}

fn refuse_container_attribute(ctxt: &Ctxt, attr: &Attribute, field: Option<&Ident>, keyed: &Keyed<'_>) {
    let wrong = |word: Symbol| format!("`{word}` belongs on the struct");
    if attr.path() == &INDEX || attr.path() == &INDEX_ENTITY {
        let word = if attr.path() == &INDEX { INDEX } else { INDEX_ENTITY };
        let mut proposed = Proposed::of(grammar::arguments(attr), keyed);
        proposed.list = word == INDEX_ENTITY;
        if !proposed.has_fields() {
            proposed.row.extend(field.map(|field| field.unraw().to_string()));
        }
        ctxt.error("T003", attr, wrong(word), proposed.help(keyed));
    } else if attr.path() == &ENTITY {
        let text = grammar::source(&grammar::arguments(attr));
        let text = if text.is_empty() { "table = \"Company\"" } else { &text };
        ctxt.error(
            "T003",
            attr,
            wrong(ENTITY),
            format!("write `#[entity({text})]` above the struct: it describes the whole entity"),
        );
    }
}
