//! Generates methods of row selections that cannot be called: a part of the key that follows another part. A call is a compile error that shows the right order
//! with the names of the struct.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{GenericArgument, Ident, PathArguments, Type};

use crate::casing::pascal_case;
use crate::expand::key::{self, Design, KeyField};
use crate::expand::prelude;
use crate::model::key::{Part, Piece};

/// Generates the refused methods of the rows of a key, with one bound for each part. Generic entities have none, because the bound would need the parameters.
/// rust-analyzer does not see them: it proposes hidden methods in the crate that declares them.
pub(super) fn parts(design: &Design<'_>) -> TokenStream {
    if design.stub || !design.entity.parameters.is_empty() || !prelude::is_available() {
        return TokenStream::new();
    }
    let parts: Vec<(usize, &Part)> = key::parts(design.row_key).collect();
    let fields: Vec<KeyField<'_>> = parts.iter().filter_map(|(_, part)| design.field(part)).collect();
    if fields.len() != parts.len() || fields.len() < 2 {
        return TokenStream::new();
    }
    let (_, rows) = design.rows_names();
    let of_later = fields.iter().enumerate().skip(1).map(|(later, field)| {
        let (message, label, note) = follows(design, &fields, &parts, later);
        let stubs: Vec<Ident> = methods(field).into_iter().map(|name| format_ident!("r#{name}")).collect();
        let bound = format_ident!("__Follows{later}{rows}");
        let stages = (0..later).map(|stage| stage_type(&rows, stage));
        let note = note.iter();
        quote!(#bound [#(#stages),*] [#(#stubs)*]: #label, #message #(, #note)*;)
    });
    quote! {
        #[cfg(not(rust_analyzer))]
        __table::refused_parts! { #(#of_later)* }
    }
}

/// Returns the type of the rows at a stage.
fn stage_type(rows: &Ident, stage: usize) -> TokenStream {
    if stage == 0 { quote!(#rows) } else { quote!(#rows<#stage>) }
}

/// Returns the names of the generated methods of a part.
fn methods(field: &KeyField<'_>) -> Vec<String> {
    let name = &field.names.name;
    let mut methods = vec![name.clone(), format!("{name}_is")];
    methods.extend(field.may_be_text.then(|| format!("{name}_prefix")));
    methods
}

/// Returns the message, the help and the note of a part that is named before an earlier part.
fn follows(
    design: &Design<'_>,
    fields: &[KeyField<'_>],
    parts: &[(usize, &Part)],
    later: usize,
) -> (String, String, Option<String>) {
    let Some(field) = fields.get(later) else { return Default::default() };
    let (name, ident) = (&field.names.name, design.ident().unraw());
    let before: Vec<&KeyField<'_>> = fields.iter().take(later).collect();
    let names: Vec<String> = before.iter().map(|field| format!("`{}`", field.names.name)).collect();
    let message = format!("[T268] `{name}` follows {} in the RowKey of `{ident}`", names.join(" and "));
    let pinned: Vec<String> =
        before.iter().map(|field| format!("{}_is({})", field.names.name, sample(field))).collect();
    let label = format!("write `{}.{name}({})`", pinned.join("."), range(field));
    let note = index(design, parts, later).map(|index| {
        format!("to select by `{name}` alone, declare `{index}` above the struct, and write `{ident}::by_{name}_rows(…)`")
    });
    (message, label, note)
}

/// Returns the declaration of an index that begins with a later part of the key. Returns `None` for an index, and if a text would need a separator.
fn index(design: &Design<'_>, parts: &[(usize, &Part)], later: usize) -> Option<String> {
    let (_, first) = parts.get(later)?;
    let others = parts.iter().enumerate().filter(|(at, _)| *at != later).map(|(_, (_, part))| part);
    let sorted: Vec<&Part> = std::iter::once(first).chain(others).copied().collect();
    let is_fixed = |part: &&Part| part.codec.word().is_some_and(|word| word.name == "digits");
    if design.index.is_some() || !sorted.iter().all(is_fixed) {
        return None;
    }
    let name = first.name.unraw().to_string();
    let forms: Vec<String> = sorted.iter().map(|part| form(design, part)).collect();
    Some(format!("#[index(By{}, row_key(\"{name}_\", {}))]", pascal_case(&name), forms.join(", \"_\", ")))
}

/// Returns the name of the bound on a range of an `unpadded` number, and its declaration. No range satisfies it.
pub(super) fn unpadded(
    design: &Design<'_>,
    field: &KeyField<'_>,
    part: &Part,
) -> Option<(Ident, TokenStream)> {
    if design.stub || !is_unpadded(part) || !prelude::is_available() {
        return None;
    }
    let (name, (_, rows)) = (&field.names.name, design.rows_names());
    let bound = format_ident!("__Unpadded{}{rows}", part.field);
    let message = format!(
        "[T082] `unpadded` writes `{name}` without leading zeros, so the keys do not sort like the numbers"
    );
    let label = format!(
        "write `{}`, whose keys sort like the numbers; or select one value, `{name}_is({})`",
        padded(design, part),
        sample(field)
    );
    let note = "another width is another key: the stored rows are written again under it";
    let items = quote! {
        __table::refused_ranges! { #bound: #message, #label, #note }
    };
    Some((bound, items))
}

/// Returns the attribute of the key, with `digits` in place of `unpadded` for a part.
fn padded(design: &Design<'_>, part: &Part) -> String {
    let digits = match design.field(part).map(|field| type_name(&field)).as_deref() {
        Some("u8") => 3,
        Some("u16") => 5,
        Some("u32") => 10,
        _ => 20,
    };
    let pieces = design.row_key.pieces.iter().map(|piece| match piece {
        Piece::Literal(text) => format!("{:?}", text.value()),
        Piece::Part(other) if other.field == part.field => format!("digits({digits}, {})", part.name.unraw()),
        Piece::Part(other) => form(design, other),
    });
    let pieces: Vec<String> = pieces.collect();
    format!("#[row_key({})]", pieces.join(", "))
}

/// Returns a part of a key as written in an attribute. The number of `digits` is that of the codec's type.
fn form(design: &Design<'_>, part: &Part) -> String {
    let name = part.name.unraw().to_string();
    let form = part.codec.form(&name);
    let is_digits = part.codec.word().is_some_and(|word| word.name == "digits");
    let codec = design.field(part).filter(|_| is_digits).map(|field| field.names.codec.to_string());
    let number = codec.as_deref().and_then(|codec| codec.split(['<', ',', '>']).nth(1));
    match number.map(str::trim).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(number) => format!("digits({number}, {name})"),
        None => form,
    }
}

fn is_unpadded(part: &Part) -> bool {
    part.codec.word().is_some_and(|word| word.name == "unpadded")
}

/// Returns a value of the field's type, or the name of the field if no literal has the type.
pub(super) fn sample(field: &KeyField<'_>) -> String {
    sample_of(field.field.ty, field.field.ident)
}

/// Returns a value of a type, or the name of its field if no literal has the type.
pub(super) fn sample_of(ty: &Type, field: &Ident) -> String {
    match last_segment(ty).as_str() {
        "String" => "\"a\"".to_owned(),
        "bool" => "true".to_owned(),
        "f64" | "f32" => "1.5".to_owned(),
        name if is_integer(name) => "1".to_owned(),
        _ => field.unraw().to_string(),
    }
}

/// Returns a range of values of the field's type.
pub(super) fn range(field: &KeyField<'_>) -> String {
    match type_name(field).as_str() {
        "String" => "\"a\"..\"b\"".to_owned(),
        name if is_integer(name) => "1..=9".to_owned(),
        _ => "first..=last".to_owned(),
    }
}

fn is_integer(name: &str) -> bool {
    let digits = name.strip_prefix(['u', 'i']).unwrap_or_default();
    ["8", "16", "32", "64", "128"].contains(&digits)
}

/// Returns the last segment of the field's type, or of the type inside its `Option`.
fn type_name(field: &KeyField<'_>) -> String {
    last_segment(field.field.ty)
}

/// Returns the last segment of a type's path, or of the type inside an `Option`.
fn last_segment(ty: &Type) -> String {
    let Type::Path(path) = ty else { return String::new() };
    let Some(segment) = path.path.segments.last() else { return String::new() };
    if segment.ident == "Option"
        && let PathArguments::AngleBracketed(arguments) = &segment.arguments
        && let Some(GenericArgument::Type(inner)) = arguments.args.first()
    {
        return last_segment(inner);
    }
    segment.ident.to_string()
}
