//! Examples of codecs in error messages. They contain the field and the number from the user's declaration.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;

use crate::codec::Output;
use crate::codec::words::{self, Word};

/// Returns an example of a codec word with this field. The example of a hash repeats the algorithm and the number of digits from `arguments`. If no number is
/// given, it shows the full number of digits.
pub(super) fn form_for(word: &Word, field: Option<&str>, arguments: ParseStream) -> String {
    let tokens: Vec<TokenTree> = arguments.parse::<TokenStream>().unwrap_or_default().into_iter().collect();
    let named =
        |name: &str| tokens.iter().any(|token| matches!(token, TokenTree::Ident(ident) if ident == name));
    let number = tokens.iter().find(|token| matches!(token, TokenTree::Literal(_))).map(ToString::to_string);
    let algorithm = words::HASH_DIGITS.iter().find(|(name, _)| named(name));
    if word.output != Output::Hash || (algorithm.is_none() && number.is_none()) {
        let form = numbered(&word.form(field), &tokens);
        // `desc` wraps another codec.
        let inside = tokens.iter().any(|token| matches!(token, TokenTree::Ident(name) if name == "desc"));
        return if inside && !word.around { format!("desc({form})") } else { form };
    }
    let [sha256, ..] = words::HASH_DIGITS;
    let (algorithm, digits) = algorithm.unwrap_or(sha256);
    let digits = number.unwrap_or_else(|| digits.to_string());
    format!("hash({algorithm}, {digits}, {})", field.unwrap_or("user"))
}

/// Replaces the sample number in an example with the number in `tokens`, if they contain exactly one.
pub(super) fn numbered(form: &str, tokens: &[TokenTree]) -> String {
    const SAMPLES: [(&str, &str); 4] =
        [("digits(6", "digits("), ("hex(8", "hex("), ("first(3", "first("), (", 16)", ", ")];
    let number = |token: &TokenTree| {
        let text = match token {
            TokenTree::Literal(literal) => literal.to_string(),
            _ => return None,
        };
        text.trim_matches('"').parse::<u8>().ok().filter(|number| *number > 0)
    };
    let mut numbers = tokens.iter().filter_map(number);
    let (Some(number), None) = (numbers.next(), numbers.next()) else { return form.to_owned() };
    SAMPLES.iter().fold(form.to_owned(), |form, (sample, start)| {
        let end = if sample.ends_with(')') { ")" } else { "" };
        form.replace(sample, &format!("{start}{number}{end}"))
    })
}

/// Returns the probable field in a codec's arguments: the first name that is neither a known argument nor a codec.
pub(super) fn field_of(arguments: ParseStream) -> Option<String> {
    field_in(arguments.parse().ok()?)
}

fn field_in(arguments: TokenStream) -> Option<String> {
    let mut tokens = arguments.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_called = matches!(tokens.peek(), Some(TokenTree::Group(_)));
        match token {
            TokenTree::Ident(name) if !is_called && !words::is_word(&name) => {
                return Some(name.unraw().to_string());
            }
            TokenTree::Group(group) => return field_in(group.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    None
}

/// Returns the probable field in the last of a codec's arguments that contains one.
pub(super) fn last_field_of(arguments: ParseStream) -> Option<String> {
    let tokens: Vec<TokenTree> = arguments.parse::<TokenStream>().ok()?.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
    tokens.rsplit(is_comma).find_map(|argument| field_in(argument.iter().cloned().collect()))
}

/// Returns the field of a custom codec: the first one after the first comma.
pub(super) fn field_of_custom(arguments: ParseStream) -> Option<String> {
    let tokens: TokenStream = arguments.parse().ok()?;
    field_in(
        tokens
            .into_iter()
            .skip_while(|token| !matches!(token, TokenTree::Punct(comma) if comma.as_char() == ','))
            .collect(),
    )
}
