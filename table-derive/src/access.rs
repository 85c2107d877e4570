//! Diagnostics for malformed `access_patterns!` lists. A declarative macro in `table-core` expands valid lists. Its fallback rules call this module, because
//! only a procedural macro can report errors at the offending tokens.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Nothing, ParseStream, Parser};
use syn::{Attribute, Ident, Token, Type, Visibility, braced, parenthesized, token};

use crate::ctxt::Ctxt;

/// A complete access pattern. Error messages show it as an example.
const QUESTION: &str = "by_id(department: &str, id: u32) <= point = Employee::key(department, id);";
/// The names of the cost ceilings that an access pattern can declare.
const CEILINGS: [&str; 6] = ["point", "range", "partition", "partitions", "fanout", "scan"];

/// Reports every error in an access-pattern list that no rule of `access_patterns!` matches.
pub(crate) fn list(input: TokenStream) -> TokenStream {
    let ctxt = Ctxt::new();
    let unread = "this is not a list of access patterns";
    match Parser::parse2(|input: ParseStream<'_>| read(&ctxt, input), input) {
        Ok(()) if ctxt.is_sound() => ctxt.error_at("T095", Span::call_site(), unread, whole()),
        Ok(()) => {}
        Err(error) => ctxt.error_at("T095", error.span(), unread, whole()),
    }
    ctxt.check().err().map(syn::Error::into_compile_error).unwrap_or_default()
}

/// Reports a missing or unknown cost ceiling. The input is the pattern's name, followed by its ceiling if it has one.
pub(crate) fn ceiling(input: TokenStream) -> TokenStream {
    let ctxt = Ctxt::new();
    let mut tokens = input.into_iter();
    if let Some(TokenTree::Ident(name)) = tokens.next() {
        let written: TokenStream = tokens.collect();
        let ceilings = "`point`, `range`, `partition`, `partitions`, `fanout(n)` or `scan`";
        match written.clone().into_iter().next() {
            None => ctxt.error(
                "T091",
                &name,
                format!("the access pattern `{}` has no ceiling", name.unraw()),
                format!("write the highest cost it may have after its arguments: `{name}(…) <= partition = …`; ceilings are {ceilings}"),
            ),
            Some(_) => ctxt.error(
                "T091",
                &written,
                format!("the access pattern `{}` has an unknown ceiling: `{written}`", name.unraw()),
                format!("ceilings are {ceilings}"),
            ),
        }
    }
    ctxt.check().err().map(syn::Error::into_compile_error).unwrap_or_default()
}

/// Returns the tokens after the first one, each with the span of the first token, so rustc reports errors there.
pub(crate) fn at(input: TokenStream) -> TokenStream {
    let mut tokens = input.into_iter();
    let span = tokens.next().map_or_else(Span::call_site, |token| token.span());
    moved(tokens.collect(), span)
}

fn moved(tokens: TokenStream, to: Span) -> TokenStream {
    let each = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), moved(group.stream(), to)).into();
        }
        // This changes only where errors are reported. Name resolution still uses the original span.
        token.set_span(to.resolved_at(token.span()));
        token
    });
    each.collect()
}

fn whole() -> String {
    format!("write `Office for Employee {{ {QUESTION} }}`")
}

fn read(ctxt: &Ctxt, input: ParseStream<'_>) -> syn::Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    let list: Ident = input.parse()?;
    if !input.peek(Token![for]) {
        let wrong = format!("the access patterns `{list}` have no entity");
        ctxt.error("T095", &list, wrong, format!("write `{list} for Employee {{ … }}`"));
        return input.parse::<TokenStream>().map(drop);
    }
    input.parse::<Token![for]>()?;
    input.parse::<Type>()?;
    let questions;
    braced!(questions in input);
    while !questions.is_empty() {
        if let Err(error) = question(&questions) {
            let wrong = format!("this is not an access pattern: {error}");
            ctxt.error_at("T095", error.span(), wrong, format!("write `{QUESTION}`"));
            while !questions.is_empty() && !questions.peek(Token![;]) {
                questions.parse::<TokenTree>()?;
            }
            if questions.peek(Token![;]) {
                questions.parse::<Token![;]>()?;
            }
        }
    }
    input.parse::<Nothing>().map(drop)
}

/// Parses one access pattern. The caller adds the error number and help text.
fn question(input: ParseStream<'_>) -> syn::Result<()> {
    input.call(Attribute::parse_outer)?;
    for word in ["pub", "fn"] {
        if input.fork().call(Ident::parse_any).is_ok_and(|ident| ident == word) {
            return Err(input.error(format!("it starts with its name, without `{word}`")));
        }
    }
    let name: Ident =
        input.parse().map_err(|error| syn::Error::new(error.span(), "it starts with its name"))?;
    if !input.peek(token::Paren) {
        return Err(syn::Error::new(name.span(), format!("`{name}` has no arguments in parentheses")));
    }
    let arguments;
    parenthesized!(arguments in input);
    arguments.parse_terminated(argument, Token![,])?;
    if input.peek(Token![->]) {
        return Err(input.error("a ceiling follows `<=`"));
    }
    if input.peek(Token![<=]) {
        input.parse::<Token![<=]>()?;
        let ceiling: Ident = input
            .call(Ident::parse_any)
            .map_err(|error| syn::Error::new(error.span(), "a ceiling follows `<=`"))?;
        if input.peek(token::Paren) {
            let most;
            parenthesized!(most in input);
            most.parse::<TokenStream>()?;
        } else if !CEILINGS.iter().any(|known| ceiling == known) && !input.peek(Token![=]) && !is_from(input)
        {
            return Err(syn::Error::new(ceiling.span(), format!("`{ceiling}` is not a ceiling")));
        }
    }
    if is_from(input) {
        input.parse::<Ident>()?;
        input.parse::<Type>()?;
    }
    if !input.peek(Token![=]) || input.peek(Token![==]) || input.peek(Token![=>]) {
        return Err(input.error("its selection follows `=`"));
    }
    input.parse::<Token![=]>()?;
    let mut last = name.span();
    while !input.peek(Token![;]) {
        // A selection cannot contain this token, so it belongs to the next pattern.
        let is_of_next = input.peek(Token![<=]) || (input.peek(Token![=]) && !input.peek(Token![==]));
        if input.is_empty() || is_of_next {
            let span = if is_of_next { name.span() } else { last };
            return Err(syn::Error::new(span, format!("`{name}` does not end in a semicolon")));
        }
        last = input.parse::<TokenTree>()?.span();
    }
    input.parse::<Token![;]>().map(drop)
}

fn argument(input: ParseStream<'_>) -> syn::Result<()> {
    let wanted = |error: syn::Error| syn::Error::new(error.span(), "an argument is a name and a type");
    input.parse::<Ident>().map_err(wanted)?;
    input.parse::<Token![:]>().map_err(wanted)?;
    input.parse::<Type>().map(drop)
}

fn is_from(input: ParseStream<'_>) -> bool {
    input.fork().parse::<Ident>().is_ok_and(|word| word == "from")
}
