//! Parsers for lists in attributes, such as `word, word = value, word(…)`. Each error is reported with the correct syntax, and parsing continues with the next
//! item.

mod text;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, Lit, LitStr, MacroDelimiter, Meta, Token};

use crate::ctxt::{self, Ctxt};
use crate::samples::{key_fields, with_arguments, with_kind, with_names};
use crate::symbol::{self, ENTITY, PARTITION_KEY, ROW_KEY, Symbol};
pub(crate) use text::{items, source, type_text};

/// The keywords accepted by an attribute.
pub(crate) struct Words {
    /// The name of the attribute.
    pub(crate) of: Symbol,
    /// A complete example of the attribute.
    pub(crate) form: &'static str,
    /// The known keywords, each with an example.
    pub(crate) known: &'static [(Symbol, &'static str)],
    /// The keywords of other libraries, each with its help text.
    pub(crate) suggested: &'static [(&'static str, &'static str)],
}

impl Words {
    /// Parses the keywords of an attribute. `read` parses the tokens after each known keyword. Returns `false` if any keyword was invalid.
    pub(crate) fn read(
        &self,
        ctxt: &Ctxt,
        attr: &Attribute,
        read: impl FnMut(&Ident, ParseStream) -> syn::Result<()>,
    ) -> bool {
        self.read_after(ctxt, attr, |_| Ok(()), read)
    }

    /// Parses the keywords of an attribute like [`Self::read`], but calls `check` before each keyword.
    pub(crate) fn read_after(
        &self,
        ctxt: &Ctxt,
        attr: &Attribute,
        check: impl Fn(ParseStream) -> syn::Result<()>,
        mut read: impl FnMut(&Ident, ParseStream) -> syn::Result<()>,
    ) -> bool {
        in_parentheses(ctxt, attr, self.form, |input| {
            list(ctxt, self.of.0, self.form, input, |input| {
                check(input)?;
                self.word(input, &mut read)
            })
        })
        .unwrap_or(false)
    }

    /// Parses one keyword and the tokens after it.
    pub(crate) fn word(
        &self,
        input: ParseStream,
        read: impl FnOnce(&Ident, ParseStream) -> syn::Result<()>,
    ) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        let Some((_, form)) = self.known.iter().find(|(known, _)| word == *known) else {
            return Err(self.unknown(&word, &input.fork()));
        };
        read(&word, input).and_then(|()| end(input)).map_err(|error| misread(&word, form, input, error))
    }

    /// Returns the help text for a keyword that is a known keyword in another spelling, such as `tableName`.
    fn other_spelling(&self, word: &str, arguments: &TokenStream) -> Option<String> {
        let mut spelt = String::with_capacity(word.len() + 1);
        for (at, character) in word.char_indices() {
            spelt.extend((at > 0 && character.is_uppercase()).then_some('_'));
            spelt.push(character.to_ascii_lowercase());
        }
        let find = |(own, form): &(Symbol, &str)| (own.0 == spelt).then(|| format!("write `{form}`"));
        let own = self.known.iter().find_map(find);
        let suggested =
            || self.suggested.iter().find(|(other, _)| *other == spelt).map(|(_, help)| (*help).to_owned());
        own.or_else(suggested)
            .filter(|_| spelt != word)
            .map(|help| with_arguments(&with_kind(&help, arguments), &spelt, arguments))
    }

    /// Returns the help text for a key declared inside `#[entity(…)]`, such as `row_key = "id"`.
    fn key_of(&self, word: &Ident, arguments: &TokenStream) -> Option<String> {
        let is_key = self.of == ENTITY && (word == PARTITION_KEY || word == ROW_KEY);
        let fields = is_key.then(|| key_fields(arguments)).filter(|fields| !fields.is_empty())?;
        Some(format!(
            "a key is a separate attribute above the struct: `#[{word}({})]`",
            fields.join(", \"_\", ")
        ))
    }

    fn unknown(&self, word: &Ident, arguments: ParseStream) -> syn::Error {
        let known = || symbol::known(&word.to_string(), self.known.iter().map(|(known, _)| known.0));
        let arguments = rest(arguments);
        let suggested = self.suggested.iter().find(|(other, _)| word == other);
        let suggested = suggested.map(|(_, suggested)| {
            let help = with_arguments(suggested, &word.to_string(), &arguments);
            // A list of settings contains the name of the type; the value of a setting such as `tag` is the name of a property.
            let is_list = matches!(arguments.clone().into_iter().next(), Some(TokenTree::Group(_)));
            with_names(&if is_list { with_kind(&help, &arguments) } else { help }, &arguments)
        });
        let suggested = self.key_of(word, &arguments).or(suggested);
        let suggested = suggested.or_else(|| self.other_spelling(&word.to_string(), &arguments));
        let is_type = word.to_string().starts_with(char::is_uppercase);
        let names_type = is_type && self.known.iter().any(|(known, _)| *known == symbol::OF);
        let suggested = suggested.or_else(|| names_type.then(|| format!("write `{} = {word}`", symbol::OF)));
        let help = suggested.unwrap_or_else(|| format!("{}; a complete example is `{}`", known(), self.form));
        ctxt::mistake("T001", word, format!("unknown word `{word}` in `{}`", self.of), help)
    }
}

