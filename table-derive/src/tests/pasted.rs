//! Tests the code proposed in messages. A message that says "write" shows code for the given declaration. When this code is pasted into the declaration, the
//! macro must accept the result.
//!
//! The code replaces the marked tokens, or an enclosing list item: for example, `id` in `digits(id)`, then `digits(id)`, and then the entire attribute.

use std::fmt::Write;
use std::ops::Range;

use proc_macro2::TokenStream;

use super::wrong::{Case, FILES, cases, expand, reported};

/// Returns the code proposed in a message, or `None` if the message proposes no code, or code with a placeholder.
fn proposed(message: &str) -> Option<&str> {
    let (_, help) = message.split_once("\n\nhelp: write `")?;
    let (code, _) = help.split_once('`')?;
    let is_whole = !["…", "path::To"].iter().any(|placeholder| code.contains(placeholder));
    is_whole.then_some(code)
}

/// Returns the marked range and each enclosing item, up to the attribute.
fn places(text: &str, mark: Range<usize>) -> Vec<Range<usize>> {
    let mut places = vec![mark.clone()];
    let mut inner = mark;
    loop {
        let (start, open) =
            boundary(text.char_indices().rev().skip_while(|(at, _)| *at >= inner.start), true);
        let (end, close) = boundary(text.char_indices().skip_while(|(at, _)| *at < inner.end), false);
        let (Some(open), Some(close)) = (open, close) else { return places };
        places.push(start.map_or(0, |at| at + 1)..end.unwrap_or(text.len()));
        inner = open..close + 1;
        if text[open..].starts_with('[') {
            places.push(open - 1..close + 1);
            return places;
        }
    }
}

/// Returns the position of the next comma or bracket outside nested brackets, and the position of the next enclosing bracket.
fn boundary(
    characters: impl Iterator<Item = (usize, char)>,
    backwards: bool,
) -> (Option<usize>, Option<usize>) {
    let (mut depth, mut first) = (0, None);
    for (at, character) in characters {
        match character {
            ')' | ']' if backwards => depth += 1,
            '(' | '[' if !backwards => depth += 1,
            '(' | '[' | ')' | ']' if depth == 0 => return (first.or(Some(at)), Some(at)),
            '(' | '[' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => first = first.or(Some(at)),
            _ => {}
        }
    }
    (first, None)
}

/// Returns all ways to paste the code: at each enclosing item (without code that is already there), above the struct (replacing an attribute of the same name),
/// and above a field.
fn pasted(case: &Case<'_>, message: &str, code: &str) -> Vec<String> {
    let text = &case.declaration;
    let replaced = |place: Range<usize>, code: &str| {
        let mut pasted = text.clone();
        pasted.replace_range(place, code);
        pasted
    };
    let mut all = Vec::new();
    for place in places(text, case.mark.clone()) {
        let comma = usize::from(text[..place.start].ends_with(','));
        let removed = replaced(place.start - comma..place.end, "");
        all.extend(removed.contains(code).then_some(removed));
        all.push(replaced(place, code));
    }
    // A proposed type replaces the declaration.
    if ["struct ", "enum "].iter().any(|kind| code.contains(kind)) {
        all.push(code.to_owned());
    }
    if message.contains(" above ") {
        let mark = &text[case.mark.clone()];
        let removed = if mark.starts_with('#') { text.replace(mark, "") } else { text.clone() };
        let names: Vec<&str> =
            code.split("#[").skip(1).filter_map(|rest| rest.split(['(', ']']).next()).collect();
        let start = removed.find("struct ").or_else(|| removed.find("enum ")).unwrap_or_default();
        let (above, declared) = removed.split_at(start);
        let others = without_attributes(above, |name| names.contains(&name));
        all.push(format!("{code}\n{others}{declared}"));
        // An error at the first attribute may also be about the attributes of other fields.
        all.push(format!("{code}\n{others}{}", without_attributes(declared, |_| true)));
        let fields = removed.match_indices(['{', ',']).map(|(at, _)| at + 1);
        all.extend(fields.map(|at| format!("{}{code}{}", &removed[..at], &removed[at..])));
    }
    all
}

/// Returns the text without the attributes whose names `is_removed` accepts.
fn without_attributes(text: &str, is_removed: impl Fn(&str) -> bool) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("#[") {
        let mut depth = 0;
        let end = rest[start..].find(|character| {
            depth += i32::from(character == '[') - i32::from(character == ']');
            depth == 0 && character == ']'
        });
        let end = start + end.map_or(rest.len() - start, |end| end + 1);
        let name = rest[start + 2..end]
            .split(|character: char| !character.is_alphanumeric() && character != '_')
            .next();
        kept.push_str(if name.is_some_and(&is_removed) { &rest[..start] } else { &rest[..end] });
        rest = &rest[end..];
    }
    kept + rest
}

fn is_accepted(case: &Case<'_>, message: &str, code: &str) -> bool {
    pasted(case, message, code).into_iter().any(|pasted| {
        let tokens: Option<TokenStream> = pasted.parse().ok();
        tokens.is_some_and(|tokens| {
            let derive = if pasted.contains("EntitySet)]") { "EntitySet" } else { case.derive };
            let expansion = expand(derive, tokens);
            reported(expansion.clone()).is_empty() && syn::parse2::<syn::File>(expansion).is_ok()
        })
    })
}

#[test]
fn code_in_a_message_is_accepted_where_it_is_pasted() {
    let (mut accepted, mut refused) = (0, String::new());
    for case in FILES.iter().flat_map(|(_, file)| cases(file)) {
        let tokens: TokenStream = case.declaration.parse().expect("a declaration is made of tokens");
        let messages = reported(expand(case.derive, tokens));
        let Some(message) = messages.first() else { continue };
        let Some(code) = proposed(&message.text) else { continue };
        if is_accepted(&case, &message.text, code) {
            accepted += 1;
        } else {
            let _ = writeln!(refused, "{} {}\n    {code}", case.number, case.text);
        }
    }
    assert!(accepted > 100, "only {accepted} messages propose code");
    insta::assert_snapshot!("pasted", refused);
}

#[test]
fn code_is_pasted_over_the_mark_and_each_enclosing_item() {
    let text = "#[row_key(a(b, c), d)] struct S";
    let found: Vec<&str> = places(text, 12..13).into_iter().map(|place| &text[place]).collect();
    assert_eq!(found, ["b", "b", "a(b, c)", "row_key(a(b, c), d)", "#[row_key(a(b, c), d)]"]);
}
