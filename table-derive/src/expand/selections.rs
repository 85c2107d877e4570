//! Generates typed selections of keys and partitions: `Employee::key`, `partition`, `partitions_by_…`, `within`, `rows`, `scan`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::key::{Design, describe};
use crate::expand::{levels, partitions, rows};

/// Generates the functions that return selections, with the visibility of the struct.
pub(super) fn selections(design: &Design<'_>) -> TokenStream {
    let key = key(design, &quote!(Self));
    let partitions = if design.is_spread() { spread(design) } else { partition(design) };
    let within = levels::entry(design);
    let ranges = partitions::functions(design);
    let rows = rows::entry(design);
    let scan = scan(design);
    quote!(#key #partitions #ranges #within #rows #scan)
}

/// Generates the function that selects a single entity by its key:
///
/// ```text
/// fn key(department: impl KeyArg<String>, id: impl KeyArg<u32>) -> Selection<Self, Point> {
///     point(
///         __partition_key(&department),
///         KeyText::new().literal("empid_").part("id", &id, Digits::<6>::encode),
///     )
/// }
/// ```
pub(super) fn key(design: &Design<'_>, of: &TokenStream) -> TokenStream {
    let vis = design.vis();
    let arguments = design.arguments(&[design.partition_key, design.row_key], true);
    let (partition_key, row_key) = (design.partition_of_arguments(), design.text(design.row_key, false));
    let body = design.body(quote!(__table::point(#partition_key, #row_key)));
    let doc = format!(
        "Selects one entity by its key: {}, {}.",
        describe(design.partition_key),
        describe(design.row_key)
    );
    quote! {
        #[doc = #doc]
        #vis fn key(#(#arguments),*) -> __table::Selection<#of, __table::Point> {
            #body
        }
    }
}

/// Generates `fn partition(department: …) -> Selection<Self, Partition>`.
fn partition(design: &Design<'_>) -> TokenStream {
    let vis = design.vis();
    let arguments = design.arguments(&[design.partition_key], true);
    let text = design.partition_of_arguments();
    let body = design.body(quote!(__table::partition(#text)));
    let doc = format!(
        "Selects a whole partition, {}, with entities of every kind in it.",
        describe(design.partition_key)
    );
    quote! {
        #[doc = #doc]
        #vis fn partition(#(#arguments),*) -> __table::Selection<Self, __table::Partition> {
            #body
        }
    }
}

/// Generates the selections for a partition key with buckets: the partition that contains a value, and all partitions.
fn spread(design: &Design<'_>) -> TokenStream {
    let vis = design.vis();
    let one_arguments = design.arguments(&[design.partition_key], true);
    let one = design.partition_of_arguments();
    let one = design.body(quote!(__table::partition(#one)));
    let one_doc = format!(
        "Selects the one partition, {}, that contains the entities of this value.",
        describe(design.partition_key)
    );
    let all_arguments = design.arguments(&[design.partition_key], false);
    let all = design.text(design.partition_key, true);
    let all = design.body(quote!(__table::partitions(#all)));
    let all_doc = format!(
        "Selects all partitions that {} spreads over, with one request or more for each.",
        describe(design.partition_key)
    );
    quote! {
        #[doc = #one_doc]
        #vis fn partition_of(#(#one_arguments),*) -> __table::Selection<Self, __table::Partition> {
            #one
        }
        #[doc = #all_doc]
        #vis fn all_partitions(#(#all_arguments),*) -> __table::Selection<Self, __table::FanOut> {
            #all
        }
    }
}

/// Generates `fn scan(reason: impl Into<String>) -> Selection<Self, Scan>`.
fn scan(design: &Design<'_>) -> TokenStream {
    let vis = design.vis();
    let doc = format!(
        "Selects every entity of the table `{}`. Plans and logs repeat the reason.",
        design.entity.table.0
    );
    quote! {
        #[doc = #doc]
        #vis fn scan(reason: impl ::core::convert::Into<__table::String>) -> __table::Selection<Self, __table::Scan> {
            __table::Selection::scan(reason)
        }
    }
}
