//! Generates functions that select by an indexed value, such as `Employee::by_email("Sales", "ada@contoso.com")`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::expand::key::{self, Design, describe};
use crate::expand::rows;
use crate::model::index::Index;
use crate::model::key::{Key, Part};

/// Generates the function that looks up an indexed value. It returns one row if the value is the complete key of the index, and otherwise all copies whose keys
/// start with the value. The remaining key parts order the copies and tell them apart. A descending part only orders the copies, so it is not an argument. The
/// second return value is a statement for the constant that checks the keys at compile time.
pub(super) fn look_up(design: &Design<'_>, index: &Index) -> (TokenStream, Option<TokenStream>) {
    let parts: Vec<_> = key::parts(design.row_key).collect();
    let tells_apart = |field: usize| {
        let in_partition = design.partition_key.can_decode(field);
        design.entity.key_can_decode(field) && !in_partition
    };
    let pinned = if index.attr.unique.is_some() || index.attr.list {
        parts.len()
    } else {
        let until = |ends: &dyn Fn(&Part) -> bool| {
            parts.iter().rposition(|(_, part)| !ends(part)).map_or(0, |last| last + 1)
        };
        match until(&|part| tells_apart(part.field) || part.codec.reverses_order()) {
            // If every part either orders the copies or tells them apart, the descending parts are part of the value.
            0 => until(&|part| tells_apart(part.field)),
            pinned => pinned,
        }
    };
    if pinned == parts.len() {
        return (point(design, index), None);
    }
    let (function, proof) = range(design, index, pinned);
    (function, Some(proof))
}

/// Generates the function that looks up a single index row:
///
/// ```text
/// fn by_email(department: impl KeyArg<String>, email: impl KeyArg<String>) -> Selection<Employee, Point, Copies<EmployeeByEmail>> {
///     point(KeyText::new().part(…), KeyText::new().literal("email_").part(…))
/// }
/// ```
fn point(design: &Design<'_>, index: &Index) -> TokenStream {
    let (vis, method) = (design.vis(), method(index));
    let arguments = design.arguments(&[design.partition_key, design.row_key], true);
    let (partition_key, row_key) = (design.partition_of_arguments(), design.text(design.row_key, false));
    let selection = design.selection("Point");
    let body = design.body(quote!(__table::point(#partition_key, #row_key)));
    let what = if index.attr.list { "The list" } else { "The copy" };
    let doc = format!(
        "{what} of the index `{}` by its key: {}, {}.",
        index.attr.name.unraw(),
        describe(design.partition_key),
        describe(design.row_key)
    );
    quote! {
        #[doc = #doc]
        #vis fn #method(#(#arguments),*) -> #selection {
            #body
        }
    }
}

/// Generates `fn by_city(state: …, city: …) -> Selection<Airport, RowRange, Copies<AirportByCity>>`, and the
/// compile-time check that the function finds only copies with these values.
fn range(design: &Design<'_>, index: &Index, pinned: usize) -> (TokenStream, TokenStream) {
    let (vis, method) = (design.vis(), method(index));
    let parts: Vec<_> = key::parts(design.row_key).take(pinned).collect();
    let mut looked_up: Key = design.row_key.clone();
    looked_up.pieces.truncate(parts.last().map_or(0, |(at, _)| at + 1));
    let given = |field: usize| design.partition_key.can_decode(field) || looked_up.can_decode(field);
    let spread = design.partition_key.parts().any(|part| part.codec.is_bucket() && !given(part.field));
    let class = if spread { "FanOut" } else { rows::class_of_one(design, pinned) };
    let selection = design.selection(class);
    let arguments = design.arguments(&[design.partition_key, &looked_up], !spread);
    let partitions =
        if spread { design.text(design.partition_key, true) } else { design.partition_of_arguments() };
    let begin = rows::literal(&design.row_key.literal_from(0));
    let pins = parts.iter().map(|(at, part)| {
        let append = design.field(part).map(|field| field.append());
        let literal = rows::literal(&design.row_key.literal_from(at + 1));
        quote!(#append #literal)
    });
    let doc = format!(
        "All copies of the index `{}` with one value: {}, {}.",
        index.attr.name.unraw(),
        describe(design.partition_key),
        describe(&looked_up)
    );
    let (constant, pinned) = (design.constant("ROW_KEY"), looked_up.pieces.len());
    let (name, entity) = (index.attr.name.unraw().to_string(), &design.entity.name);
    // The check has the span of the attribute's name, like the check of the key itself.
    let proof = quote_spanned! {design.row_key.original.path().span()=>
        __table::require_told_apart(#constant, #pinned, #name, #entity);
    };
    let body = design.body(quote! {
        __table::RowsOf::new(#partitions) #begin #(#pins)* .select()
    });
    let function = quote! {
        #[doc = #doc]
        #vis fn #method(#(#arguments),*) -> #selection {
            #body
        }
    };
    (function, proof)
}

/// Returns the name of an index's selection function, as a raw identifier if it is a keyword.
fn method(index: &Index) -> Ident {
    let (name, span) = (index.method(), index.attr.name.span());
    match syn::parse_str::<Ident>(&name) {
        Ok(_) => Ident::new(&name, span),
        // These names have no raw form, and the index rules reject them.
        Err(_) if matches!(name.as_str(), "self" | "super" | "crate" | "_") => Ident::new("index", span),
        Err(_) => Ident::new_raw(&name, span),
    }
}
