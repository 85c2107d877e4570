//! Settings in attributes of other libraries, such as `rename` in `#[serde(rename = "mail")]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr};

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
