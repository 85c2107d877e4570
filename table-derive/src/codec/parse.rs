//! Parser for one key part: `id`, `digits(6, id)`, `desc(digits(6, id))`, `bucket(id, 16)`, `codec(path::To, id)`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Lit, LitChar, LitInt, LitStr, Path, Token, parenthesized, token};

use crate::codec::date_format;
use crate::codec::forms::{field_of, field_of_custom, form_for, last_field_of, numbered};
use crate::codec::suggestions::{suggested, suggested_form};
use crate::codec::words::{self, Argument, WORDS, Word};
use crate::codec::{Codec, Output, Written};
use crate::ctxt::{Ctxt, mistake};
use crate::grammar::{self, in_parentheses, misread, rest};
use crate::symbol::{self, CODEC, DERIVED};

/// Parses a field and its codec. Reports an error and returns `None` if the codec word is unknown.
pub(crate) fn parse_part(ctxt: &Ctxt, input: ParseStream) -> syn::Result<Option<(Ident, Codec)>> {
    let name = input.call(Ident::parse_any)?;
    if !input.peek(token::Paren) {
        return Ok(Some((name, Codec::Natural)));
    }
    let content;
    parenthesized!(content in input);
    let content = &content;
    let field = match words::find(&name) {
        // A bucket's first argument is its field. In other codecs, names such as an unquoted format may precede the field.
        Some(word) if word.output != Output::Bucket => last_field_of(&content.fork()),
        _ => field_of(&content.fork()),
    };
    let (form, part) = if name == CODEC || name == DERIVED {
        let field = field_of_custom(&content.fork());
        let form = format!("{name}(path::To, {})", field.as_deref().unwrap_or("field"));
        (form, parse_custom(content, if name == CODEC { Codec::Custom } else { Codec::Derived }))
    } else if let Some(word) = words::find(&name) {
        (form_for(word, field.as_deref(), &content.fork()), parse_word(ctxt, word, content))
    } else {
        let field = if name == "computed" { field_of_custom(&content.fork()) } else { field };
        let known = WORDS.iter().map(|word| word.name).chain([CODEC.0, DERIVED.0]);
        let help = suggested(&name, field.as_deref()).map(|help| {
            let arguments: TokenStream = content.fork().parse().unwrap_or_default();
            numbered(&help, &arguments.into_iter().collect::<Vec<_>>())
        });
        let help = help.unwrap_or_else(|| symbol::known(&name.to_string(), known));
        ctxt.error("T001", &name, format!("unknown codec `{name}`"), help);
        content.parse::<TokenStream>()?;
        return Ok(None);
    };
    let end = |part| if content.is_empty() { Ok(part) } else { Err(content.error("unexpected token")) };
    let part = part.and_then(end).map_err(|error| misread(&name, &form, content, error));
    if part.is_err() {
        // Consume the remaining tokens, which syn would otherwise report a second time.
        content.parse::<TokenStream>()?;
    }
    part
}

/// Returns the codec word of an attribute such as `#[digits(6)]`, or `None` if the attribute does not declare a codec.
pub(crate) fn word_of(attr: &Attribute) -> Option<&'static Word> {
    words::attributes().find(|word| attr.path().is_ident(word.name))
}

/// Parses a codec attribute such as `#[digits(6)]`. Reports an error and returns `None` if the attribute is invalid.
pub(crate) fn parse_attribute(ctxt: &Ctxt, attr: &Attribute, word: &'static Word) -> Option<Codec> {
    let form = || {
        let tokens: Vec<TokenTree> = grammar::arguments(attr).into_iter().collect();
        numbered(&format!("#[{}]", in_attribute(word)), &tokens)
    };
    let arguments = if word.arguments.is_empty() {
        let is_alone = attr.meta.require_path_only().is_ok();
        if !is_alone {
            let wrong = format!("`{}` takes no arguments", word.name);
            ctxt.error("T004", attr, wrong, format!("write `{}`", form()));
        }
        is_alone.then(|| (Vec::new(), None))
    } else {
        in_parentheses(ctxt, attr, form, |input| {
            let arguments = parse_arguments(word, input, false);
            let end = |it| if input.is_empty() { Ok(it) } else { Err(input.error("unexpected token")) };
            let name = attr.path().get_ident()?;
            let arguments = arguments.and_then(end).map_err(|error| misread(name, &form(), input, error));
            let arguments = arguments.map_err(|error| ctxt.push(error)).ok();
            let _ = input.parse::<TokenStream>();
            arguments
        })
        .flatten()
    };
    let codec = |(arguments, number)| Codec::Word(Box::new(Written { word, inner: None, arguments, number }));
    arguments.map(codec)
}

