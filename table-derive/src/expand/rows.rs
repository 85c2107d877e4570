//! Generates row selections. Their methods narrow the range part by part: `Employee::rows("Sales").id(100..=199)`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use crate::expand::allow_type;
use crate::expand::key::{self, Design, KeyField, describe};
use crate::expand::refused;
use crate::model::key::{Key, Part};

/// Generates `fn rows(department: …) -> EmployeeRows` if the `RowKey` contains a field.
pub(super) fn entry(design: &Design<'_>) -> TokenStream {
    if design.row_key.unread || design.row_key.parts().next().is_none() {
        return TokenStream::new();
    }
    let (vis, (entry, rows)) = (design.vis(), design.rows_names());
    let spread = design.is_spread();
    let arguments = design.arguments(&[design.partition_key], !spread);
    let text = if spread { design.text(design.partition_key, true) } else { design.partition_of_arguments() };
    let literal = literal(&design.row_key.literal_from(0));
    let (type_arguments, phantom_value) =
        (design.entity.parameters.of_type(), design.entity.parameters.phantom_value());
    let body = design.body(quote!(#rows(__table::RowsOf::new(#text)#literal #phantom_value)));
    let doc =
        format!("Selects the rows {} of a partition, to be narrowed part by part.", describe(design.row_key));
    quote! {
        #[doc = #doc]
        #vis fn #entry(#(#arguments),*) -> #rows #type_arguments {
            #body
        }
    }
}

/// Generates the return type of `rows`, with one `impl` for each part of the `RowKey`. The type's const parameter is the number of parts that are already
/// fixed.
///
/// ```text
/// pub struct EmployeeRows<const __PINNED: usize = 0>(RowsOf);
///
/// impl EmployeeRows {
///     pub fn id(self, range: impl KeyBounds<u32> + Ordered<true>) -> Selection<Employee, RowRange> { … }
///     pub fn id_is(self, id: impl KeyArg<u32>) -> Selection<Employee, Point> { … }
/// }
/// impl Narrowed for EmployeeRows { … }
/// ```
pub(super) fn rows(design: &Design<'_>) -> Option<(TokenStream, TokenStream)> {
    let parts: Vec<(usize, &Part)> = key::parts(design.row_key).collect();
    if design.row_key.unread || parts.is_empty() {
        return None;
    }
    let (vis, ident, runtime) = (design.vis(), design.ident(), &design.entity.runtime);
    let (entry, rows) = design.rows_names();
    let doc = format!(
        "The rows {} of a partition of [`{ident}`], with values for the first parts. Returned by [`{ident}::{entry}`].",
        describe(design.row_key)
    );
    let parameters = &design.entity.parameters;
    let allow = allow_type(parameters);
    let (must_use, zero) = ("rows are only read when passed to `query`", zero());
    let (of_impl, of_where) = (parameters.of_impl(), parameters.of_where());
    let (declared, type_arguments) = (parameters.declared(), parameters.type_arguments());
    let (phantom_field, phantom_value) = (parameters.phantom_field(), parameters.phantom_value());
    let ty = design.entity.ty();
    let definition = quote! {
        #[doc = #doc]
        #[must_use = #must_use]
        #allow
        #vis struct #rows<#declared const __PINNED: ::core::primitive::usize = #zero>(#runtime::__private::RowsOf #phantom_field);
    };
    let count = parts.len();
    let source = design.source(Span::call_site());
    let narrowed = |parameters: &TokenStream, rows: &TokenStream, stage| {
        let class = format_ident!("{}", class(design, stage));
        quote! {
            #[automatically_derived]
            impl #parameters __table::Narrowed for #rows #of_where {
                type Entity = #ty;
                type Class = __table::#class;
                type Source = #source;
                fn ranges(self) -> __table::Result<__table::Vec<__table::KeyRange>> {
                    self.#zero.ranges()
                }
            }
        }
    };
    // All stages of the same cost class share one `impl`, because each `impl` costs compile time.
    let is_one_class = parameters.is_empty() && (design.is_spread() || !starts_partition(design, 0));
    let of_all = is_one_class
        .then(|| narrowed(&quote!(<const __PINNED: __table::usize>), &quote!(#rows<__PINNED>), 0));
    let stages = parts.into_iter().enumerate().map(|(stage, (at, part))| {
        let methods = methods(design, at, part, stage, count);
        let rows = stage_type(design, &rows, stage);
        let narrowed = (!is_one_class).then(|| narrowed(&quote!(#of_impl), &rows, stage));
        let (methods, items) = methods;
        quote! {
            #[automatically_derived]
            impl #of_impl #rows #of_where {
                #methods
            }
            #items
            #narrowed
        }
    });
    let name = rows.to_string();
    // These traits are implemented directly, because `derive` would cost more compile time than all of the methods.
    let impls = quote! {
        impl<#declared const __PINNED: __table::usize> ::core::clone::Clone for #rows<#type_arguments __PINNED> {
            fn clone(&self) -> Self {
                Self(__table::RowsOf::copy(&self.#zero) #phantom_value)
            }
        }
        impl<#declared const __PINNED: __table::usize> ::core::fmt::Debug for #rows<#type_arguments __PINNED> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                __table::RowsOf::debug(&self.#zero, f, #name)
            }
        }
    };
    let refused = refused::parts(design);
    Some((definition, quote!(#impls #of_all #(#stages)* #refused)))
}

/// Returns the number 0 as a token. If the literal were in the template of `quote!`, the macro would parse it, which is slow in an unoptimised build.
fn zero() -> Literal {
    Literal::usize_unsuffixed(0)
}

/// Returns the methods of a part, and the items that their signatures need.
fn methods(
    design: &Design<'_>,
    at: usize,
    part: &Part,
    stage: usize,
    count: usize,
) -> (TokenStream, Option<TokenStream>) {
    let vis = design.vis();
    let Some(field) = design.field(part) else { return (TokenStream::new(), None) };
    let (names, zero) = (&field.names, zero());
    let (argument, ty, name, codec, encode) =
        (field.field.ident, &names.ty, &names.name, &names.codec, field.item("encode"));
    let range_class = if design.is_spread() { "FanOut" } else { "RowRange" };
    let ranges = design.selection_at(field.span, range_class);
    let forms = key::forms(&design.constant("ROW_KEY"));
    let last = stage + 1 == count;
    let end = at + 1 == design.row_key.pieces.len();
    let next = design.row_key.literal_from(at + 1);
    let literal = literal(&next);
    let place = place(&field, part, at, design.row_key);
    let (append, value) = (field.append(), field.argument());
    // The check is generated only if the macro cannot tell that the codec's output is self-delimiting, because each bound costs compile time.
    let bound = (!design.stub && !end && part.codec.may_vary() && !part.codec.is_ended_by(&next))
        .then(|| quote_spanned!(field.span=> + __table::SelfDelimiting<{ __table::is_self_delimiting(#forms, #at) }>));
    let bound_if_more = bound.as_ref().filter(|_| !last);
    // The call has the span of the field's type; see `KeyField::item`. The parameter has the same span in the signature
    // and in the call, because the derive's span and the field's span differ in hygiene if a macro emits only one of
    // them.
    let bounds = Ident::new("range", Span::call_site());
    let range_call = quote_spanned! {field.span=>
        .range(#name, &#bounds, #encode, #place)
    };
    let range_doc = format!("Selects the rows whose `{name}` is in a range.");
    let (unpadded, unpadded_items) = refused::unpadded(design, &field, part).unzip();
    let ordered = match unpadded {
        Some(bound) => Some(quote!(+ #bound)),
        None => ordered(part, &next, &forms, at, Span::call_site()),
    };
    let range = design.parameter(quote!(#bounds: impl __table::KeyBounds<#ty> #ordered));
    let range_body = design.body(quote!(self.#zero #range_call));
    let range = quote! {
        #[doc = #range_doc]
        #vis fn #argument(self, #range) -> #ranges {
            #range_body
        }
    };
    let is = format_ident!("{}_is", argument.unraw());
    let is_doc = format!("Selects the rows with this `{name}`.");
    let pinned = quote!(self.#zero #append #literal);
    let (is_type, is_body) = match (last, design.is_spread()) {
        (true, true) => (design.selection("FanOut"), quote!(#pinned.select_points())),
        (true, false) => (design.selection("Point"), quote!(#pinned.select_points())),
        (false, _) => {
            let ((_, rows), next) = (design.rows_names(), stage + 1);
            let phantom_value = design.entity.parameters.phantom_value();
            (stage_type(design, &rows, next), quote!(#rows(#pinned #phantom_value)))
        }
    };
    let is_body = design.body(is_body);
    let is = quote! {
        #[doc = #is_doc]
        #vis fn #is(self, #value #bound_if_more) -> #is_type {
            #is_body
        }
    };
    let prefix = part.codec.may_be_text().then(|| {
        let method = format_ident!("{}_prefix", argument.unraw());
        let doc = format!("Selects the rows whose `{name}` starts with this text.");
        // Each token has the span of the field's type, because rustc also checks the bound in the signature.
        let prefix = design
            .parameter(quote_spanned!(field.span=> prefix: impl __table::KeyPrefix<#ty, #codec> #bound));
        let body = quote_spanned!(field.span=> self.#zero.prefix(#name, &prefix, __table::KeyPrefix::encode));
        let (vis, body) = (design.vis_at(field.span), design.body(body));
        quote_spanned! {field.span=>
            #[doc = #doc]
            #vis fn #method(self, #prefix) -> #ranges {
                #body
            }
        }
    });
    (quote!(#range #is #prefix), unpadded_items)
}

/// Returns the trait bound of a range argument. The bound is omitted if every part with this codec is known to keep its order before the next literal, because
/// each bound costs compile time.
pub(super) fn ordered(
    part: &Part,
    next: &str,
    forms: &TokenStream,
    at: usize,
    span: Span,
) -> Option<TokenStream> {
    let bound = || quote_spanned!(span=> + __table::Ordered<{ __table::keeps_order(#forms, #at) }>);
    (!part.codec.is_ordered() && !part.codec.is_ended_by(next)).then(bound)
}

/// Returns the position of a part in its key. The position determines the bounds of a range.
pub(super) fn place(field: &KeyField<'_>, part: &Part, at: usize, key: &Key) -> TokenStream {
    let end = at + 1 == key.pieces.len();
    let until = key.literal_from(at + 1);
    let place = field.function(if part.codec.is_decodable() { "place" } else { "derived_place" });
    quote_spanned!(field.span=> #place(#until, #end))
}

/// Generates the type `EmployeeRows` for stage 0, `EmployeeRows<1>` for stage 1, and so on. Stage 0 omits its number, which is the parameter's default, because
/// each number costs compile time.
fn stage_type(design: &Design<'_>, rows: &Ident, stage: usize) -> TokenStream {
    let type_arguments = design.entity.parameters.type_arguments();
    match stage {
        0 if type_arguments.is_none() => quote!(#rows),
        0 => quote!(#rows<#type_arguments>),
        _ => quote!(#rows<#type_arguments #stage>),
    }
}

/// Returns the cost class for reading all rows of a stage (a selection with `stage` fixed parts). If the stage has
/// neither a literal nor a fixed part, it contains all rows in the partition.
fn class(design: &Design<'_>, stage: usize) -> &'static str {
    if design.is_spread() { "FanOut" } else { class_of_one(design, stage) }
}

/// Returns the cost class of a stage that reads a single partition.
pub(super) fn class_of_one(design: &Design<'_>, stage: usize) -> &'static str {
    if starts_partition(design, stage) { "Partition" } else { "RowRange" }
}

/// Returns `true` if a stage has neither a literal nor a fixed part. It then selects an entire partition.
fn starts_partition(design: &Design<'_>, stage: usize) -> bool {
    stage == 0 && design.row_key.literal_from(0).is_empty()
}

pub(super) fn literal(text: &str) -> Option<TokenStream> {
    (!text.is_empty()).then(|| quote!(.literal(#text)))
}
