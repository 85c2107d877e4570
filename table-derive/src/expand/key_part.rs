//! A user's key type: `impl KeyPart`.

use proc_macro2::TokenStream;
use quote::quote;

use crate::expand::wrapped;
use crate::model::key_part::{KeyPart, Kind};

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
            let codec = codec.ty(ty);
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
            };
            (access, quote!(__table::Newtype<#codec>))
        }
        Kind::Enum(variants) => {
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

/// The traits without meaning, after a mistake.
pub(crate) fn stub(part: &KeyPart<'_>) -> TokenStream {
    let ident = &part.original.ident;
    wrapped(
        &part.runtime,
        &quote! {
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