/// Parses the content of an attribute's parentheses. Missing or empty parentheses are errors.
pub(crate) fn in_parentheses<T>(
    ctxt: &Ctxt,
    attr: &Attribute,
    form: impl Form,
    read: impl FnOnce(ParseStream) -> T,
) -> Option<T> {
    if let Meta::List(list) = &attr.meta
        && matches!(list.delimiter, MacroDelimiter::Paren(_))
        && !list.tokens.is_empty()
    {
        let read = |input: ParseStream| Ok(read(input));
        return read.parse2(list.tokens.clone()).map_err(|error| ctxt.push(error)).ok();
    }
    let name = attr.path().get_ident().map(Ident::to_string).unwrap_or_default();
    let form = with_names(&form.text(), &arguments(attr));
    let wrong = match &attr.meta {
        Meta::Path(_) => format!("`{name}` has no arguments"),
        Meta::List(list) if list.tokens.is_empty() => format!("`{name}` has no arguments"),
        _ => format!("`{name}` takes its arguments in parentheses"),
    };
    ctxt.push(ctxt::mistake("T004", attr, wrong, format!("write `{form}`")));
    None
}

/// An example of an attribute, created only if the attribute contains an error.
pub(crate) trait Form {
    fn text(self) -> String;
}

impl Form for &str {
    fn text(self) -> String {
        self.to_owned()
    }
}

impl<F: FnOnce() -> String> Form for F {
    fn text(self) -> String {
        self()
    }
}

/// Returns the tokens after the name of an attribute.
pub(crate) fn arguments(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        Meta::NameValue(pair) => pair.value.to_token_stream(),
    }
}

/// Parses the items of a list. An invalid item is reported, and parsing continues with the next one. Returns `false` if any item was invalid.
pub(crate) fn list(
    ctxt: &Ctxt,
    name: &str,
    form: &str,
    input: ParseStream,
    mut item: impl FnMut(ParseStream) -> syn::Result<()>,
) -> bool {
    let mut sound = true;
    while !input.is_empty() {
        let whole = input.fork();
        if let Err(error) = item(input).and_then(|()| end(input)) {
            sound = false;
            ctxt.push(if is_numbered(&error) {
                error
            } else {
                let rest = rest(if input.is_empty() { &whole } else { input });
                let is_text = syn::parse2::<LitStr>(rest.clone()).is_ok();
                let form = if is_text { with_names(form, &rest) } else { form.to_owned() };
                malformed(name, &form, rest)
            });
        }
        while !input.is_empty() && input.parse::<Option<Token![,]>>().is_ok_and(|comma| comma.is_none()) {
            let _ = input.parse::<TokenTree>();
        }
    }
    sound
}

