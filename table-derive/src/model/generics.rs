//! The generic parameters of an entity: the types and constants on which its properties depend.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    FieldsNamed, GenericArgument, GenericParam, Generics, Ident, ImplGenerics, PathArguments, Type,
    TypeGenerics, WhereClause, parse_quote,
};

use crate::ctxt::Ctxt;
use crate::grammar;

/// A declared type and its arguments, such as `Employee` or `Event<T, N>`. It appends its tokens directly, because
/// creating and copying token streams is slow in an unoptimised macro.
#[derive(Clone)]
pub(crate) struct Declared<'e> {
    pub(crate) ident: &'e Ident,
    pub(crate) arguments: TypeGenerics<'e>,
}

impl ToTokens for Declared<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.ident.to_tokens(tokens);
        self.arguments.to_tokens(tokens);
    }
}

/// Returns the owned equivalent of a borrowed type, such as `String` for `&'a str` and `Cow<'a, str>`. Returns `None` for a type without a lifetime.
fn owned(ty: &Type) -> Option<String> {
    let borrowed = match ty {
        Type::Reference(reference) => &*reference.elem,
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            let has_lifetime =
                arguments.args.iter().any(|argument| matches!(argument, GenericArgument::Lifetime(_)));
            let inner = arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            match inner {
                // Another type of the program has an owned form of the same name.
                None if has_lifetime => return Some(last.ident.to_string()),
                Some(inner) if has_lifetime => inner,
                // The borrowed type may be inside, as in `Option<&'a str>`.
                Some(inner) => return owned(inner).map(|inner| format!("{}<{inner}>", last.ident)),
                None => return None,
            }
        }
        _ => return None,
    };
    Some(match grammar::type_text(borrowed).as_str() {
        "str" => "String".to_owned(),
        "[u8]" => "Vec<u8>".to_owned(),
        other => other.to_owned(),
    })
}

/// The generic parameters, with their declared bounds and the bounds required by an entity.
pub(crate) struct Parameters(Generics);

impl Parameters {
    /// Reads the parameters. Reports an error and returns `None` if they contain a lifetime.
    pub(super) fn read(ctxt: &Ctxt, generics: &Generics, fields: &FieldsNamed) -> Option<Self> {
        if let Some(lifetime) = generics.lifetimes().next() {
            let owned = fields
                .named
                .iter()
                .filter_map(|field| Some(format!("{}: {}", field.ident.as_ref()?, owned(&field.ty)?)));
            let owned: Vec<String> = owned.collect();
            let help = if owned.is_empty() {
                "an entity owns its values: use `String` in place of `&str`, or `Vec<u8>` in place of `&[u8]`"
                    .to_owned()
            } else {
                format!(
                    "an entity owns its values: remove `<{}>`, and declare `{}`",
                    lifetime.lifetime,
                    owned.join(", ")
                )
            };
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

    /// Returns the parameters after `impl`, such as `<T: Property, const N: usize>`.
    pub(crate) fn of_impl(&self) -> ImplGenerics<'_> {
        self.0.split_for_impl().0
    }

    /// Returns the arguments after the name of the type, such as `<T, N>`.
    pub(crate) fn of_type(&self) -> TypeGenerics<'_> {
        self.0.split_for_impl().1
    }

    /// Returns the `where` clause of an `impl` header, such as `where T: 'static`.
    pub(crate) fn of_where(&self) -> Option<&WhereClause> {
        self.0.split_for_impl().2
    }

    /// Returns the parameters of a generated type without bounds, such as `T, const N: usize,`, or `None` if the entity has no parameters.
    pub(crate) fn declared(&self) -> Option<TokenStream> {
        let declared = self.0.params.iter().map(|parameter| match parameter {
            GenericParam::Const(constant) => {
                let (ident, ty) = (&constant.ident, &constant.ty);
                quote!(const #ident: #ty,)
            }
            GenericParam::Type(ty) => ty.ident.to_token_stream().into_iter().chain(quote!(,)).collect(),
            GenericParam::Lifetime(_) => TokenStream::new(),
        });
        (!self.is_empty()).then(|| declared.collect())
    }

    /// Returns the arguments of a generated type, such as `T, N,`, or `None` if the entity has no parameters.
    pub(crate) fn type_arguments(&self) -> Option<TokenStream> {
        (!self.is_empty()).then(|| self.names().map(|name| quote!(#name,)).collect())
    }

    /// Returns the phantom field of a generated type, `, PhantomData<fn() -> (T,)>`, or `None` if the entity has no parameters.
    pub(crate) fn phantom_field(&self) -> Option<TokenStream> {
        let types = self.0.type_params().map(|it| &it.ident);
        (!self.is_empty()).then(|| quote!(, ::core::marker::PhantomData<fn() -> (#(#types,)*)>))
    }

    /// Returns the initializer of the phantom field with a leading comma, `, PhantomData`, or `None` if the entity has no parameters.
    pub(crate) fn phantom_value(&self) -> Option<TokenStream> {
        (!self.is_empty()).then(|| quote!(, ::core::marker::PhantomData))
    }

    /// Returns the first parameter that occurs in the tokens.
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
