//! User-defined key types: newtypes and fieldless enums.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Fields, Ident, Member, Path, Type, Variant};

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
        let attrs = key_part::parse(ctxt, input);
        if !input.generics.params.is_empty() {
            shape::no_parameters(ctxt, input, "a key type", &concrete(input))?;
        }
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

/// Returns the help text for a generic type: the newtype without its parameters and its `PhantomData`.
fn concrete(input: &DeriveInput) -> String {
    let ident = &input.ident;
    let inner = match &input.data {
        Data::Struct(data) => data
            .fields
            .iter()
            .map(|field| grammar::type_text(&field.ty))
            .find(|ty| !ty.contains("PhantomData")),
        Data::Enum(_) | Data::Union(_) => None,
    };
    let is_parameter = |ty: &String| input.generics.type_params().any(|parameter| parameter.ident == ty);
    let inner = inner.filter(|ty| !is_parameter(ty)).unwrap_or_else(|| "String".to_owned());
    format!(
        "write `struct {ident}({inner});`: the layout of a key is fixed, so each type of value has a type of its own"
    )
}

fn newtype<'a>(ctxt: &Ctxt, input: &DeriveInput, data: &'a DataStruct, attrs: &TypeAttrs) -> Kind<'a> {
    let mut members = data.fields.members().zip(&data.fields);
    let (Some((member, field)), None) = (members.next(), members.next()) else {
        let names = data.fields.iter().enumerate().map(|(at, field)| {
            let unnamed = || format!("{}_{}", casing::snake_case(&input.ident.unraw().to_string()), at + 1);
            field.ident.as_ref().map_or_else(unnamed, |name| name.unraw().to_string())
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
            format!("a key part is one value: write `struct {}(u32);`", input.ident)
        };
        ctxt.error("T034", &input.ident, "a struct in a key must have one field", help);
        return Kind::Enum(Vec::new());
    };
    for attr in &field.attrs {
        let form = grammar::source(&attr.to_token_stream());
        key_part::refuse_codec(ctxt, attr, || {
            format!("write `{form}` above `struct {}`: it describes the value inside", input.ident)
        });
    }
    let codec = attrs.codec.as_ref().map_or(Codec::Natural, |(_, codec)| codec.clone());
    Kind::Newtype { member, ty: ungrouped(&field.ty), codec }
}

fn variants<'a>(ctxt: &Ctxt, input: &DeriveInput, data: &'a DataEnum, attrs: &TypeAttrs) -> Option<Kind<'a>> {
    if let Some((attr, _)) = &attrs.codec {
        ctxt.error("T034", attr, "an enum is written as the name of its variant", key_part::numbered(data));
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
    with_fields(ctxt, input, data);
    let mut names = Vec::<(&Ident, String)>::new();
    for variant in &data.variants {
        let given = key_part::parse_variant(ctxt, variant);
        let name = given.as_ref().map_or_else(|| variant.ident.unraw().to_string(), syn::LitStr::value);
        if let Some(text) = &given
            && let Some(character) = illegal(&text.value())
        {
            let wrong = format!("a key cannot contain {character:?} (KEY-3)");
            let right =
                text.value().replace(|character: char| illegal(&character.to_string()).is_some(), "_");
            ctxt.error("T024", text, wrong, format!("write `#[key_part({right:?})]`"));
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
                format!("give one of them another name: `#[key_part({:?})]`", format!("{name}2")),
            );
        }
        names.push((&variant.ident, name));
    }
    too_long(ctxt, &names);
    renamed_elsewhere(ctxt, input, data);
    Some(Kind::Enum(names))
}

