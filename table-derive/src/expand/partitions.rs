//! Generates functions that select ranges of partitions, such as `Log::partitions_by_minute(from..until)`, for partition keys without levels.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;

use crate::expand::key::{self, Design, KeyField};
use crate::expand::rows;
use crate::expand::writing::local_at;
use crate::model::key::{Key, Part};

/// Generates one function for each field of the key. Its arguments are the values of the earlier fields and a range for the field itself.
/// The later fields are unrestricted.
///
/// ```text
/// fn partitions_by_minute(range: impl KeyBounds<DateTime<Utc>> + Ordered<true>) -> Selection<Self, PartitionRange> {
///     partitions_in(KeyText::new().literal("0"), "minute", &range, …::encode, Place { … })
/// }
/// fn partitions_by_instance_prefix(prefix: impl KeyPrefix<String, …>) -> Selection<Self, PartitionRange> { … }
/// fn partitions_by_user_share(share: u32, of: u32) -> Selection<Self, PartitionRange> { … }
/// ```
pub(super) fn functions(design: &Design<'_>) -> TokenStream {
    let key = design.partition_key;
    if key.levels || key.unread {
        return TokenStream::new();
    }
    key.ranged().filter_map(|(at, part)| Some(by(design, at, part, &design.field(part)?))).collect()
}

fn by(design: &Design<'_>, at: usize, part: &Part, field: &KeyField<'_>) -> TokenStream {
    let (vis, ty, name, codec) =
        (design.vis_at(field.span), &field.names.ty, &field.names.name, &field.names.codec);
    let before = design.partition_key.before(at);
    let spread = before.parts().any(|part| part.codec.is_bucket());
    let class = if spread { "FanOut" } else { "PartitionRange" };
    let selection = design.selection_at(field.span, class);
    let forms = key::forms(&design.partition_constant());
    let parameters_before: Vec<_> = parameters_before(design, &before).collect();
    let begin = design.text(&before, spread);
    let method = |suffix: &str| {
        let name = part.partitions_method(suffix);
        let name = design.index.map_or(name.clone(), |(_, index)| format!("{}_{name}", index.method()));
        Ident::new(&name, Span::call_site())
    };
    if part.codec.is_hash() {
        let (share, of) = (local_at("share", field.span), local_at("of", field.span));
        let (method, form) = (method("_share"), field.item("FORM"));
        let doc = format!(
            "Selects share number `share`, from 0, of `of` equal shares of the partitions by the hash of `{name}`."
        );
        let body =
            design.body(quote_spanned!(field.span=> __table::partitions_share(#begin, #form, #share, #of)));
        return quote_spanned! {field.span=>
            #[doc = #doc]
            #vis fn #method(#(#parameters_before)* #share: ::core::primitive::u32, #of: ::core::primitive::u32) -> #selection {
                #body
            }
        };
    }
    let (range_method, prefix_method) = (method(""), method("_prefix"));
    let place = rows::place(field, part, at, design.partition_key);
    let encode = field.item("encode");
    let doc = format!("Selects the partitions whose `{name}` is in a range.");
    let next = design.partition_key.literal_from(at + 1);
    let ordered = rows::ordered(part, &next, &forms, at, field.span);
    let range = local_at("range", field.span);
    let parameter =
        design.parameter(quote_spanned!(field.span=> #range: impl __table::KeyBounds<#ty> #ordered));
    let body = design
        .body(quote_spanned!(field.span=> __table::partitions_in(#begin, #name, &#range, #encode, #place)));
    let range = quote_spanned! {field.span=>
        #[doc = #doc]
        #vis fn #range_method(#(#parameters_before)* #parameter) -> #selection {
            #body
        }
    };
    let prefix = part.codec.may_be_text().then(|| {
        let doc = format!("Selects the partitions whose `{name}` starts with this text.");
        let end = at + 1 == design.partition_key.pieces.len();
        let self_delimiting = (!end).then(|| self_delimiting(&forms, at));
        let prefix = local_at("prefix", field.span);
        let parameter = design.parameter(quote_spanned!(field.span=> #prefix: impl __table::KeyPrefix<#ty, #codec> #self_delimiting));
        let body = quote_spanned!(field.span=> __table::partitions_with(#begin, #name, &#prefix, __table::KeyPrefix::encode));
        let body = design.body(body);
        quote_spanned! {field.span=>
            #[doc = #doc]
            #vis fn #prefix_method(#(#parameters_before)* #parameter) -> #selection {
                #body
            }
        }
    });
    quote!(#range #prefix)
}

/// Returns the parameters for the fields that precede the range.
fn parameters_before(design: &Design<'_>, before: &Key) -> impl Iterator<Item = TokenStream> {
    let forms = key::forms(&design.partition_constant());
    before.ranged().filter_map(move |(at, part)| {
        let argument = design.field(part)?.argument();
        // As in row selections, codecs with a fixed width do not need a check.
        let self_delimiting = (!design.stub && part.codec.may_vary()).then(|| self_delimiting(&forms, at));
        Some(quote!(#argument #self_delimiting,))
    })
}

fn self_delimiting(forms: &TokenStream, at: usize) -> TokenStream {
    quote!(+ __table::SelfDelimiting<{ __table::is_self_delimiting(#forms, #at) }>)
}
