//! User-defined key types: newtypes and fieldless enums.

use syn::ext::IdentExt;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Fields, Ident, Member, Path, Type};

use crate::attr::key_part::{self, TypeAttrs};
use crate::attr::settings;
use crate::casing;
use crate::codec::Codec;
use crate::ctxt::Ctxt;
use crate::grammar;
use crate::model::key::{illegal, is_reserved};
use crate::model::{shape, ungrouped};
use crate::symbol::KEY_PART;

/// A user-defined key type.
pub(crate) struct KeyPart<'a> {
    /// The type as declared.
    pub(crate) original: &'a DeriveInput,
    /// The path of the runtime crate.
    pub(crate) runtime: Path,
    /// The kind of key type: a newtype or an enum.
    pub(crate) kind: Kind<'a>,
}

/// The two kinds of key types.
pub(crate) enum Kind<'a> {
    /// A struct with one field, encoded like the field.
    Newtype {
        /// The field: `0` or its name.
        member: Member,
        /// The type of the field.
        ty: &'a Type,
        /// The codec of the field. The newtype is encoded with it.
        codec: Codec,
    },
    /// An enum, encoded as the name of its variant.
    Enum(Vec<(&'a Ident, String)>),
}

impl<'a> KeyPart<'a> {
    /// Reads a declaration. Reports an error and returns `None` if it is neither a newtype nor an enum.
    pub(crate) fn read(ctxt: &Ctxt, input: &'a DeriveInput, runtime: impl FnOnce() -> Path) -> Option<Self> {
        let attrs = key_part::parse(ctxt, &input.attrs);
        let help = "write one type for each use; the layout of a key is fixed";
        shape::no_parameters(ctxt, input, "a key type", help)?;
        let kind = match &input.data {
            Data::Struct(data) => Some(newtype(ctxt, input, data, &attrs)),
            Data::Enum(data) => variants(ctxt, input, data, &attrs),
            Data::Union(_) => {
                ctxt.error(
                    "T034",
                    &input.ident,
                    "a union cannot be part of a key",
                    "write a struct of one field, or an enum",
                );
                None
            }
        }?;
        Some(Self { original: input, runtime: attrs.runtime.unwrap_or_else(runtime), kind })
    }
}

fn newtype<'a>(ctxt: &Ctxt, input: &DeriveInput, data: &'a DataStruct, attrs: &TypeAttrs) -> Kind<'a> {
    let mut members = data.fields.members().zip(&data.fields);
    let (Some((member, field)), None) = (members.next(), members.next()) else {
        let names = data.fields.iter().enumerate().map(|(at, field)| {
            field.ident.as_ref().map_or_else(|| format!("part_{}", at + 1), |name| name.unraw().to_string())
        });
        let names: Vec<String> = names.collect();
        let help = if names.len() > 1 {
            let types = data.fields.iter().map(|field| grammar::type_text(&field.ty));
            let fields: Vec<_> = names.iter().zip(types).map(|(name, ty)| format!("{name}: {ty}")).collect();
            format!(
                "declare the fields in the entity, `{}`, and list them in its key: `#[row_key({})]`",
                fields.join(", "),
                names.join(", \"_\", ")
            )
        } else {
            "a key part is one value: `struct EmployeeId(u32);`".to_owned()
        };
        ctxt.error("T034", &input.ident, "a struct in a key must have one field", help);
        return Kind::Enum(Vec::new());
    };
    for attr in &field.attrs {
        let help = "write it above the type; it describes the value inside";
        key_part::refuse_codec(ctxt, attr, help);
    }
    let codec = attrs.codec.as_ref().map_or(Codec::Natural, |(_, codec)| codec.clone());
    Kind::Newtype { member, ty: ungrouped(&field.ty), codec }
}

