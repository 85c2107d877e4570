//! How a field is written in a key: one model, from the words of an attribute to the type that is expanded.
//!
//! A new codec is a type of the runtime and one line of [`words`].

mod parse;
mod words;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, LitInt, Path, Type};

pub(crate) use parse::{in_attribute, meant, parse_attribute, parse_part, word_of};
#[cfg(test)]
pub(crate) use words::all;
pub(crate) use words::{Gives, Word, attributes};

/// How a field is written.
#[derive(Clone)]
pub(crate) enum Codec {
    /// As its type's `KeyPart` says, or the field's own attribute.
    Natural,
    /// As the type's `KeyPart` says, without the character that ends a level.
    Level,
    /// By a word of the language.
    Word(Box<Written>),
    /// By a codec of the user's.
    Custom(Path),
}

/// A word as it is written.
#[derive(Clone)]
pub(crate) struct Written {
    pub(crate) word: &'static Word,
    /// What it is written around: `desc(digits(6, id))`.
    inner: Option<Codec>,
    /// Its arguments, as parameters of its type.
    arguments: Vec<TokenStream>,
    /// The argument that is a number.
    number: Option<LitInt>,
}

impl Codec {
    /// The codec where its field has one of its own, which stands where none is named.
    pub(crate) fn or_own(&self, own: Option<&Self>) -> Self {
        match self {
            Self::Natural => own.cloned().unwrap_or(Self::Natural),
            Self::Word(written) => {
                let inner = written.inner.as_ref().map(|inner| inner.or_own(own));
                Self::Word(Box::new(Written { inner, ..(**written).clone() }))
            }
            other => other.clone(),
        }
    }

    /// The word, if it is one.
    pub(crate) fn word(&self) -> Option<&'static Word> {
        match self {
            Self::Word(written) => Some(written.word),
            _ => None,
        }
    }

    /// What stands in the parentheses.
    pub(crate) fn inner(&self) -> Option<&Self> {
        match self {
            Self::Word(written) => written.inner.as_ref(),
            _ => None,
        }
    }

    /// Whether the value can be read back from its text.
    pub(crate) fn gives_back(&self) -> bool {
        !self.word().is_some_and(|word| matches!(word.gives, Gives::Derived | Gives::Hash | Gives::Bucket))
    }

    /// Whether it cuts the value, without spreading it.
    pub(crate) fn is_derived(&self) -> bool {
        self.word().is_some_and(|word| word.gives == Gives::Derived)
    }

    /// Whether it may be made of what cuts the value: it says less, itself.
    pub(crate) fn takes_derived(&self) -> bool {
        !self.gives_back() && self.word().is_some_and(|word| word.name != "truncate")
    }

    /// Whether it spreads values over buckets.
    pub(crate) fn is_bucket(&self) -> bool {
        self.word().is_some_and(|word| word.gives == Gives::Bucket)
    }

    /// Whether it is there for the order of the keys: it is written the other way round.
    pub(crate) fn sorts(&self) -> bool {
        self.word().is_some_and(|word| matches!(word.name, "desc" | "inverted"))
    }

    /// Whether it is a hash, whose values are spread evenly.
    pub(crate) fn is_hash(&self) -> bool {
        self.word().is_some_and(|word| word.gives == Gives::Hash)
    }

    /// The number of its buckets.
    pub(crate) fn buckets(&self) -> Option<&LitInt> {
        match self {
            Self::Word(written) if self.is_bucket() => written.number.as_ref(),
            _ => None,
        }
    }

    /// Whether its parameters may not go with a field. The constant of what cannot be wrong costs the compiler.
    pub(crate) fn may_fault(&self) -> bool {
        match self {
            Self::Natural | Self::Level => false,
            Self::Custom(_) => true,
            Self::Word(written) => {
                !written.arguments.is_empty() || written.inner.as_ref().is_some_and(Self::may_fault)
            }
        }
    }

    /// Whether a codec of the user's writes the value.
    pub(crate) fn is_custom(&self) -> bool {
        matches!(self, Self::Custom(_)) || self.inner().is_some_and(Self::is_custom)
    }

    /// Whether it may be a codec of texts, so that prefixes can be asked for. The natural codec of a type and a codec of
    /// the user's may be: the compiler reports it.
    pub(crate) fn may_be_text(&self) -> bool {
        self.word().is_none_or(|word| word.gives == Gives::Text)
    }

    /// Whether its texts may have several lengths.
    pub(crate) fn may_vary(&self) -> bool {
        self.word().is_none_or(|word| word.gives == Gives::Text || word.varies)
    }

    /// The type of the codec, all tokens at that of the field.
    pub(crate) fn ty(&self, field: &Type) -> TokenStream {
        let span = field.span();
        match self {
            Self::Natural => quote_spanned!(span=> <#field as __table::KeyPart>::Codec),
            Self::Level => {
                quote_spanned!(span=> <<#field as __table::KeyPart>::Codec as __table::LevelCodec<#field>>::Level)
            }
            Self::Word(written) => {
                let name = Ident::new(written.word.codec, span);
                let inner = written.inner.iter().map(|inner| inner.ty(field));
                let parameters: Vec<_> = inner.chain(written.arguments.iter().cloned()).collect();
                let parameters = (!parameters.is_empty()).then(|| quote_spanned!(span=> <#(#parameters),*>));
                quote_spanned!(span=> __table::#name #parameters)
            }
            Self::Custom(path) => path.to_token_stream(),
        }
    }
}
