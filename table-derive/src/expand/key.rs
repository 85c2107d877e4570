//! The parts of a key as tokens: types, codecs, arguments, the calls that build its text.

use std::borrow::Cow;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Ident, Type, Visibility, parse_quote_spanned};

use crate::expand::aliases::Aliases;
use crate::model::index::Index;
use crate::model::key::{Key, Part, Piece};
use crate::model::{Entity, Field};

/// A design whose keys are known to be there: that of an entity, or of one of its indexes.
pub(super) struct Design<'e> {
    pub(super) entity: &'e Entity<'e>,
    /// The types named so far.
    pub(super) aliases: &'e Aliases,
    pub(super) partition_key: &'e Key,
    pub(super) row_key: &'e Key,
    /// The index, with its place among them; `None` is the entity itself.
    pub(super) index: Option<(usize, &'e Index)>,
    /// Whether the declaration has mistakes. Its functions have the same names and results then, take values of any type and do
    /// nothing, so that their uses are not reported as well.
    pub(super) stub: bool,
}

/// One field of a key.
pub(super) struct KeyField<'e> {
    pub(super) field: &'e Field<'e>,
    /// What is written: the field's type, or what is in it where an index may lack it.
    pub(super) ty: Cow<'e, Type>,
    /// Whether the value can be absent, which the compiler knows: see `IndexPart`.
    pub(super) may_lack: bool,
    /// The name as text, without `r#`.
    pub(super) name: String,
    /// The type of the codec.
    pub(super) codec: TokenStream,
    /// The names of both types.
    aliases: (Ident, TokenStream),
    /// Whether prefixes of it may be asked for.
    pub(super) may_be_text: bool,
    stub: bool,
    word: &'static str,
}

