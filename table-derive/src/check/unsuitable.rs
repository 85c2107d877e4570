//! Types that cannot be part of a key, recognised by their tokens.

use std::fmt::Display;

use syn::{GenericArgument, PathArguments, PathSegment, Type, TypePath};

use crate::grammar::type_text as text;

/// A type that cannot be part of a key, with the error message and the suggested replacement.
pub(super) struct Wrong {
    pub(super) fact: &'static str,
    pub(super) help: String,
}

/// Returns `true` unless a type is known to have no key encoding.
pub(super) fn is_part(ty: &Type) -> bool {
    wrong(&"value", ty).is_none()
}

/// The type of an instant, with a path that needs no import.
const INSTANT: &str = "chrono::DateTime<chrono::Utc>";

/// Returns the error message and the help text for the named field if its type has no key encoding.
pub(super) fn wrong(name: &dyn Display, ty: &Type) -> Option<Wrong> {
    let instead = |fact, ty: &str, more: &str| Some(Wrong { fact, help: format!("write `{ty}`{more}") });
    match ty {
        Type::Reference(reference) => instead("an entity owns its key", &owned(&reference.elem), ""),
        Type::Tuple(tuple) if !tuple.elems.is_empty() => {
            let parts: Vec<_> =
                tuple.elems.iter().zip(1..).map(|(ty, at)| format!("{name}_{at}: {}", text(ty))).collect();
            let names: Vec<_> = (1..=parts.len()).map(|at| format!("{name}_{at}")).collect();
            let (parts, names) = (parts.join(", "), names.join(", \"_\", "));
            let help =
                format!("write a field for each value, `{parts}`, and name them in the key: `{names}`");
            Some(Wrong { fact: "a part is one value", help })
        }
        Type::Path(path) if is_known(path) => {
            let last = path.path.segments.last()?;
            let word = last.ident.to_string();
            match word.as_str() {
                "f32" | "f64" => {
                    instead("its encoding does not sort", "i64", ", in the smallest unit, such as cents")
                }
                "usize" => instead("its width differs between machines", "u64", ""),
                "isize" => instead("its width differs between machines", "i64", ""),
                "Option" => instead(
                    "a part is always present",
                    &text(argument(ty, "Option")?),
                    ", and an index for the entities that have the value: the key of an index may contain an `Option`",
                ),
                "NaiveDateTime" => {
                    instead("it is not an instant in UTC", INSTANT, "; `.and_utc()` converts a time in UTC")
                }
                "SystemTime" => instead("it is not an instant in UTC", INSTANT, "; `.into()` converts it"),
                "DateTime" if is_elsewhere(last) => {
                    instead("it is not an instant in UTC", INSTANT, "; `.to_utc()` converts it")
                }
                "Cow" | "Arc" | "Rc" | "Box" => instead("an entity owns its key", &owned(inner(last)?), ""),
                "Vec" if text(inner(last)?) == "u8" => {
                    instead("bytes are not a text", "String", ", such as the hexadecimal digits of the bytes")
                }
                "Vec" | "HashSet" | "BTreeSet" | "VecDeque" => instead(
                    "a part is one value",
                    &owned(inner(last)?),
                    ", with one entity for each value; or leave the field out of the key",
                ),
                "HashMap" | "BTreeMap" => instead(
                    "a part is one value",
                    "String",
                    ", with one entity for each name; or leave the field out of the key",
                ),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns `true` for a type without a path prefix, or with a path into the standard library or `chrono`. With any other path, a type of
/// the same name may be a different type, and only rustc can resolve it.
fn is_known(ty: &TypePath) -> bool {
    let segments = &ty.path.segments;
    let root = segments.first().map(|segment| segment.ident.to_string());
    ty.qself.is_none()
        && (segments.len() == 1 || matches!(root.as_deref(), Some("std" | "core" | "alloc" | "chrono")))
}

/// Returns `true` for a `DateTime` with a time zone other than UTC.
fn is_elsewhere(segment: &PathSegment) -> bool {
    let Some(Type::Path(zone)) = inner(segment) else { return false };
    zone.path.segments.last().is_some_and(|last| last.ident == "Local" || last.ident == "FixedOffset")
}

/// Returns the last type in the angle brackets of a path segment: `str` in `Cow<'static, str>`.
fn inner(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().rev().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns the type argument of a type with the given name: `T` in `Option<T>` if `name` is `Option`.
pub(super) fn argument<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    path.path.segments.last().filter(|last| last.ident == name).and_then(inner)
}

/// Returns the owned equivalent of the type behind a reference.
pub(crate) fn owned(ty: &Type) -> String {
    match text(ty).as_str() {
        "str" => "String".to_owned(),
        "[u8]" => "Vec<u8>".to_owned(),
        text => text.to_owned(),
    }
}