/// Parses `=` and the value after it.
pub(crate) fn value<T>(input: ParseStream, parse: impl Fn(ParseStream) -> syn::Result<T>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    let ahead = input.fork();
    let value = parse(&ahead)?;
    if may_end(&ahead) || begins_item(&ahead) {
        parse(input)?;
        return Ok(value);
    }
    // If an expression only starts with a valid value, the error covers the entire expression.
    Err(input.error("expected a value"))
}

/// Adds an example of the keyword to a parse error. The new error points at the unparsed tokens after the keyword, or at the keyword if no tokens are left. An
/// error that already has a number is returned unchanged.
pub(crate) fn misread(word: &Ident, form: &str, input: ParseStream, error: syn::Error) -> syn::Error {
    // A comma means that the tokens after the value are superfluous.
    let is_more = input.peek(Token![,]);
    let rest = if is_more { input.fork().parse().unwrap_or_default() } else { rest(input) };
    match rest {
        _ if is_numbered(&error) => error,
        rest if rest.is_empty() => malformed(&word.to_string(), form, word),
        rest => malformed(&word.to_string(), &with_names(&with_kind(form, &rest), &rest), rest),
    }
}

/// Returns the unparsed tokens of an item. If the item is empty, returns the comma after it.
pub(crate) fn rest(input: ParseStream) -> TokenStream {
    let input = input.fork();
    let mut rest = TokenStream::new();
    while !input.is_empty() && (rest.is_empty() || !input.peek(Token![,])) {
        let is_comma = input.peek(Token![,]);
        rest.extend(input.parse::<TokenTree>());
        if is_comma {
            break;
        }
    }
    rest
}

/// Skips the unparsed tokens of an item.
pub(crate) fn skip(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<TokenTree>();
    }
}

/// Returns `true` if an item may end here.
pub(crate) fn may_end(input: ParseStream) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// Returns `true` if the next tokens look like another item without a preceding comma.
fn begins_item(input: ParseStream) -> bool {
    input.peek(Ident::peek_any) || input.peek(Lit)
}

/// Checks that an item ends here.
fn end(input: ParseStream) -> syn::Result<()> {
    if may_end(input) {
        return Ok(());
    }
    if begins_item(input) {
        return Err(ctxt::mistake("T004", rest(input), "expected a comma", "write a comma before this"));
    }
    Err(input.error("expected `,`"))
}

/// Returns `true` if an error already contains its number and a help text.
pub(crate) fn is_numbered(error: &syn::Error) -> bool {
    error.to_string().starts_with("[T")
}

fn malformed(name: &str, form: &str, tokens: impl ToTokens) -> syn::Error {
    let text = source(&tokens.to_token_stream());
    let wrong = if !form.contains(['(', '=']) {
        format!("`{name}` takes no value")
    } else if text == name {
        format!("`{name}` lacks its value")
    } else if text.len() <= 60 {
        format!("`{name}` does not take `{text}`")
    } else {
        format!("malformed `{name}`")
    };
    ctxt::mistake("T004", tokens, wrong, format!("write `{form}`"))
}

/// Returns `true` for a string that can be the name of a field.
pub(crate) fn is_name(text: &str) -> bool {
    syn::parse_str::<Ident>(text).is_ok()
}

/// Returns all names in the tokens, last first. A codec's field follows its arguments, so the last name is the most likely field. Keywords are omitted, because
/// they cannot be field names.
pub(crate) fn names(tokens: TokenStream) -> Vec<Ident> {
    let mut names = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if syn::parse2::<Ident>(ident.to_token_stream()).is_err() => {}
            TokenTree::Ident(ident) => names.insert(0, ident),
            TokenTree::Group(group) => {
                names.splice(0..0, self::names(group.stream()));
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    names
}