impl KeyField<'_> {
    /// An item of the trait that writes this type: `<Digits<6> as KeyCodec<u32>>::encode`.
    ///
    /// All tokens stand at the field's type, so that rustc says once, and there, what is wrong with it.
    pub(super) fn item(&self, name: &str) -> TokenStream {
        self.item_of(self.word, name)
    }

    /// An item of another trait of the codec.
    pub(super) fn item_of(&self, word: &str, name: &str) -> TokenStream {
        let span = self.ty.span();
        let (word, name) = (Ident::new(word, span), Ident::new(name, span));
        let (codec, ty) = &self.aliases;
        quote_spanned!(span=> <#codec as __table::#word<#ty>>::#name)
    }

    /// A function of the runtime for the codec and its type: `place::<Digits<6>, u32>`.
    pub(super) fn function(&self, name: &str) -> TokenStream {
        let span = self.ty.span();
        let name = Ident::new(name, span);
        let (codec, ty) = &self.aliases;
        quote_spanned!(span=> __table::#name::<#codec, #ty>)
    }

    /// The argument that is a value of the field: `id: impl KeyArg<u32>`.
    pub(super) fn argument(&self) -> TokenStream {
        let (name, ty) = (self.field.ident, &self.ty);
        if self.stub {
            any()
        } else if self.may_lack {
            // A type that is not part of a key is reported at the field, and not once more for each function.
            quote_spanned!(ty.span()=> #name: impl __table::KeyArg<#ty>)
        } else {
            quote!(#name: impl __table::KeyArg<#ty>)
        }
    }

    /// The same of an argument that is a reference already.
    fn append_borrowed(&self) -> TokenStream {
        let (argument, name, encode) = (self.field.ident, &self.name, self.item("encode"));
        quote_spanned!(self.ty.span()=> .part(#name, #argument, #encode))
    }

    /// The call that appends the value of the argument of the field's name to a key: `.part("id", &id, …::encode)`.
    pub(super) fn append(&self) -> TokenStream {
        let (argument, name, encode) = (self.field.ident, &self.name, self.item("encode"));
        quote_spanned!(self.ty.span()=> .part(#name, &#argument, #encode))
    }
}

impl<'e> Design<'e> {
    pub(super) fn ident(&self) -> &'e Ident {
        &self.entity.original.ident
    }

    pub(super) fn vis(&self) -> &'e Visibility {
        &self.entity.original.vis
    }

    /// The same at a place, for an item whose tokens are all there: rustc reports an item at its beginning.
    pub(super) fn vis_at(&self, span: Span) -> Visibility {
        let mut vis = self.vis().clone();
        match &mut vis {
            Visibility::Public(word) => word.span = span,
            Visibility::Restricted(restricted) => restricted.pub_token.span = span,
            Visibility::Inherited => {}
        }
        vis
    }

    /// The tokens of a part; `None` cannot be, as names are resolved before.
    pub(super) fn field(&self, part: &Part) -> Option<KeyField<'e>> {
        let field = self.entity.fields.get(part.field)?;
        let may_lack = self.index.is_some() && !self.entity.key_needs(part.field) && !part.codec.is_custom();
        let ty = if may_lack {
            let whole = field.ty;
            Cow::Owned(parse_quote_spanned!(whole.span()=> <#whole as __table::IndexPart>::Part))
        } else {
            Cow::Borrowed(field.ty)
        };
        let codec = part.codec.ty(&ty);
        let word = if part.codec.gives_back() { "KeyCodec" } else { "DerivedPart" };
        let (name, may_be_text) = (field.ident.unraw().to_string(), part.codec.may_be_text());
        let span = ty.span();
        let named_codec = self.aliases.name(codec.clone(), span);
        let named = if may_lack {
            self.aliases.name(ty.to_token_stream(), span).into_token_stream()
        } else {
            ty.to_token_stream()
        };
        let aliases = (named_codec, named);
        Some(KeyField { field, ty, may_lack, name, codec, aliases, may_be_text, stub: self.stub, word })
    }

    /// The type of a selection of this class.
    pub(super) fn selection(&self, class: &TokenStream) -> TokenStream {
        self.selection_at(Span::call_site(), class)
    }

    /// The same with its tokens at a place.
    pub(super) fn selection_at(&self, span: Span, class: &TokenStream) -> TokenStream {
        let ty = self.entity.ty();
        if self.index.is_none() {
            return quote_spanned!(span=> __table::Selection<#ty, #class>);
        }
        let source = self.source(span);
        quote_spanned!(span=> __table::Selection<#ty, #class, #source>)
    }

    /// Where the keys of the design are, as a type.
    pub(super) fn source(&self, span: Span) -> TokenStream {
        let Some((_, index)) = self.index else { return quote_spanned!(span=> __table::Primary) };
        let marker = index.marker(self.entity);
        let source = Ident::new(if index.attr.list { "Lists" } else { "Copies" }, span);
        quote_spanned!(span=> __table::#source<#marker>)
    }

    /// The constant that holds the pieces of a key: `__ROW_KEY`.
    pub(super) fn constant(&self, key: &str) -> Ident {
        match self.index {
            None => format_ident!("__{key}"),
            Some((at, _)) => format_ident!("__INDEX_{at}_{key}"),
        }
    }

    /// The constant that holds the pieces of the `PartitionKey`: an index without one has the entity's own.
    pub(super) fn partition_constant(&self) -> Ident {
        match self.index {
            Some((_, index)) if index.partition_key.is_none() => format_ident!("__PARTITION_KEY"),
            _ => self.constant("PARTITION_KEY"),
        }
    }

    /// The function that rows are narrowed from, and the type that it gives: `rows` and `EmployeeRows`.
    pub(super) fn rows_names(&self) -> (Ident, Ident) {
        match self.index {
            None => (format_ident!("rows"), format_ident!("{}Rows", self.ident().unraw())),
            Some((_, index)) => {
                (format_ident!("{}_rows", index.method()), format_ident!("{}Rows", index.marker(self.entity)))
            }
        }
    }

    /// The fields that the values of these keys come from, each once: arguments of a function.
    ///
    /// A field that a bucket alone holds stands where the bucket stands.
    pub(super) fn arguments(&self, keys: &[&Key], with_buckets: bool) -> Vec<TokenStream> {
        let given = |part: &Part| keys.iter().any(|key| key.gives(part.field));
        let mut seen = Vec::new();
        let mut arguments = Vec::new();
        for part in keys.iter().flat_map(|key| key.parts()) {
            let is_asked = with_buckets || !part.codec.is_bucket();
            let stands_here = part.codec.gives_back() || (is_asked && !given(part));
            if !stands_here || seen.contains(&part.field) {
                continue;
            }
            seen.push(part.field);
            let Some(field) = self.field(part) else { continue };
            arguments.push(field.argument());
        }
        arguments.extend(keys.iter().flat_map(|key| (0..key.lost).map(|_| any())));
        arguments
    }

    /// The argument of a function, or one of any type in a stub.
    pub(super) fn takes(&self, argument: TokenStream) -> TokenStream {
        if self.stub { any() } else { argument }
    }

    /// The body of a function, or none in a stub.
    pub(super) fn body(&self, body: TokenStream) -> TokenStream {
        if self.stub { quote!(loop {}) } else { body }
    }

    /// The text of the `PartitionKey` from arguments of the fields' names, as one function for all that select by it:
    /// `fn __partition_key(department: &impl KeyArg<String>) -> KeyText`.
    pub(super) fn partition_text(&self) -> TokenStream {
        let fields = self.partition_fields();
        let arguments = fields.iter().map(|KeyField { field, ty, .. }| {
            let name = field.ident;
            quote!(#name: &impl __table::KeyArg<#ty>)
        });
        let calls = self.partition_key.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => quote!(.literal(#text)),
            Piece::Part(part) => self.field(part).map(|field| field.append_borrowed()).unwrap_or_default(),
        });
        quote! {
            fn __partition_key(#(#arguments),*) -> __table::KeyText {
                __table::KeyText::new() #(#calls)*
            }
        }
    }

    /// The fields that the entity's `PartitionKey` is made of, each once.
    fn partition_fields(&self) -> Vec<KeyField<'e>> {
        let mut seen = Vec::new();
        let parts = self.partition_key.parts().filter(|part| {
            let is_new = !seen.contains(&part.field);
            seen.push(part.field);
            is_new
        });
        parts.filter_map(|part| self.field(part)).collect()
    }

    /// The text of the `PartitionKey` that all functions of a design without buckets, or of one bucket, select by.
    pub(super) fn partition_of_arguments(&self) -> TokenStream {
        if self.index.is_some_and(|(_, index)| index.partition_key.is_some()) {
            return self.text(self.partition_key, false);
        }
        let names = self.partition_fields().into_iter().map(|field| field.field.ident);
        quote!(__partition_key(#(&#names),*))
    }

    /// The calls that build the text of a key from arguments of the fields' names. Buckets are `each` of them, or the
    /// value's own.
    pub(super) fn text(&self, key: &Key, each_bucket: bool) -> TokenStream {
        let start =
            if each_bucket { quote!(__table::KeyTexts::new()) } else { quote!(__table::KeyText::new()) };
        let calls = key.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => quote!(.literal(#text)),
            Piece::Part(part) => {
                let Some(field) = self.field(part) else { return TokenStream::new() };
                if each_bucket && part.codec.is_bucket() && !key.gives(part.field) {
                    let (count, encode) =
                        (field.item_of("Buckets", "COUNT"), field.item_of("Buckets", "encode_bucket"));
                    quote_spanned!(field.ty.span()=> .buckets(#count, #encode))
                } else {
                    field.append()
                }
            }
        });
        quote!(#start #(#calls)*)
    }

    /// Whether the partition cannot be named without a value that only its bucket holds.
    pub(super) fn is_spread(&self) -> bool {
        let key = self.partition_key;
        key.parts().any(|part| part.codec.is_bucket() && !key.gives(part.field))
    }
}

/// An argument of any type.
fn any() -> TokenStream {
    quote!(_: impl ::core::marker::Sized)
}

/// The pieces of a key without their names, from its constant: `&__ROW_KEY.forms`.
pub(super) fn forms(constant: &Ident) -> TokenStream {
    quote!(&#constant.forms)
}

/// A key for people: `` `"empid_" + id` ``.
pub(super) fn spell(key: &Key) -> String {
    let pieces = key.pieces.iter().map(|piece| match piece {
        Piece::Literal(text) => format!("{:?}", text.value()),
        Piece::Part(part) if !part.codec.gives_back() => {
            let word = part.codec.word().map_or("part", |word| word.name);
            format!("{word} of {}", part.name.unraw())
        }
        Piece::Part(part) => part.name.unraw().to_string(),
    });
    format!("`{}`", pieces.collect::<Vec<_>>().join(" + "))
}
