//! Field attributes: `#[digits(6)]`, `#[escaped]`, `#[without('_')]`, `#[property("Name", json)]`.

use syn::ext::IdentExt;
use syn::{Attribute, Ident, LitStr, Meta, Type, parse_quote};

use crate::attr::foreign::Keyed;
use crate::attr::{Slot, foreign};
use crate::casing::pascal_case;
use crate::codec::{self, Codec};
use crate::ctxt::Ctxt;
use crate::grammar::{self, Words};
use crate::symbol::{
    ALSO, CHUNKS, ENTITY, INDEX, INDEX_ENTITY, JSON, PARTITION_KEY, PROPERTY, REST, ROW_KEY, Symbol,
};

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
        ("rename", "write `#[property(\"Name\")]`"),
        ("column", "write `#[property(\"Name\")]`"),
        ("serde", "write `json`"),
        ("with", "write `json`"),
        (
            "skip",
            "move `{cache}` to another struct, because an entity stores all of its fields; to read only some of them, use `#[derive(Projection)]`",
        ),
        (
            "ignore",
            "move `{cache}` to another struct, because an entity stores all of its fields; to read only some of them, use `#[derive(Projection)]`",
        ),
        ("skip_serializing_if", "remove it: a `None` is not stored"),
        (
            "nullable",
            "remove it, and declare the field as `{name}: Option<_>`: a property that may be absent has this type",
        ),
        (
            "default",
            "remove it, and declare the field as `{name}: Option<_>`, which is `None` if the property is absent",
        ),
        (
            "optional",
            "remove it, and declare the field as `{name}: Option<_>`: a property that may be absent has this type",
        ),
        (
            "key",
            "declare keys above the struct: `#[partition_key(department)]` and `#[row_key(\"empid_\", id)]`",
        ),
        ("type", "a property has the type of its field: `i32`, `String`, `DateTime<Utc>`"),
        ("unique", "write `#[index(By{Email}, unique, row_key(\"{email}_\", {email}))]` above the struct"),
        ("index", "write `#[index(By{Email}, unique, row_key(\"{email}_\", {email}))]` above the struct"),
        (
            "flatten",
            "a `BTreeMap<String, Value>` collects all properties that no other field has: `#[property(rest)]`",
        ),
        ("alias", "a property has one name: write `#[property(\"Name\")]`"),
        ("max_length", "remove it: the program checks the length of a text before it writes it"),
        ("min_length", "remove it: the program checks the length of a text before it writes it"),
        ("precision", "remove it: a property has the precision of its type"),
        ("column_type", "a property has the type of its field: `i32`, `String`, `DateTime<Utc>`"),
        ("timestamp", "remove it: reads return the Timestamp with the version, `Versioned::timestamp`"),
        ("required", "a field whose type is not an `Option` is required; remove this"),
    ],
};

/// Parses this crate's attributes on a field.
pub(crate) fn parse(ctxt: &Ctxt, field: &syn::Field, keyed: &Keyed<'_>) -> FieldAttrs {
    let mut own = Slot::empty("codec");
    let mut read = Read {
        name: Slot::empty("name"),
        flags: [JSON, ALSO, REST, CHUNKS].map(|word| (word, Slot::empty(word.0))),
    };
    for attr in &field.attrs {
        if let Some(word) = codec::word_of(attr) {
            let help = "a field has one codec; name another one in the key itself";
            if let Some(codec) = codec::parse_attribute(ctxt, attr, word) {
                own.set(ctxt, attr, (attr.clone(), codec), help);
            }
        } else if attr.path() == &PROPERTY {
            parse_property(ctxt, attr, field, &mut read);
        } else {
            refuse_container_attribute(ctxt, attr, field.ident.as_ref());
            foreign::refuse(ctxt, attr, field.ident.as_ref(), keyed);
        }
    }
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

fn parse_property(ctxt: &Ctxt, attr: &Attribute, field: &syn::Field, read: &mut Read) {
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

/// Replaces the sample name and type in a message with the field's name and type. If the attribute itself contains the sample name, the name is kept.
fn of_field(message: &str, attr: &Attribute, field: &syn::Field) -> String {
    const SAMPLE: &str = "\"Name\"";
    let mut message = foreign::for_field(message, field.ident.as_ref());
    let is_written = grammar::arguments(attr).to_string().contains(SAMPLE);
    if let Some(ident) = field.ident.as_ref().filter(|_| !is_written) {
        message = message.replace(SAMPLE, &format!("{:?}", pascal_case(&ident.unraw().to_string())));
    }
    message.replace("Option<_>", &grammar::type_text(&optional(&field.ty)))
}

/// Wraps the type in an `Option`, unless it already is one.
fn optional(ty: &Type) -> Type {
    let is_option = matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"));
    if is_option { ty.clone() } else { parse_quote!(Option<#ty>) }
}

fn refuse_container_attribute(ctxt: &Ctxt, attr: &Attribute, field: Option<&Ident>) {
    let keys = "a key lists its pieces in order";
    let index = "an index has a name and a key, which lists its pieces in order; its rows are in the partition of the entity, whose own RowKey needs \
                 another literal";
    let words = [
        (PARTITION_KEY, "partition_key({department})", keys),
        (ROW_KEY, "row_key({id})", keys),
        (INDEX, "index(By{Email}, unique, row_key(\"{email}_\", {email}))", index),
        (INDEX_ENTITY, "index_entity(By{Email}, at_most = 100, row_key(\"{email}_\", {email}))", index),
        (ENTITY, "entity(table = \"Company\")", "it describes the whole entity"),
    ];
    for (word, form, reason) in words.iter().filter(|(word, ..)| attr.path() == word) {
        let form = foreign::for_field(form, field);
        let help = format!("write `#[{form}]` above the struct: {reason}");
        ctxt.error("T003", attr, format!("`{word}` belongs on the struct"), help);
    }
}
