//! Codecs of key fields. Converts the words in an attribute to the codec type that the generated code uses.
//!
//! A new codec needs a type in the runtime and one line in [`words`].

pub(crate) mod date_format;
mod forms;
mod parse;
mod suggestions;
mod words;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Ident, LitChar, LitInt, Path, Type};

use crate::symbol;
pub(crate) use parse::{in_attribute, parse_attribute, parse_part, word_of};
pub(crate) use suggestions::suggested;
#[cfg(test)]
pub(crate) use words::all;
pub(crate) use words::{Output, Word, attributes, filled};

/// The codec of a key field.
#[derive(Clone)]
pub(crate) enum Codec {
    /// The default: the codec in the field's attribute or, without one, the codec of the type's `KeyPart` implementation.
    Natural,
    /// The default codec for a level. It escapes the level terminator.
    Level,
    /// A codec word with its arguments.
    Word(Box<Written>),
    /// The path of a user-defined codec type.
    Custom(Path),
    /// The path of a user-defined type that computes a derived part, from which the value cannot be recovered.
    Derived(Path),
}

/// A codec word and its arguments.
#[derive(Clone)]
pub(crate) struct Written {
    pub(crate) word: &'static Word,
    /// The inner codec, such as `digits(6, id)` in `desc(digits(6, id))`.
    inner: Option<Codec>,
    /// The arguments, converted to generic arguments of the codec type.
    arguments: Vec<TokenStream>,
    /// The first numeric argument, such as the `6` in `digits(6, id)`.
    number: Option<LitInt>,
}

impl Codec {
    /// Returns this codec with the default codec replaced by `own`, the codec in the field's attribute.
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

