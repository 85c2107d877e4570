//! Lists in attributes, `word, word = value, word(…)`: what is wrong is reported with the form that was meant, and the next item is read.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, Lit, MacroDelimiter, Meta, Token};

use crate::ctxt::{self, Ctxt};
use crate::symbol::{self, Symbol};

/// The words of an attribute.
pub(crate) struct Words {
    /// The attribute.
    pub(crate) of: Symbol,
    /// The whole of it, as an example.
    pub(crate) form: &'static str,
    /// What it knows, each with an example.
    pub(crate) known: &'static [(Symbol, &'static str)],
    /// Words of other libraries, each with the help that says what is meant here.
    pub(crate) meant: &'static [(&'static str, &'static str)],
}

impl Words {
    /// Reads the words of an attribute; `read` takes what follows one that is known. `false` if something was wrong.
    pub(crate) fn read(
        &self,
        ctxt: &Ctxt,
        attr: &Attribute,
        mut read: impl FnMut(&Ident, ParseStream) -> syn::Result<()>,
    ) -> bool {
        in_parentheses(ctxt, attr, self.form, |input| {
            list(ctxt, self.of.0, self.form, input, |input| self.word(input, &mut read))
        })
        .unwrap_or(false)
    }

    /// Reads one word and what follows it.
    pub(crate) fn word(
        &self,
        input: ParseStream,
        read: impl FnOnce(&Ident, ParseStream) -> syn::Result<()>,
    ) -> syn::Result<()> {
        let word = input.call(Ident::parse_any)?;
        let Some((_, form)) = self.known.iter().find(|(known, _)| word == *known) else {
            return Err(self.unknown(&word));
        };
        read(&word, input).and_then(|()| end(input)).map_err(|error| misread(&word, form, input, error))
    }

    fn unknown(&self, word: &Ident) -> syn::Error {
        let known = || symbol::known(&word.to_string(), self.known.iter().map(|(known, _)| known.0));
        let meant = self.meant.iter().find(|(other, _)| word == other).map(|(_, meant)| (*meant).to_owned());
        let help = meant.unwrap_or_else(|| format!("{}; a whole one is `{}`", known(), self.form));
        ctxt::mistake("T001", word, format!("unknown word `{word}` in `{}`", self.of), help)
    }
}

/// Reads what stands in the parentheses of an attribute. An attribute without them, or with nothing in them, is reported.
pub(crate) fn in_parentheses<T>(
    ctxt: &Ctxt,
    attr: &Attribute,
    form: &str,
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
    ctxt.push(not_how(&name, form, attr));
    None
}

/// Reads the items of a list. One that is wrong is reported, and the next one is read; `false` if one was.
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
            ctxt.push(if is_told(&error) {
                error
            } else {
                let rest = rest(if input.is_empty() { &whole } else { input });
                not_how(name, form, rest)
            });
        }
        while !input.is_empty() && input.parse::<Option<Token![,]>>().is_ok_and(|comma| comma.is_none()) {
            let _ = input.parse::<TokenTree>();
        }
    }
    sound
}

/// Reads `= value`.
pub(crate) fn value<T>(input: ParseStream, parse: impl Fn(ParseStream) -> syn::Result<T>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    let ahead = input.fork();
    let value = parse(&ahead)?;
    if may_end(&ahead) || begins_item(&ahead) {
        parse(input)?;
        return Ok(value);
    }
    // An expression that begins like a value: the error stands at the whole of it.
    Err(input.error("expected a value"))
}

/// An error that says how a word is written, at what is left of it or, where nothing is, at the word; but one that says more is kept.
pub(crate) fn misread(word: &Ident, form: &str, input: ParseStream, error: syn::Error) -> syn::Error {
    // A comma with what follows it is what is too much.
    let is_more = input.peek(Token![,]);
    let rest = if is_more { input.fork().parse().unwrap_or_default() } else { rest(input) };
    match rest {
        _ if is_told(&error) => error,
        rest if rest.is_empty() => not_how(&word.to_string(), form, word),
        rest => not_how(&word.to_string(), form, rest),
    }
}

/// What is left of an item; of an empty one, the comma after it.
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

/// Passes over what is left of an item.
pub(crate) fn skip(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<TokenTree>();
    }
}

/// Whether an item may end here.
pub(crate) fn may_end(input: ParseStream) -> bool {
    input.is_empty() || input.peek(Token![,])
}

/// Whether another item seems to begin here, without a comma before it.
fn begins_item(input: ParseStream) -> bool {
    input.peek(Ident::peek_any) || input.peek(Lit)
}

/// That an item ends here.
fn end(input: ParseStream) -> syn::Result<()> {
    if may_end(input) {
        return Ok(());
    }
    if begins_item(input) {
        return Err(ctxt::mistake("T004", rest(input), "expected a comma", "write a comma before this"));
    }
    Err(input.error("expected `,`"))
}

/// Whether an error has its number, and so its help.
pub(crate) fn is_told(error: &syn::Error) -> bool {
    error.to_string().starts_with("[T")
}

fn not_how(name: &str, form: &str, tokens: impl ToTokens) -> syn::Error {
    ctxt::mistake("T004", tokens, format!("this is not how `{name}` is written"), format!("write `{form}`"))
}
