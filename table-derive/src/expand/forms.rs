//! Generates the messages that show the columns, the key and the selections of a struct: for an argument that is not a condition or a key, and for a comparison of
//! a field of the key.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use crate::expand::columns::constant;
use crate::expand::key::{self, Design};
use crate::expand::prelude;
use crate::expand::refused::{range, sample, sample_of};

/// A column of a struct, as it is shown in a message.
struct Shown {
    /// The constant, such as `TOTAL`.
    constant: String,
    /// A value of its type, or the name of the field if no literal has the type.
    value: String,
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
    let (key, rows) = (format!("{ident}::key({})", values.join(", ")), selection(design));
    let point = format!("write `{key}`");
    let compare = match column(design) {
        Some(Shown { constant, value }) => {
            format!("write `{ident}::{constant}.eq({value})`; or `ne`, `gt`, `ge`, `lt`, `le`")
        }
        None => format!("`{ident}` has no column: all of its fields are in the key"),
    };
    let by_key = format!("write `query({rows})`, a range of the key");
    Some(quote! {
        #[cfg(not(rust_analyzer))]
        __table::refused_forms! {
            #ty: #compare, #by_key, #point
        }
    })
}

/// Returns a column that no key needs, if possible one whose type has a literal.
fn column(design: &Design<'_>) -> Option<Shown> {
    let entity = design.entity;
    let fields = entity.fields.iter().enumerate();
    let stored = fields.filter(|(at, field)| {
        let is_column = field.property.as_ref().is_some_and(|property| !property.chunks);
        is_column && !entity.key_needs(*at) && entity.same_constant(*at).is_none()
    });
    let values = stored.map(|(_, field)| (field, sample_of(field.ty, field.ident)));
    let (field, value) = values.min_by_key(|(field, value)| field.ident.unraw() == *value)?;
    Some(Shown { constant: constant(field).to_string(), value })
}

/// Returns the call that selects rows by the first part of the RowKey, or the partition if it has none.
fn selection(design: &Design<'_>) -> String {
    let ident = design.ident().unraw();
    let key = design.partition_key;
    let spread = design.is_spread();
    let fields = design.argument_fields(&[key], !spread);
    let values: Vec<String> = fields.iter().map(sample).collect();
    let values = values.join(", ");
    let first = key::parts(design.row_key).next().and_then(|(_, part)| design.field(part));
    match first.filter(|_| !design.row_key.unread) {
        Some(first) => format!("{ident}::rows({values}).{}({})", first.names.name, range(&first)),
        None if spread => format!("{ident}::all_partitions({values})"),
        None => format!("{ident}::partition({values})"),
    }
}
