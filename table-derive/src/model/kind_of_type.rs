//! Declarations that cannot be entities because they are not structs with named fields.

use syn::ext::IdentExt;
use syn::{Attribute, Data, DataEnum, DataStruct, DeriveInput, Fields, FieldsNamed};

use crate::casing::snake_case;
use crate::ctxt::Ctxt;
use crate::grammar::{self, type_text};
use crate::runtime;
use crate::symbol::{ENTITY, PARTITION_KEY, ROW_KEY};

/// Returns the fields of a struct with named fields. Any other declaration is rejected, and no further errors are reported for it.
pub(super) fn named_fields<'a>(ctxt: &Ctxt, input: &'a DeriveInput) -> Option<&'a FieldsNamed> {
    let (wrong, help) = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => return Some(named),
            fields => ("an entity must be a struct with named fields", with_names(input, fields)),
        },
        Data::Enum(data) => ("an entity must be a struct", one_struct_each(input, data)),
        Data::Union(_) => {
            ("an entity must be a struct", "write one struct for each kind of entity".to_owned())
        }
    };
    ctxt.error("T010", &input.ident, wrong, help);
    None
}

/// Returns the named fields of a struct.
pub(crate) fn fields(input: &DeriveInput) -> Option<&FieldsNamed> {
    match &input.data {
        Data::Struct(DataStruct { fields: Fields::Named(named), .. }) => Some(named),
        _ => None,
    }
}

/// Returns the help text for a struct without field names: the struct with names and keys.
fn with_names(input: &DeriveInput, fields: &Fields) -> String {
    let types =
        fields.iter().enumerate().map(|(at, field)| (format!("field_{}", at + 1), type_text(&field.ty)));
    let mut fields: Vec<(String, String)> = types.collect();
    if fields.is_empty() {
        fields.push(("id".to_owned(), "String".to_owned()));
    }
    let row = fields.get(1).map_or_else(|| "\"\"".to_owned(), |(name, _)| name.clone());
    let partition = fields.first().map(|(name, _)| name.clone()).unwrap_or_default();
    let fields: Vec<String> = fields.into_iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    format!(
        "write `#[{PARTITION_KEY}({partition})] #[{ROW_KEY}({row})] struct {} {{ {} }}`, with names of your own: properties are named after the fields",
        input.ident,
        fields.join(", ")
    )
}

/// Returns the help text for an enum: one struct for each variant, with the keys of the enum, and an entity set of these structs.
fn one_struct_each(input: &DeriveInput, data: &DataEnum) -> String {
    let crate_name = runtime::name();
    let arguments = |attr: &Attribute| grammar::source(&grammar::arguments(attr));
    let of = |word| input.attrs.iter().find(|attr| attr.path() == &word).map(arguments);
    let (table, partition, row) = (of(ENTITY), of(PARTITION_KEY), of(ROW_KEY));
    let name = &input.ident;
    let structs = data.variants.iter().filter_map(|variant| {
        let names = variant.fields.iter().enumerate().map(|(at, field)| {
            let name = field.ident.as_ref().map_or_else(|| format!("field_{}", at + 1), ToString::to_string);
            (name, type_text(&field.ty))
        });
        let mut fields: Vec<(String, String)> = names.collect();
        if fields.is_empty() {
            fields.push(("id".to_owned(), "String".to_owned()));
        }
        let literal = format!("{}_", snake_case(&variant.ident.unraw().to_string()));
        let (first, second) = (fields.first()?.0.clone(), fields.get(1).map(|(name, _)| name.clone()));
        let of_entity = table.clone().unwrap_or_else(|| format!("table = \"{name}\""));
        let partition = partition.clone().unwrap_or(first);
        let row = match row.clone().or(second) {
            Some(row) => format!("{literal:?}, {row}"),
            None => format!("{:?}", literal.trim_end_matches('_')),
        };
        let fields: Vec<String> = fields.into_iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        Some(format!(
            "`#[derive(Entity)] #[entity({of_entity}, set = {name})] #[{PARTITION_KEY}({partition})] #[{ROW_KEY}({row})] struct {} {{ {} }}`",
            variant.ident,
            fields.join(", ")
        ))
    });
    let structs: Vec<String> = structs.collect();
    let structs = if structs.is_empty() { String::new() } else { format!(": {}", structs.join(", ")) };
    let variants: Vec<String> =
        data.variants.iter().map(|variant| format!("{0}({0}), ", variant.ident)).collect();
    let variants = variants.concat();
    format!(
        "write `#[derive({crate_name}::EntitySet)] enum {name} {{ {variants}#[other] Other({crate_name}::TableEntity) }}`, and one struct for each variant{structs}"
    )
}
