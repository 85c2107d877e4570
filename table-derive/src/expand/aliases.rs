//! Short aliases for types that an expansion repeats.

use std::cell::RefCell;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Type, parse_quote_spanned};

use crate::codec::Codec;
use crate::model::Field;
use crate::model::key::Part;

/// Types and their aliases, in the order of first use.
#[derive(Default)]
pub(super) struct Aliases {
    types: RefCell<Vec<(String, TokenStream)>>,
    /// The parts that were named before. An expansion names each part many times, and printing or parsing a type takes long in an unoptimised macro.
    parts: RefCell<Vec<(PartId, PartNames)>>,
}

/// A part of a key, as identified by its field and codec; `true` for a part of an index, whose value may be absent.
type PartId = (usize, Rc<Codec>, bool);

/// The types of a part of a key.
#[derive(Clone)]
pub(super) struct PartNames {
    /// The type that is written, unless it is the type of the field.
    pub(super) ty: Option<Type>,
    /// The codec type.
    pub(super) codec: TokenStream,
    /// The alias of the codec type, and the written type or its alias.
    pub(super) aliases: (Ident, TokenStream),
}

impl Aliases {
    /// Returns the types of a part.
    pub(super) fn part(&self, field: &Field<'_>, part: &Part, may_lack: bool) -> PartNames {
        let is_same = |(at, codec, lacks): &PartId| {
            *at == part.field && *lacks == may_lack && Rc::ptr_eq(codec, &part.codec)
        };
        let known = self.parts.borrow().iter().find(|(id, _)| is_same(id)).map(|(_, names)| names.clone());
        known.unwrap_or_else(|| {
            let names = self.named(field.ty, &part.codec, may_lack);
            let id = (part.field, Rc::clone(&part.codec), may_lack);
            self.parts.borrow_mut().push((id, names.clone()));
            names
        })
    }

    fn named(&self, whole: &Type, codec: &Codec, may_lack: bool) -> PartNames {
        let span = whole.span();
        if !may_lack {
            let codec = codec.ty(whole);
            let alias = self.name(codec.clone(), span);
            return PartNames { ty: None, codec, aliases: (alias, whole.to_token_stream()) };
        }
        let ty: Type = parse_quote_spanned!(span=> <#whole as __table::IndexPart>::Part);
        let codec = codec.ty(&ty);
        let alias = self.name(codec.clone(), ty.span());
        let written = self.name(ty.to_token_stream(), ty.span()).into_token_stream();
        PartNames { ty: Some(ty), codec, aliases: (alias, written) }
    }

    /// Returns the alias of a type, with the given span.
    fn name(&self, ty: TokenStream, span: Span) -> Ident {
        let (mut types, text) = (self.types.borrow_mut(), ty.to_string());
        let at = types.iter().position(|(known, _)| *known == text).unwrap_or_else(|| {
            types.push((text, ty));
            types.len() - 1
        });
        let mut name = name(at);
        name.set_span(span);
        name
    }

    /// Generates `type __Type0 = Digits<6>;` for each alias.
    pub(super) fn items(&self) -> TokenStream {
        let types = self.types.borrow();
        let items = types.iter().enumerate().map(|(at, (_, ty))| {
            let name = name(at);
            quote!(type #name = #ty;)
        });
        quote!(#(#items)*)
    }
}

fn name(at: usize) -> Ident {
    format_ident!("__Type{at}")
}