/// Reports the variants with fields as one error, and shows the enum without them and the fields of the entity.
fn with_fields(ctxt: &Ctxt, input: &DeriveInput, data: &DataEnum) {
    let are_wrong = |variant: &&Variant| !matches!(variant.fields, Fields::Unit);
    let wrong: Vec<_> = data.variants.iter().filter(are_wrong).collect();
    let Some(first) = wrong.first() else { return };
    let names: Vec<String> = wrong.iter().map(|variant| format!("`{}`", variant.ident)).collect();
    let variants = if wrong.len() == 1 { "variant" } else { "variants" };
    let all: Vec<String> = data.variants.iter().map(|variant| variant.ident.to_string()).collect();
    let of_enum = casing::snake_case(&input.ident.unraw().to_string());
    let mut fields: Vec<(String, String)> = Vec::new();
    for field in wrong.iter().flat_map(|variant| &variant.fields) {
        let inner = field.ident.as_ref().map_or("value".to_owned(), |ident| ident.unraw().to_string());
        let (name, ty) = (format!("{of_enum}_{inner}"), grammar::type_text(&field.ty));
        if fields.iter().all(|(earlier, _)| *earlier != name) {
            fields.push((name, ty));
        }
    }
    let declared: Vec<String> = fields.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let pieces: Vec<String> = fields.into_iter().map(|(name, _)| name).collect();
    let wrong = format!("the {variants} {} of a key enum cannot have fields", names.join(", "));
    let help = format!(
        "write `enum {} {{ {} }}`, and declare `{}` in the entity after `{of_enum}: {}`, which its key names after the enum: `{of_enum}, \"_\", {}`",
        input.ident,
        all.join(", "),
        declared.join(", "),
        input.ident,
        pieces.join(", \"_\", ")
    );
    ctxt.error("T034", &first.ident, wrong, help);
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

/// The settings of other libraries that rename all variants, or one variant.
const RENAMING: [(&str, &str, &str); 5] = [
    ("serde", "rename_all", "rename"),
    ("strum", "serialize_all", "serialize"),
    ("sqlx", "rename_all", "rename"),
    ("sea_orm", "rename_all", "string_value"),
    ("diesel", "rename_all", "rename"),
];

/// Reports variants that another library renames, although keys contain their original names. `#[key_part("…")]` sets the name in keys explicitly.
fn renamed_elsewhere(ctxt: &Ctxt, input: &DeriveInput, data: &DataEnum) {
    for (library, of_all, of_one) in RENAMING {
        let all = settings::find(&input.attrs, library, of_all);
        let rule = all.as_ref().and_then(|(_, setting)| setting.text());
        let own = |variant: &Variant| {
            settings::find(&variant.attrs, library, of_one).map(|(_, setting)| setting.text())
        };
        let name = |variant: &Variant| {
            let is_named = variant.attrs.iter().any(|attr| attr.path() == &KEY_PART);
            let ident = variant.ident.unraw().to_string();
            let by_rule = || casing::renamed_by_serde(rule.as_ref()?, &ident);
            own(variant).unwrap_or_else(by_rule).filter(|name| !is_named && *name != ident)
        };
        let Some(first) = data.variants.iter().find(|variant| name(variant).is_some()) else { continue };
        let (word, attribute) = match (settings::find(&first.attrs, library, of_one), &all) {
            (Some((attribute, _)), _) => (of_one, attribute),
            (None, Some((attribute, _))) => (of_all, *attribute),
            (None, None) => continue,
        };
        let idents = data.variants.iter().filter(|variant| name(variant).is_some());
        let idents: Vec<String> = idents.map(|variant| format!("`{}`", variant.ident)).collect();
        let be = if idents.len() == 1 { "is" } else { "are" };
        let wrong =
            format!("`{library}({word})` does not change how {} {be} written in keys", idents.join(", "));
        let kept = data.variants.iter().filter(|variant| name(variant).is_some());
        let kept = key_part::attributes(kept.map(|variant| (variant, variant.ident.unraw().to_string())));
        let help = format!(
            "write {kept} to keep the names in stored keys; for the names of `{library}` write {}",
            key_part::named(data, name)
        );
        ctxt.error("T015", attribute, wrong, help);
    }
}