/// Returns the example of a codec word in attribute form: `digits(6)` for `digits(6, id)`.
pub(crate) fn in_attribute(word: &Word) -> String {
    let form = word.form(None);
    let whole = form.split('`').next().unwrap_or(&form);
    match whole.rsplit_once(", ") {
        Some((before, _)) if !word.arguments.is_empty() => format!("{before})"),
        _ => word.name.to_owned(),
    }
}

fn parse_custom(input: ParseStream, codec: fn(Path) -> Codec) -> syn::Result<Option<(Ident, Codec)>> {
    let path = input.call(Path::parse_mod_style)?;
    if input.peek(Token![<]) {
        let help = "define an alias, `type Day = Pattern<…>;`, and write `codec(Day, field)`";
        return Err(mistake("T004", rest(input), "a codec is named without generic arguments", help));
    }
    input.parse::<Token![,]>()?;
    Ok(Some((input.call(Ident::parse_any)?, codec(path))))
}

fn parse_word(ctxt: &Ctxt, word: &'static Word, input: ParseStream) -> syn::Result<Option<(Ident, Codec)>> {
    let written =
        |inner, (arguments, number)| Codec::Word(Box::new(Written { word, inner, arguments, number }));
    if word.output == Output::Bucket {
        let part = parse_part(ctxt, input)?;
        input.parse::<Token![,]>()?;
        let arguments = parse_arguments(word, input, false)?;
        return Ok(part.map(|(field, inner)| (field, written(Some(inner), arguments))));
    }
    let arguments = parse_arguments(word, input, true)?;
    if word.around {
        let part = parse_part(ctxt, input)?;
        return Ok(part.map(|(field, inner)| (field, written(Some(inner), arguments))));
    }
    Ok(Some((input.call(Ident::parse_any)?, written(None, arguments))))
}

/// Parses the arguments of a codec word. Returns all of them as generic arguments, and the numeric argument separately. If `more` is `true`, a comma follows
/// each argument.
fn parse_arguments(
    word: &Word,
    input: ParseStream,
    more: bool,
) -> syn::Result<(Vec<TokenStream>, Option<LitInt>)> {
    let (mut tokens, mut number) = (Vec::new(), None);
    for (at, argument) in word.arguments.iter().enumerate() {
        if let Argument::OneOf(words, true) = argument
            && !(input.peek(Ident::peek_any) && (!more || input.peek2(Token![,])))
            && (more || input.is_empty())
        {
            tokens.extend(words.first().and_then(|(_, tokens)| tokens.parse().ok()));
            continue;
        }
        if at > 0 && !more {
            input.parse::<Token![,]>()?;
        }
        tokens.push(match argument {
            Argument::Number(least, most) => {
                let literal = parse_number(word, input, *least, *most)?;
                number = Some(literal.clone());
                literal.into_token_stream()
            }
            Argument::Character if input.peek(LitChar) => input.parse::<LitChar>()?.into_token_stream(),
            Argument::Character => return Err(input.error("expected a character")),
            Argument::Pattern => parse_pattern(input)?,
            Argument::OneOf(words, _) => parse_one_of(word, words, input, more)?,
        });
        if more {
            input.parse::<Token![,]>()?;
        }
    }
    Ok((tokens, number))
}