    /// Returns the codec word; `None` if the codec is not a word.
    pub(crate) fn word(&self) -> Option<&'static Word> {
        match self {
            Self::Word(written) => Some(written.word),
            _ => None,
        }
    }

    /// Returns the codec inside the parentheses of this codec.
    pub(crate) fn inner(&self) -> Option<&Self> {
        match self {
            Self::Word(written) => written.inner.as_ref(),
            _ => None,
        }
    }

    /// Returns `true` if the value can be decoded from the key.
    pub(crate) fn is_decodable(&self) -> bool {
        let is_lossy = |word: &Word| matches!(word.output, Output::Derived | Output::Hash | Output::Bucket);
        !matches!(self, Self::Derived(_)) && !self.word().is_some_and(is_lossy)
    }

    /// Returns `true` if the codec discards a part of the value. Hashes and buckets, which only distribute values evenly, do not count.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self, Self::Derived(_)) || self.word().is_some_and(|word| word.output == Output::Derived)
    }

    /// Returns `true` if a derived part with this codec may be nested in another derived part. Custom derived parts may not.
    pub(crate) fn is_source(&self) -> bool {
        self.is_derived() && self.word().is_some()
    }

    /// Returns the codec word, or the word that starts a custom codec or derived part.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Word(written) => written.word.name,
            Self::Derived(_) => symbol::DERIVED.0,
            Self::Natural | Self::Level | Self::Custom(_) => symbol::CODEC.0,
        }
    }

    /// Returns the codec as written around a field: `digits(6, id)`.
    pub(crate) fn form(&self, field: &str) -> String {
        match self {
            Self::Natural | Self::Level => field.to_owned(),
            Self::Word(written) => {
                let form = written.word.form(Some(field));
                form.split('`').next().unwrap_or(&form).to_owned()
            }
            Self::Custom(path) | Self::Derived(path) => {
                let path = path.to_token_stream().to_string().replace(' ', "");
                format!("{}({path}, {field})", self.name())
            }
        }
    }

    /// Returns `true` if this codec may enclose a lossy codec, because it discards even more of the value.
    pub(crate) fn accepts_derived(&self) -> bool {
        !self.is_decodable() && self.word().is_some_and(|word| word.name != "truncate")
    }

    /// Returns the codec's terminator, which is a character that its encoded values cannot contain, or `None` if it has none.
    pub(crate) fn end(&self) -> Option<char> {
        let Self::Word(written) = self else { return None };
        match written.word.name {
            "escaped" => Some('!'),
            "without" => {
                let character =
                    written.arguments.iter().find_map(|it| syn::parse2::<LitChar>(it.clone()).ok());
                character.map(|it| it.value())
            }
            _ => None,
        }
    }

    /// Returns `true` if the codec is a word that writes a string.
    pub(crate) fn writes_text(&self) -> bool {
        let is_text = |word: &Word| word.output == Output::Text || matches!(word.name, "bars" | "base64");
        self.word().is_some_and(is_text)
    }

    /// Returns `true` if the codec is a bucket.
    pub(crate) fn is_bucket(&self) -> bool {
        self.word().is_some_and(|word| word.output == Output::Bucket)
    }

    /// Returns `true` if the codec reverses the order of keys.
    pub(crate) fn reverses_order(&self) -> bool {
        self.word().is_some_and(|word| matches!(word.name, "desc" | "inverted"))
    }

    /// Returns `true` if the codec is a hash, which distributes values evenly.
    pub(crate) fn is_hash(&self) -> bool {
        self.word().is_some_and(|word| word.output == Output::Hash)
    }

    /// Returns the number of buckets, or `None` if the codec is not a bucket.
    pub(crate) fn buckets(&self) -> Option<&LitInt> {
        match self {
            Self::Word(written) if self.is_bucket() => written.number.as_ref(),
            _ => None,
        }
    }

    /// Returns `true` if the arguments of this codec or of its inner codec may be invalid for a field. For all other codecs, no check constant is generated, to
    /// save compile time.
    pub(crate) fn may_fault(&self) -> bool {
        match self {
            Self::Natural | Self::Level => false,
            Self::Custom(_) | Self::Derived(_) => true,
            Self::Word(written) => {
                let may_fault_inside = || match &written.inner {
                    // `desc` needs a fixed width, which the default codec of a user-defined type may lack.
                    Some(Self::Natural) => written.word.name == "desc",
                    Some(inner) => inner.may_fault(),
                    None => false,
                };
                !written.arguments.is_empty() || may_fault_inside()
            }
        }
    }

    /// Returns `true` if the codec may write more digits than a property can store. If so, the compiler checks whether it does.
    pub(crate) fn may_be_finer(&self) -> bool {
        match self {
            Self::Natural | Self::Level | Self::Derived(_) => false,
            Self::Custom(_) => true,
            Self::Word(written) => {
                written.word.name == "pattern" || written.inner.as_ref().is_some_and(Self::may_be_finer)
            }
        }
    }

    /// Returns `true` if the codec encodes timestamps in chronological or reverse chronological order. The default codec is included, so the caller must make
    /// sure that the field is a timestamp.
    pub(crate) fn follows_time(&self) -> bool {
        match self {
            Self::Natural | Self::Level => true,
            Self::Word(written) => match written.word.name {
                "hour" | "week" | "unix" => true,
                "pattern" => written.arguments.iter().any(|argument| argument.to_string().contains("yyyy")),
                "desc" | "inverted" | "truncate" => written.inner.as_ref().is_some_and(Self::follows_time),
                _ => false,
            },
            Self::Custom(_) | Self::Derived(_) => false,
        }
    }

    /// Returns `true` if the codec accepts only timestamps at the start of a minute, an hour or a coarser unit.
    pub(crate) fn is_coarse_time(&self) -> bool {
        let Self::Word(written) = self else { return false };
        let has_seconds = || written.arguments.iter().any(|argument| argument.to_string().contains("ss"));
        match written.word.name {
            "hour" | "week" => true,
            "pattern" => !has_seconds(),
            "desc" | "inverted" => written.inner.as_ref().is_some_and(Self::is_coarse_time),
            _ => false,
        }
    }

    /// Returns the arguments of a time codec and its field, as written in a key: `"yyyyMMdd", at`.
    pub(crate) fn arguments_of(&self, field: &Ident) -> String {
        let text = match self {
            Self::Word(written) => written.arguments.iter().find_map(|argument| {
                let text = argument.to_string();
                let (_, rest) = text.split_once('"')?;
                Some(format!("\"{}\", ", rest.split('"').next()?))
            }),
            _ => None,
        };
        format!("{}{field}", text.unwrap_or_default())
    }

    /// Returns `true` if the codec can encode every timestamp.
    pub(crate) fn is_whole_time(&self) -> bool {
        match self {
            Self::Natural | Self::Level => true,
            Self::Word(written) => match written.word.name {
                "unix" => true,
                "desc" | "inverted" => written.inner.as_ref().is_some_and(Self::is_whole_time),
                _ => false,
            },
            Self::Custom(_) | Self::Derived(_) => false,
        }
    }

    /// Returns `true` if this codec, or the codec inside it, is a custom codec or derived part.
    pub(crate) fn is_custom(&self) -> bool {
        matches!(self, Self::Custom(_) | Self::Derived(_)) || self.inner().is_some_and(Self::is_custom)
    }

    /// Returns `true` if the codec may encode strings, which support prefix queries. For default and custom codecs, the compiler decides.
    pub(crate) fn may_be_text(&self) -> bool {
        !matches!(self, Self::Derived(_)) && self.word().is_none_or(|word| word.output == Output::Text)
    }

    /// Returns `true` if encoded values may differ in length.
    pub(crate) fn may_vary(&self) -> bool {
        self.word().is_none_or(|word| word.output == Output::Text || word.varies)
    }

    /// Returns `true` if every encoded value has the same width and sorts like its value. For other codecs, the generated code checks the order.
    pub(crate) fn is_ordered(&self) -> bool {
        self.word().is_some_and(|word| word.name == "digits")
    }

    /// Returns `true` if the macro can already tell that the part is ordered and ends at this literal, so no compile-time check is needed.
    pub(crate) fn is_ended_by(&self, literal: &str) -> bool {
        literal.starts_with('!') && self.word().is_some_and(|word| word.name == "escaped")
    }

    /// Returns the codec type for a field. All its tokens have the given span, that of the field's type.
    pub(crate) fn ty(&self, field: &Type, span: Span) -> TokenStream {
        match self {
            Self::Natural => quote_spanned!(span=> <#field as __table::KeyPart>::Codec),
            Self::Level => {
                quote_spanned!(span=> <<#field as __table::KeyPart>::Codec as __table::LevelCodec<#field>>::Level)
            }
            Self::Word(written) => {
                let name = Ident::new(written.word.codec, span);
                let inner = written.inner.iter().map(|inner| inner.ty(field, span));
                let parameters: Vec<_> = inner.chain(written.arguments.iter().cloned()).collect();
                let parameters = (!parameters.is_empty()).then(|| quote_spanned!(span=> <#(#parameters),*>));
                quote_spanned!(span=> __table::#name #parameters)
            }
            Self::Custom(path) | Self::Derived(path) => path.to_token_stream(),
        }
    }
}
