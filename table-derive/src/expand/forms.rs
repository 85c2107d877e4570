//! Generates the messages that show the columns, the key and the selections of a struct: for an argument that is no condition, no column or no key, for a
//! comparison of a field of the key, and for methods of other libraries.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use crate::expand::columns::constant;
use crate::expand::key::Design;
use crate::expand::refused::{Sample, range, sample};
use crate::expand::{prelude, rows};

/// A column of a struct, as it is shown in a message.
struct Shown {
    /// The constant, such as `TOTAL`.
    constant: String,
    /// The name of the field.
    field: String,
    value: Sample,
}

/// Generates the forms of the struct, from which the library declares one bound for each message. Generic entities have none, and show the messages of the
/// library. rust-analyzer does not see the bounds.
pub(super) fn forms(design: &Design<'_>) -> Option<TokenStream> {
    if !design.entity.parameters.is_empty() || !prelude::is_available() {
        return None;
    }
    let (ty, ident) = (design.entity.ty(), design.ident().unraw());
    let keys = design.argument_fields(&[design.partition_key, design.row_key], true);
    let values: Vec<String> = keys.iter().map(sample).collect();
    let names: Vec<&str> = keys.iter().map(|field| field.names.name.as_str()).collect();
    let (key, rows) = (format!("{ident}::key({})", values.join(", ")), selection(design));
    let found: Vec<String> = names.iter().map(|name| format!("&entity.{name}")).collect();
    let point = format!("write `{key}`, with the values of {}", names.join(", "));
    let of_entity = format!("the key of an `entity` is `{ident}::key({})`", found.join(", "));
    let find = format!("write `get({key})`");
    let remove = format!("write `delete({key}, table_patterns::IfMatch::Any)`");
    let read = format!("write `query({rows}).collect()`");
    let columns = columns(design);
    let none = format!("`{ident}` has no column: all of its fields are in the key");
    let without = || [none.clone(), none.clone(), none.clone(), read.clone(), none.clone()];
    let of_column = |column| of_column(&ident.to_string(), column, &key, &rows);
    let [compare, set, update, select, sort] = columns.first().map_or_else(without, of_column);
    let all: Vec<String> =
        columns.iter().take(8).map(|column| format!("`{ident}::{}`", column.constant)).collect();
    let all = format!("the columns are constants, the names of the fields in capitals: {}", all.join(", "));
    let by_key = format!("select the entities by their key: `query({rows})`");
    Some(quote! {
        #[cfg(not(rust_analyzer))]
        __table::refused_forms! {
            #ty: #compare, #set, #all, #by_key, #point, #of_entity, #find, #update, #remove, #read, #select, #sort
        }
    })
}

/// Returns the forms that name a column: a comparison, an argument of `set`, an update, a query with a filter, and a sort.
fn of_column(ident: &str, column: &Shown, key: &str, rows: &str) -> [String; 5] {
    let Shown { constant, field, value } = column;
    let Sample { value, given, assigned, compare } = value;
    [
        format!(
            "write `{ident}::{constant}.eq({value})`; or `ne`, `gt`, `ge`, `lt`, `le` for `!=`, `>`, `>=`, `<`, `<=`"
        ),
        format!("write `set({ident}::{constant}, {given})`"),
        format!("write `update({key}, |entity| entity.{field} = {assigned})`"),
        format!("write `query({rows}).filter({ident}::{constant}.eq({value})).collect()`"),
        format!("read all entities, and sort them: `found.sort_by(|a, b| a.{field}.{compare}(&b.{field}))`"),
    ]
}

/// Returns the columns that no key needs. Those whose type has a literal are first, because a message shows the first.
fn columns(design: &Design<'_>) -> Vec<Shown> {
    let entity = design.entity;
    let fields = entity.fields.iter().enumerate();
    let stored = fields.filter(|(at, field)| {
        let is_column = field.property.as_ref().is_some_and(|property| !property.chunks);
        is_column && !entity.key_needs(*at) && entity.same_constant(*at).is_none()
    });
    let shown = stored.map(|(_, field)| Shown {
        constant: constant(field).to_string(),
        field: field.ident.unraw().to_string(),
        value: Sample::new(field.ty, field.ident),
    });
    let mut columns: Vec<Shown> = shown.collect();
    columns.sort_by_key(|column| {
        column.value.value == column.field || column.value.value != column.value.assigned
    });
    columns
}

/// Returns the call that selects rows by the first part of the RowKey, or the partition if it has none.
fn selection(design: &Design<'_>) -> String {
    let ident = design.ident().unraw();
    let key = design.partition_key;
    let spread = design.is_spread();
    let fields = design.argument_fields(&[key], !spread);
    let values: Vec<String> = fields.iter().map(sample).collect();
    let values = values.join(", ");
    let first = rows::parts(design.row_key).next().and_then(|(_, part)| design.field(part));
    match first.filter(|_| !design.row_key.unread) {
        Some(first) => format!("{ident}::rows({values}).{}({})", first.names.name, range(&first)),
        None if spread => format!("{ident}::all_partitions({values})"),
        None => format!("{ident}::partition({values})"),
    }
}