fn parse_number(word: &Word, input: ParseStream, least: u128, most: u128) -> syn::Result<LitInt> {
    // Any other literal is left unparsed, so the error points at it.
    if input.peek(Lit) && !input.peek(LitInt) {
        return Err(input.error("expected a number"));
    }
    let number: LitInt = input.parse()?;
    if number.base10_parse::<u128>().is_ok_and(|number| (least..=most).contains(&number)) {
        return Ok(number);
    }
    let message = if word.output == Output::Bucket {
        format!(
            "[T036] `bucket` takes a number of buckets from {least} to {most}\n\nhelp: choose as many partitions as the write load needs; a read of all buckets \
             sends one request for each: `bucket(user, 16)`"
        )
    } else if word.name == "digits" {
        let field = field_of(&input.fork());
        let form = field.map_or_else(|| "#[digits(6)]".to_owned(), |field| format!("digits(6, {field})"));
        format!(
            "[T004] `digits` takes a number from 1 to 39\n\nhelp: write `{form}` for values of at most 6 digits: 223 is written as `000223`"
        )
    } else {
        format!(
            "[T004] `{}` takes a number from {least} to {most}\n\nhelp: write `{}`",
            word.name,
            word.form(None)
        )
    };
    Err(syn::Error::new_spanned(&number, message))
}

fn parse_one_of(
    word: &Word,
    words: &[(&str, &str)],
    input: ParseStream,
    is_in_key: bool,
) -> syn::Result<TokenStream> {
    // A .NET format is in quotes: `guid("N", id)`.
    let quoted = input.fork().parse::<LitStr>().ok().and_then(|text| text.parse_with(Ident::parse_any).ok());
    if let Some(name) = quoted {
        let field = is_in_key.then(|| last_field_of(&input.fork()));
        let help =
            suggested_form(word.name, &name, field.as_ref().map(|field| field.as_deref().unwrap_or("field")));
        if let Some(help) = help {
            let text: LitStr = input.parse()?;
            return Err(mistake("T001", text, format!("unknown word `{name}` in `{}`", word.name), help));
        }
    }
    let name = input.call(Ident::parse_any)?;
    let found = words.iter().find(|(word, _)| name == *word).and_then(|(_, tokens)| tokens.parse().ok());
    found.ok_or_else(|| {
        // If no field follows, the unknown word itself is probably the field.
        let field = field_of(&input.fork()).or_else(|| is_in_key.then(|| name.unraw().to_string()));
        let field_in_key = is_in_key.then(|| field.as_deref().unwrap_or("field"));
        let help = suggested_form(word.name, &name, field_in_key).unwrap_or_else(|| {
            let known = symbol::known(&name.to_string(), words.iter().map(|(word, _)| *word));
            let form =
                if is_in_key { word.form(field.as_deref()) } else { format!("#[{}]", in_attribute(word)) };
            let feature =
                if word.name == "hash" { "; `sha256` and `md5` need the feature `hashes`" } else { "" };
            format!("{known}; write `{form}`{feature}")
        });
        mistake("T001", &name, format!("unknown word `{name}` in `{}`", word.name), help)
    })
}

/// Parses a date pattern into `{ __table::pattern("yyyy-MM-dd") }`. Letters are checked here because rustc would report an invalid letter
/// once per use.
fn parse_pattern(input: ParseStream) -> syn::Result<TokenStream> {
    let text: LitStr = input.parse()?;
    let value = text.value();
    let form = match field_of(&input.fork()) {
        Some(field) => format!("pattern(\"yyyy-MM-dd\", {field})"),
        None => "#[pattern(\"yyyy-MM-dd\")]".to_owned(),
    };
    if let Some(letter) = date_format::illegal(&value) {
        let message = format!(
            "[T008] `{letter}` is not allowed in a date pattern\n\nhelp: {}",
            date_format::pattern(&value).map_or_else(
                || format!(
                    "write `{form}`: a pattern consists of `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss`, `f`, digits, and the separators `- _ : . , T Z` or a space"
                ),
                |right| format!("a pattern has the units of .NET: write `{}`", form.replace("yyyy-MM-dd", &right)),
            )
        );
        return Err(syn::Error::new_spanned(&text, message));
    }
    let (month, minute) = (value.contains("MM"), value.contains("mm"));
    if minute && !month && value.contains("yyyy") {
        let right = value.replacen("mm", "MM", 1);
        let right = form.replace("yyyy-MM-dd", &right);
        let message = format!(
            "[T008] `mm` is the minute in this pattern, and the month is missing\n\nhelp: the month is `MM`: write `{right}`"
        );
        return Err(syn::Error::new_spanned(&text, message));
    }
    if value.is_empty() {
        let message = format!("[T008] this pattern is empty\n\nhelp: write `{form}`");
        return Err(syn::Error::new_spanned(&text, message));
    }
    Ok(quote!({ __table::pattern(#text) }))
}
