//! Help texts for fields that other libraries would skip, flatten, convert or set to a default.

use syn::ext::IdentExt;
use syn::{Field, GenericArgument, Ident, PathArguments, Type, parse_quote};

use crate::attr::settings::Effect;
use crate::casing::{pascal_case, snake_case};
use crate::grammar::type_text;
use crate::runtime;

/// Types that are stored as a property, or in a key, without a conversion.
const STORED: [&str; 9] =
    ["String", "DateTime", "NaiveDate", "NaiveTime", "Uuid", "Duration", "TimeDelta", "Decimal", "bool"];
const MAPS: [&str; 3] = ["HashMap", "BTreeMap", "Map"];

/// Returns the declaration of a field that has the effect of another library's setting. `owner` is the struct.
pub(crate) fn help(effect: Effect, name: Option<String>, field: &Field, owner: &Ident) -> String {
    let Some(ident) = field.ident.as_ref().map(IdentExt::unraw) else { return String::new() };
    let ty = type_text(&field.ty);
    match effect {
        Effect::Skips => {
            let (owner, of_owner) = (owner.unraw(), snake_case(&owner.unraw().to_string()));
            let of_owner = if ident == of_owner.as_str() { "entity".to_owned() } else { of_owner };
            format!(
                "move `{ident}` to a struct of the program, `struct {owner}State {{ {of_owner}: {owner}, {ident}: {ty} }}`, because an entity stores all of \
                 its fields; to read only some of them, use `#[derive(Projection)]`"
            )
        }
        Effect::Flattens if is_any_of(&field.ty, &MAPS) => format!(
            "write `#[property(rest)] {ident}: std::collections::BTreeMap<String, {}::Value>`, which collects all properties that no other field has; or \
             `#[property(json)]` above `{ident}`, which stores the map as JSON in one property",
            runtime::name()
        ),
        Effect::Flattens if is_any_of(&field.ty, &STORED) => {
            format!("remove it: a `{ty}` is one property")
        }
        Effect::Flattens if is_any_of(inner(&field.ty), &STORED) => {
            format!("write `#[property(json)]` above `{ident}`, which stores it as JSON")
        }
        Effect::Flattens => {
            let ty = type_text(inner(&field.ty));
            format!(
                "write `#[property(json)]` above `{ident}`, and `#[derive(serde::Serialize, serde::Deserialize)]` above `{ty}`, which is then stored as JSON; \
                 or declare the fields of `{ty}` here"
            )
        }
        Effect::Converts if is_any_of(&field.ty, &STORED) => {
            format!("remove it: a `{ty}` is a property without a conversion")
        }
        Effect::Converts => format!("write `#[property(json)]` above `{ident}`, which stores it as JSON"),
        Effect::Defaults => format!(
            "remove it, and declare `{ident}: {}`, which is `None` if the property is absent",
            type_text(&optional(&field.ty))
        ),
        Effect::Renames => {
            let name = name.map(|name| name.replace(|it: char| !it.is_alphanumeric(), "_"));
            let name = name.unwrap_or_else(|| pascal_case(&ident.to_string()));
            format!("write `#[property({name:?})]` above `{ident}`: a property has one name")
        }
    }
}

/// Returns the type of the values in an `Option`, a `Box` or a `Vec`, and any other type itself.
fn inner(ty: &Type) -> &Type {
    let Type::Path(path) = ty else { return ty };
    let arguments = path
        .path
        .segments
        .last()
        .filter(|_| is_any_of(ty, &["Option", "Box", "Vec"]))
        .map(|last| &last.arguments);
    match arguments {
        Some(PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
            Some(GenericArgument::Type(ty)) => inner(ty),
            _ => ty,
        },
        _ => ty,
    }
}

/// Returns `true` if a type has one of these names.
pub(crate) fn is_any_of(ty: &Type, names: &[&str]) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}

/// Wraps the type in an `Option`, unless it already is one.
pub(crate) fn optional(ty: &Type) -> Type {
    if is_any_of(ty, &["Option"]) { ty.clone() } else { parse_quote!(Option<#ty>) }
}
