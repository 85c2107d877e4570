//! Generates the messages that show the columns and the key of a struct: for an argument of `filter` that is no condition, for an argument of `set` that is no
//! column, and for a comparison of a field of the key.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use crate::expand::columns::constant;
use crate::expand::key::Design;
use crate::expand::refused::{range, sample, sample_of};
use crate::expand::rows;

/// Generates one bound for each message. Generic entities have none, and show the messages of the library. rust-analyzer does not see the bounds.
pub(super) fn forms(design: &Design<'_>) -> Option<TokenStream> {
    if !design.entity.parameters.is_empty() {
        return None;
    }
    let (ty, ident) = (design.entity.ty(), design.ident().unraw());
    let columns = columns(design);
    let of_columns = columns.first().map(|(column, _, value)| {
        let all: Vec<String> = columns.iter().take(8).map(|(column, ..)| format!("`{ident}::{column}`")).collect();
        let all = format!("the columns are constants, the names of the fields in capitals: {}", all.join(", "));
        let of_set = format!("{all}; the key of an entity cannot change: insert it under the new key, and delete the old one");
        let compared = format!("write `{ident}::{column}.eq({value})`; or `ne`, `gt`, `ge`, `lt`, `le` for `!=`, `>`, `>=`, `<`, `<=`");
        let message = format!("[T096] `{{A}}` is not a condition on `{ident}`: a filter runs in the store, and compares its columns");
        let set = format!("write `set({ident}::{column}, {value})`");
        let set_message = format!("[T130] `{{A}}` is not a property of `{ident}` that a patch can set");
        let (conditions, settable) = (format_ident!("__ConditionsOf{ident}"), format_ident!("__ColumnsOf{ident}"));
        quote! {
            ShowsConditions #conditions: #message, #compared, #all;
            ShowsColumns #settable: #set_message, #set, #of_set;
        }
    });
    let of_key = format_ident!("__KeyOf{ident}");
    let message = format!(
        "[T097] a filter compares properties, and this is a field of the key of `{ident}`, which is no property"
    );
    let label = format!("select the entities by their key: `query({})`", selection(design));
    let note = "or store the field as a property too, `#[property(also)]` above it, which makes it a column of filters";
    let of_point = format_ident!("__PointOf{ident}");
    let keys = design.argument_fields(&[design.partition_key, design.row_key], true);
    let values: Vec<String> = keys.iter().map(sample).collect();
    let names: Vec<&str> = keys.iter().map(|field| field.names.name.as_str()).collect();
    let point_message = format!("[T084] `{{A}}` is not a complete key of `{ident}`");
    let point =
        format!("write `{ident}::key({})`, with the values of {}", values.join(", "), names.join(", "));
    let found: Vec<String> = names.iter().map(|name| format!("&entity.{name}")).collect();
    let point_note = format!(
        "the key of an `entity` is `{ident}::key({})`; part of a key selects many entities, which `query` reads",
        found.join(", ")
    );
    let key = format!("{ident}::key({})", values.join(", "));
    let rows = selection(design);
    let (change, compared) = match columns.first() {
        Some((_, name, value)) => (format!("|entity| entity.{name} = {value}"), value),
        None => ("|entity| drop(entity)".to_owned(), &String::new()),
    };
    let find = format!("write `get({key})`");
    let update = format!("write `update({key}, {change})`");
    let remove = format!("write `delete({key}, table_patterns::IfMatch::Any)`");
    let read_all = format!("write `query({rows}).collect()`");
    let compare = match columns.first() {
        Some((_, name, value)) if value == "1.5" => format!("|a, b| a.{name}.total_cmp(&b.{name})"),
        Some((_, name, _)) => format!("|a, b| a.{name}.cmp(&b.{name})"),
        None => "|a, b| a.cmp(b)".to_owned(),
    };
    let sort = format!(
        "read all entities, and sort them: `found.sort_by({compare})`; `found.into_iter().skip(10)` skips some"
    );
    let select = match columns.first() {
        Some((column, ..)) => {
            format!("write `query({rows}).filter({ident}::{column}.eq({compared})).collect()`")
        }
        None => read_all.clone(),
    };
    Some(quote! {
        #[cfg(not(rust_analyzer))]
        __table::refused_handle! { #ty: #find, #update, #remove, #read_all, #select, #sort }
        #[cfg(not(rust_analyzer))]
        __table::refused_forms! { #ty:
            #of_columns
            ShowsKey #of_key: #message, #label, #note;
            ShowsPoint #of_point: #point_message, #point, #point_note;
        }
    })
}

/// Returns the columns that a patch can set, each with a value of its type. Without such columns, returns those of the key.
fn columns(design: &Design<'_>) -> Vec<(String, String, String)> {
    let entity = design.entity;
    let fields = entity.fields.iter().enumerate();
    let stored = fields.filter(|(at, field)| {
        let is_column = field.property.as_ref().is_some_and(|property| !property.chunks);
        is_column && !entity.key_needs(*at) && entity.same_constant(*at).is_none()
    });
    stored
        .map(|(_, field)| {
            let value = sample_of(field.ty, field.ident);
            (constant(field).to_string(), field.ident.unraw().to_string(), value)
        })
        .collect()
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
