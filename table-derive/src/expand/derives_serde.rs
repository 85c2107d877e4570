//! The proof that the attributes of serde on a declaration are used by serde. The derives of this crate accept these attributes, so rustc does not report them on
//! a type that serde does not derive.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Path};

use crate::attr::settings;
use crate::expand::wrapped;

/// Generates a constant that fails to compile if the declaration has attributes of serde, and implements neither `Serialize` nor `Deserialize`. Generates nothing
/// for a declaration without these attributes, or with generic parameters. `help` is the end of the message.
pub(crate) fn derives_serde(
    input: &DeriveInput,
    runtime: &Path,
    help: impl Fn(&str, Option<&str>) -> Option<String>,
) -> Option<TokenStream> {
    let members: Vec<&Attribute> = match &input.data {
        Data::Struct(data) => data.fields.iter().flat_map(|field| &field.attrs).collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.attrs).collect(),
        Data::Union(_) => Vec::new(),
    };
    let mut attributes = input.attrs.iter().chain(members);
    let attribute = attributes.find(|attribute| attribute.path().is_ident("serde"))?;
    if !input.generics.params.is_empty() {
        return None;
    }
    let ident = &input.ident;
    let settings = settings::of(attribute);
    let (word, text) =
        settings.first().map_or_else(Default::default, |first| (first.word.clone(), first.text()));
    let help = help(&word, text.as_deref()).unwrap_or_else(|| "remove it, or derive one of them".to_owned());
    let message = format!(
        "[T015] `serde({word})` has no effect, because `{ident}` derives neither `Serialize` nor `Deserialize`; {help}"
    );
    let span = attribute.path().span();
    let proof = quote_spanned! {span=>
        #[allow(unused_imports)]
        const _: () = {
            use __table::WithoutSerde as _;
            __table::require_serde(__table::Serde::<#ident>::WRITES || __table::Serde::<#ident>::READS, #message);
        };
    };
    Some(wrapped(runtime, &quote!(#proof)))
}
