//! Code generated for user-defined key types: `impl KeyPart`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use crate::expand::wrapped;
use crate::model::key_part::{KeyPart, Kind};

/// Expands a newtype or an enum:
///
/// ```text
/// impl KeyNewtype for EmployeeId { type Inner = u32; … }
/// impl KeyPart for EmployeeId { type Codec = Newtype<Digits<6>>; }
/// ```
///
/// or
///
/// ```text
/// impl KeyEnum for Stage { const VARIANTS: &'static [&'static str] = &["Draft", "Final"]; … }
/// impl KeyPart for Stage { type Codec = Variant; }
/// ```
pub(crate) fn key_part(part: &KeyPart<'_>) -> TokenStream {
    let ident = &part.original.ident;
    let (access, codec) = match &part.kind {
        Kind::Newtype { member, ty, codec } => {
            let codec = codec.ty(ty, ty.span());
            let sound = quote_spanned! {ty.span()=>
                const _: __table::Form = __table::require_sound(
                    <#codec as __table::KeyCodec<#ty>>::FACTS.fault,
                    "",
                    <#codec as __table::KeyCodec<#ty>>::FORM,
                );
            };
            let access = quote! {
                impl __table::KeyNewtype for #ident {
                    type Inner = #ty;
                    fn inner(&self) -> &#ty {
                        &self.#member
                    }
                    fn from_inner(inner: #ty) -> Self {
                        Self { #member: inner }
                    }
                }
                #sound
            };
            (access, quote!(__table::Newtype<#codec>))
        }
        Kind::Enum(variants) => {
            let property = property(ident);
            let names = variants.iter().map(|(_, name)| name);
            let to = variants.iter().enumerate().map(|(at, (variant, _))| quote!(Self::#variant => #at,));
            let from = variants
                .iter()
                .enumerate()
                .map(|(at, (variant, _))| quote!(#at => ::core::option::Option::Some(Self::#variant),));
            let access = quote! {
                impl __table::KeyEnum for #ident {
                    const VARIANTS: &'static [&'static ::core::primitive::str] = &[#(#names),*];
                    fn index(&self) -> ::core::primitive::usize {
                        match self { #(#to)* }
                    }
                    fn from_index(index: ::core::primitive::usize) -> ::core::option::Option<Self> {
                        match index { #(#from)* _ => ::core::option::Option::None }
                    }
                }
            };
            let access = quote!(#access #[automatically_derived] #property);
            (access, quote!(__table::Variant))
        }
    };
    wrapped(
        &part.runtime,
        &quote! {
            #[automatically_derived]
            #access
            #[automatically_derived]
            impl __table::KeyPart for #ident {
                type Codec = #codec;
            }
        },
    )
}

/// Implements `Property` for an enum. The stored value is the name of the variant.
fn property(ident: &Ident) -> TokenStream {
    quote! {
        impl __table::Property for #ident {
            const EDM: __table::EdmType = __table::EdmType::String;
            fn write_to(
                &self,
                name: &::core::primitive::str,
                row: &mut __table::RowWriter,
            ) -> __table::Result<()> {
                __table::write_variant(self, name, row)
            }
            fn from_value(value: ::core::option::Option<__table::ValueRef<'_>>) -> __table::Result<Self> {
                __table::read_variant(value)
            }
        }
        #[automatically_derived]
        impl __table::Operand<#ident> for #ident {
            fn into_value(self) -> __table::Value {
                __table::variant_value(&self)
            }
        }
    }
}

/// Generates empty trait implementations for an invalid declaration.
pub(crate) fn stub(part: &KeyPart<'_>) -> TokenStream {
    let ident = &part.original.ident;
    let property = property(ident);
    wrapped(
        &part.runtime,
        &quote! {
            #[automatically_derived]
            #property
            #[automatically_derived]
            impl __table::KeyEnum for #ident {
                const VARIANTS: &'static [&'static ::core::primitive::str] = &["-"];
                fn index(&self) -> ::core::primitive::usize {
                    0
                }
                fn from_index(_: ::core::primitive::usize) -> ::core::option::Option<Self> {
                    ::core::option::Option::None
                }
            }
            #[automatically_derived]
            impl __table::KeyPart for #ident {
                type Codec = __table::Variant;
            }
        },
    )
}
