//! Code generated for entities with blobs: a constant for each blob, and the list of all blobs.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::expand::allow;
use crate::expand::writing::local;
use crate::model::large::{Blob, Large};

/// Expands an entity with blobs:
///
/// ```text
/// impl Large for Employee {
///     const BLOBS: &'static [Blob<Self>] = &[Self::PHOTO_BLOB];
/// }
/// impl Employee {
///     const PHOTO_BLOB: Blob<Self> = Blob::new(
///         "Photo",
///         |entity| <Option<BlobRef> as BlobField>::get(&entity.photo),
///         |entity, address| <Option<BlobRef> as BlobField>::set(&mut entity.photo, address),
///     );
/// }
/// ```
pub(crate) fn large(large: &Large<'_>) -> TokenStream {
    let (ident, parameters, runtime) = (&large.original.ident, &large.parameters, &large.runtime);
    let (of_impl, of_type, of_where) = (parameters.of_impl(), parameters.of_type(), parameters.of_where());
    let names = large.blobs.iter().map(|blob| &blob.constant);
    let constants = large.blobs.iter().map(constant);
    let allow = allow();
    quote! {
        #allow
        const _: () = {
            use #runtime::large as __large;
            #[automatically_derived]
            impl #of_impl __large::Large for #ident #of_type #of_where {
                const BLOBS: &'static [__large::Blob<Self>] = &[#(Self::#names),*];
            }
            #[automatically_derived]
            impl #of_impl #ident #of_type #of_where {
                #(#constants)*
            }
        };
    }
}

fn constant(blob: &Blob<'_>) -> TokenStream {
    let Blob { ident, ty, vis, property, constant } = blob;
    let (entity, address) = (local("entity"), local("address"));
    let doc = format!("The blob whose address is in `{}`.", ident.unraw());
    // The call has the span of the field's type. If the type cannot contain a blob address, rustc reports it there.
    let get = quote_spanned!(ty.span()=> <#ty as __large::BlobField>::get);
    let set = quote_spanned!(ty.span()=> <#ty as __large::BlobField>::set);
    quote! {
        #[doc = #doc]
        #vis const #constant: __large::Blob<Self> = __large::Blob::new(
            #property,
            |#entity| #get(&#entity.#ident),
            |#entity, #address| #set(&mut #entity.#ident, #address),
        );
    }
}
