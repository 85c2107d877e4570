//! Generates functions that select by a prefix of a hierarchical partition key, level by level: `Event::within("contoso").user_is("ada")`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;

use crate::casing::pascal_case;
use crate::expand::allow_type;
use crate::expand::key::{Design, KeyField};

/// Generates `fn within(tenant: …) -> EventWithoutUserAndSession` for keys with levels.
pub(super) fn entry(design: &Design<'_>) -> TokenStream {
    let levels = levels(design);
    let [first, missing @ ..] = levels.as_slice() else { return TokenStream::new() };
    let (vis, prefix) = (design.vis(), name(design, missing));
    let (argument, ty, level) = (first.field.ident, &first.names.ty, append(first));
    let (type_arguments, phantom_value) =
        (design.entity.parameters.of_type(), design.entity.parameters.phantom_value());
    let argument = design.parameter(quote!(#argument: impl __table::KeyArg<#ty>));
    let body = design.body(quote!(#prefix(__table::LevelsOf::new()#level #phantom_value)));
    let doc =
        format!("All partitions of one `{}`: a range that can be narrowed level by level.", first.names.name);
    quote! {
        #[doc = #doc]
        #vis fn within(#argument) -> #prefix #type_arguments {
            #body
        }
    }
}

/// Generates a type for each proper prefix of the key, named after the missing levels. Each `…_is` method returns the prefix with one more level.
///
/// ```text
/// pub struct EventWithoutUserAndSession(LevelsOf);
///
/// impl EventWithoutUserAndSession {
///     pub fn user(self, range: impl KeyBounds<String> + Ordered<true>) -> Selection<Event, PartitionRange> { … }
///     pub fn user_is(self, user: impl KeyArg<String>) -> EventWithoutSession { … }
/// }
/// impl Narrowed for EventWithoutUserAndSession { … }
/// ```
pub(super) fn prefixes(design: &Design<'_>) -> (TokenStream, TokenStream) {
    let levels = levels(design);
    let stages = (1..levels.len()).filter_map(|given| levels.split_at_checked(given));
    let (types, methods): (Vec<_>, Vec<_>) = stages
        .map(|(given, missing)| (definition(design, given, missing), methods(design, given, missing)))
        .unzip();
    (quote!(#(#types)*), quote!(#(#methods)*))
}

fn definition(design: &Design<'_>, given: &[KeyField<'_>], missing: &[KeyField<'_>]) -> TokenStream {
    let (vis, ident, runtime) = (design.vis(), design.ident(), &design.entity.runtime);
    let prefix = name(design, missing);
    let doc = format!(
        "A range of partitions of [`{ident}`] with {} given and {} open, to be queried or narrowed. Returned by \
         [`{ident}::within`].",
        describe(given),
        describe(missing),
    );
    let allow = allow_type(&design.entity.parameters);
    let (declared, phantom_field) =
        (design.entity.parameters.declared(), design.entity.parameters.phantom_field());
    let parameters = phantom_field.as_ref().map(|_| quote!(<#declared>));
    quote! {
        #[doc = #doc]
        #[must_use = "partitions are only read when passed to `query`"]
        #allow
        #vis struct #prefix #parameters(#runtime::__private::LevelsOf #phantom_field);
    }
}

/// Generates the method that selects the partitions whose next level starts with a given string. Returns `None` if the level cannot be a string.
fn prefix_method(design: &Design<'_>, next: &KeyField<'_>) -> Option<TokenStream> {
    let (entity, ty, field, codec) =
        (design.entity.ty(), &next.names.ty, &next.names.name, &next.names.codec);
    let begins = format_ident!("{}_prefix", next.field.ident.unraw());
    let begins_doc = format!("Selects the partitions whose `{field}` starts with this text.");
    next.may_be_text.then(|| {
        let prefix =
            design.parameter(quote_spanned!(next.span=> prefix: impl __table::KeyPrefix<#ty, #codec>));
        let body = quote_spanned!(next.span=> self.0.prefix(#field, &prefix, __table::KeyPrefix::encode));
        let (vis, body) = (design.vis_at(next.span), design.body(body));
        quote_spanned! {next.span=>
            #[doc = #begins_doc]
            #vis fn #begins(self, #prefix) -> __table::Selection<#entity, __table::PartitionRange> {
                #body
            }
        }
    })
}

fn methods(design: &Design<'_>, given: &[KeyField<'_>], missing: &[KeyField<'_>]) -> TokenStream {
    let [next, after @ ..] = missing else { return TokenStream::new() };
    let (vis, entity, prefix) = (design.vis(), design.entity.ty(), name(design, missing));
    let parameters = &design.entity.parameters;
    let (of_impl, of_type, of_where) = (parameters.of_impl(), parameters.of_type(), parameters.of_where());
    let (declared, phantom_value) = (parameters.declared(), parameters.phantom_value());
    let unbound = phantom_value.as_ref().map(|_| quote!(<#declared>));
    let (argument, ty, field) = (next.field.ident, &next.names.ty, &next.names.name);
    let (encode, facts, form) = (next.item("encode"), next.item("FACTS"), next.item("FORM"));
    // The pieces alternate between levels and terminators.
    let at = given.len() * 2;
    let range_doc = format!("Selects the partitions whose `{field}` is in a range.");
    // The call has the span of the field's type; see `KeyField::item`. For the span of `range`, see `rows::methods`.
    let bounds = Ident::new("range", Span::call_site());
    let range_call = quote_spanned!(next.span=> .range(#field, &#bounds, #encode, #facts.descending, #form));
    let level = append(next);
    let (is_type, is_body) = if after.is_empty() {
        let one = quote!(__table::Selection<#entity, __table::Partition>);
        (one, quote!(self.0 #level.select_partition()))
    } else {
        let longer = name(design, after);
        (quote!(#longer #of_type), quote!(#longer(self.0 #level #phantom_value)))
    };
    let is = format_ident!("{}_is", argument.unraw());
    let is_doc = if after.is_empty() {
        format!("Selects the one partition with this `{field}`.")
    } else {
        format!("Selects the partitions with this `{field}`.")
    };
    let begins = prefix_method(design, next);
    let range = design.parameter(quote! {
        #bounds: impl __table::KeyBounds<#ty> + __table::Ordered<{ __table::keeps_order(&__PARTITION_KEY.forms, #at) }>
    });
    let range_body = design.body(quote!(self.0 #range_call));
    let value = design.parameter(quote!(#argument: impl __table::KeyArg<#ty>));
    let is_body = design.body(is_body);
    let prefix_name = prefix.to_string();
    quote! {
        impl #unbound ::core::clone::Clone for #prefix #of_type {
            fn clone(&self) -> Self {
                Self(__table::LevelsOf::copy(&self.0) #phantom_value)
            }
        }
        impl #unbound ::core::fmt::Debug for #prefix #of_type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                __table::LevelsOf::debug(&self.0, f, #prefix_name)
            }
        }
        #[automatically_derived]
        impl #of_impl #prefix #of_type #of_where {
            #[doc = #range_doc]
            #vis fn #argument(self, #range) -> __table::Selection<#entity, __table::PartitionRange> {
                #range_body
            }
            #[doc = #is_doc]
            #vis fn #is(self, #value) -> #is_type {
                #is_body
            }
            #begins
        }
        #[automatically_derived]
        impl #of_impl __table::Narrowed for #prefix #of_type #of_where {
            type Entity = #entity;
            type Class = __table::PartitionRange;
            type Source = __table::Primary;
            fn ranges(self) -> __table::Result<__table::Vec<__table::KeyRange>> {
                __table::LevelsOf::ranges(self.0)
            }
        }
    }
}

/// Returns the call that appends the argument for a level to a prefix.
fn append(level: &KeyField<'_>) -> TokenStream {
    let (argument, name, encode) = (level.field.ident, &level.names.name, level.item("encode"));
    quote_spanned!(level.span=> .level(#name, &#argument, #encode))
}

/// Returns the levels of the partition key in order. A key that contains a literal, or only one field, has no levels.
fn levels<'e>(design: &'e Design<'_>) -> Vec<KeyField<'e>> {
    let key = design.partition_key;
    if !key.levels {
        return Vec::new();
    }
    key.parts().filter_map(|part| design.field(part)).collect()
}

/// Returns the name of the type for a prefix that lacks the levels in `missing`: `EventWithoutUserAndSession`.
fn name(design: &Design<'_>, missing: &[KeyField<'_>]) -> Ident {
    let missing: Vec<String> = missing.iter().map(|level| pascal_case(&level.names.name)).collect();
    format_ident!("{}Without{}", design.ident().unraw(), missing.join("And"))
}

fn describe(levels: &[KeyField<'_>]) -> String {
    levels.iter().map(|level| format!("`{}`", level.names.name)).collect::<Vec<_>>().join(" and ")
}
