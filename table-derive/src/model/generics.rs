//! The parameters of a generic entity: types and constants that its properties are made of.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, Ident, parse_quote};

use crate::ctxt::Ctxt;

/// The parameters, with the bounds that the declaration gives and those that an entity needs.
pub(crate) struct Parameters(Generics);

impl Parameters {
    /// Reads them. `None` if there are lifetimes, which is reported.
    pub(super) fn read(ctxt: &Ctxt, generics: &Generics) -> Option<Self> {
        if let Some(lifetime) = generics.lifetimes().next() {
            let help = "an entity is read from the store and outlives what it was read from: own the value, \
                        as `String` owns a text";
            ctxt.error("T011", lifetime, "an entity cannot have a lifetime parameter", help);
            return None;
        }
        let mut generics = generics.clone();
        let types: Vec<Ident> = generics.type_params().map(|it| it.ident.clone()).collect();
        for ty in types {
            generics.make_where_clause().predicates.push(parse_quote!(#ty: 'static));
        }
        Some(Self(generics))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.params.is_empty()
    }

    /// `<T: Property, const N: usize>`, as an `impl` begins.
    pub(crate) fn of_impl(&self) -> TokenStream {
        self.0.split_for_impl().0.to_token_stream()
    }

    /// `<T, N>`, as the type is named.
    pub(crate) fn of_type(&self) -> TokenStream {
        self.0.split_for_impl().1.to_token_stream()
    }

    /// `where T: 'static`, as an `impl` goes on.
    pub(crate) fn of_where(&self) -> TokenStream {
        self.0.split_for_impl().2.to_token_stream()
    }

    /// `T, const N: usize,`: without bounds, for a type beside the entity.
    pub(crate) fn declared(&self) -> TokenStream {
        let declared = self.0.params.iter().map(|parameter| match parameter {
            GenericParam::Const(constant) => {
                let (ident, ty) = (&constant.ident, &constant.ty);
                quote!(const #ident: #ty,)
            }
            GenericParam::Type(ty) => ty.ident.to_token_stream().into_iter().chain(quote!(,)).collect(),
            GenericParam::Lifetime(_) => TokenStream::new(),
        });
        declared.collect()
    }

    /// `T, N,`: what stands for them where such a type is named.
    pub(crate) fn given(&self) -> TokenStream {
        self.names().map(|name| quote!(#name,)).collect()
    }

    /// `, PhantomData<fn() -> (T,)>`: the member that holds the types, if there are any parameters.
    pub(crate) fn held(&self) -> Option<TokenStream> {
        let types = self.0.type_params().map(|it| &it.ident);
        (!self.is_empty()).then(|| quote!(, ::core::marker::PhantomData<fn() -> (#(#types,)*)>))
    }

    /// `, PhantomData`: its value.
    pub(crate) fn holds(&self) -> Option<TokenStream> {
        (!self.is_empty()).then(|| quote!(, ::core::marker::PhantomData))
    }

    /// The parameter that tokens speak of.
    pub(crate) fn named_in(&self, tokens: TokenStream) -> Option<&Ident> {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Ident(ident) => self.names().find(|name| **name == ident),
            TokenTree::Group(group) => self.named_in(group.stream()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        })
    }

    fn names(&self) -> impl Iterator<Item = &Ident> {
        self.0.params.iter().filter_map(|parameter| match parameter {
            GenericParam::Const(constant) => Some(&constant.ident),
            GenericParam::Type(ty) => Some(&ty.ident),
            GenericParam::Lifetime(_) => None,
        })
    }
}