fn variants<'a>(ctxt: &Ctxt, input: &DeriveInput, data: &'a DataEnum, attrs: &TypeAttrs) -> Option<Kind<'a>> {
    if let Some((attr, _)) = &attrs.codec {
        ctxt.error(
            "T034",
            attr,
            "an enum is written as the name of its variant",
            "remove this; only a newtype can have a codec",
        );
    }
    if data.variants.is_empty() {
        ctxt.error(
            "T034",
            &input.ident,
            "an enum in a key must have variants",
            "add a variant; a key contains the name of one",
        );
        return None;
    }
    let mut names = Vec::<(&Ident, String)>::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            let help = "put the fields into the entity and name them in the key";
            ctxt.error("T034", &variant.ident, "a variant in a key cannot have fields", help);
        }
        let given = key_part::parse_variant(ctxt, &variant.attrs);
        let name = given.as_ref().map_or_else(|| variant.ident.unraw().to_string(), syn::LitStr::value);
        if let Some(text) = &given
            && let Some(character) = illegal(&text.value())
        {
            let wrong = format!("a key cannot contain {character:?} (KEY-3)");
            ctxt.error("T024", text, wrong, "give the variant a name without it: `#[key_part(\"name\")]`");
        }
        if let Some(text) = &given
            && is_reserved(&text.value())
        {
            let wrong = "U+FFFC begins the keys of rows that are reserved for patterns (PAT-EC-8)";
            ctxt.error("T024", text, wrong, "begin the name with another character: `#[key_part(\"name\")]`");
        }
        if let Some((earlier, _)) = names.iter().find(|(_, earlier)| *earlier == name) {
            let wrong = format!("`{earlier}` and `{}` are both written as `{name}`", variant.ident);
            ctxt.error(
                "T035",
                &variant.ident,
                wrong,
                "give one of them another name: `#[key_part(\"name\")]`",
            );
        }
        names.push((&variant.ident, name));
    }
    too_long(ctxt, &names);
    renamed_by_serde(ctxt, input, data);
    Some(Kind::Enum(names))
}

/// Reports the variant whose name makes the combined names longer than a codec name may be. The runtime defines the same limit.
fn too_long(ctxt: &Ctxt, names: &[(&Ident, String)]) {
    let mut length = 0;
    let first = names.iter().find(|(_, name)| {
        length += name.len() + 1;
        length > MOST_NAMES + 1
    });
    if let Some((ident, _)) = first {
        let wrong = format!(
            "the names of the variants up to `{ident}` have more than {MOST_NAMES} bytes, with one byte between two names"
        );
        let help = "give the variants shorter names in keys: `#[key_part(\"name\")]`";
        ctxt.error("T034", ident, wrong, help);
    }
}

/// The maximum combined length of all variant names, in bytes, including one byte between two names.
const MOST_NAMES: usize = 4_088;

/// Reports variants that serde renames, although keys contain their original names. `#[key_part("…")]` sets the name in keys explicitly.
fn renamed_by_serde(ctxt: &Ctxt, input: &DeriveInput, data: &DataEnum) {
    let all = settings::find(&input.attrs, "serde", "rename_all");
    let rule = all.as_ref().and_then(|(_, setting)| setting.text());
    let mut is_reported = false;
    for variant in &data.variants {
        if variant.attrs.iter().any(|attr| attr.path() == &KEY_PART) {
            continue;
        }
        let name = variant.ident.unraw().to_string();
        let own = settings::find(&variant.attrs, "serde", "rename");
        let (attribute, word, text) = if let Some((attribute, setting)) = &own {
            (*attribute, "rename", setting.text())
        } else if let (Some((attribute, _)), Some(rule), false) = (&all, &rule, is_reported) {
            (*attribute, "rename_all", casing::renamed_by_serde(rule, &name))
        } else {
            continue;
        };
        let Some(text) = text.filter(|text| *text != name) else { continue };
        is_reported |= own.is_none();
        let (every, stay) =
            if own.is_none() { (", and likewise for each variant", "them") } else { ("", "it") };
        let wrong = format!("`serde({word})` does not change how `{name}` is written in keys");
        let help = format!(
            "write `#[key_part({text:?})]` above `{name}`{every}; to keep {stay}, write `#[key_part({name:?})]`"
        );
        ctxt.error("T015", attribute, wrong, help);
    }
}
