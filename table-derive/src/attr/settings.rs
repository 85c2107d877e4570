//! Settings in attributes of other libraries, such as `rename` in `#[serde(rename = "mail")]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Ident, LitStr};

/// A setting in an attribute, and its value.
pub(crate) struct Setting {
    /// The setting's name, such as `rename`.
    pub(crate) word: String,
    /// The tokens after the setting's name, without the `=`.
    pub(crate) value: TokenStream,
}

impl Setting {
    /// Returns the value if it is a string literal.
    pub(crate) fn text(&self) -> Option<String> {
        syn::parse2::<LitStr>(self.value.clone()).ok().map(|text| text.value())
    }

    /// Returns the value if it is a string literal or an identifier.
    pub(crate) fn name(&self) -> Option<String> {
        self.text().or_else(|| syn::parse2::<Ident>(self.value.clone()).ok().map(|name| name.to_string()))
    }
}

/// The effect of a setting in its own library.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    Skips,
    Flattens,
    Renames,
    Converts,
    Defaults,
}

/// The settings that, in their own libraries, change the stored value of a field, each with its effect.
const OF_FIELDS: &[(&[&str], Effect)] = &[
    (&["skip", "skip_serializing", "skip_deserializing", "ignore"], Effect::Skips),
    (&["flatten", "embed"], Effect::Flattens),
    (&["rename", "column_name", "alias"], Effect::Renames),
    (
        &["with", "serialize_with", "deserialize_with", "serialize_as", "deserialize_as", "json"],
        Effect::Converts,
    ),
    (&["default"], Effect::Defaults),
];

/// Returns the effect of a setting with this name.
pub(crate) fn effect_of(word: &str) -> Option<Effect> {
    OF_FIELDS.iter().find(|(words, _)| words.contains(&word)).map(|(_, effect)| *effect)
}

/// Returns the first setting that changes the stored value of a field, and its effect.
pub(crate) fn effect(settings: &[Setting]) -> Option<(&Setting, Effect)> {
    OF_FIELDS.iter().find_map(|(words, effect)| {
        let is_meant = |setting: &&Setting| words.contains(&setting.word.as_str());
        Some((settings.iter().find(is_meant)?, *effect))
    })
}

/// Returns the settings in an attribute. Errors in the attribute are left to its own library to report.
pub(crate) fn of(attribute: &Attribute) -> Vec<Setting> {
    let mut settings = Vec::new();
    let _ = attribute.parse_nested_meta(|meta: ParseNestedMeta<'_>| {
        let mut value = TokenStream::new();
        while !meta.input.is_empty() && !meta.input.peek(syn::Token![,]) {
            let token: TokenTree = meta.input.parse()?;
            let is_sign = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '=');
            value.extend((!is_sign || !value.is_empty()).then_some(token));
        }
        let word = meta.path.to_token_stream().to_string();
        settings.push(Setting { word, value });
        Ok(())
    });
    settings
}

/// Returns the first setting with the name `word` in the attributes of `library`, and the attribute that contains it.
pub(crate) fn find<'a>(
    attributes: &'a [Attribute],
    library: &str,
    word: &str,
) -> Option<(&'a Attribute, Setting)> {
    attributes.iter().filter(|attribute| attribute.path().is_ident(library)).find_map(|attribute| {
        of(attribute).into_iter().find(|setting| setting.word == word).map(|setting| (attribute, setting))
    })
}
