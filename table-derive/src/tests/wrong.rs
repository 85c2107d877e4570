//! Tests declarations with one error each. The error must be reported once, with its number and position, and the type must still be expanded.
//!
//! The files in `wrong/` consist of sections. A section contains the derive, a declaration with the placeholder `@`, and, after `--`, one case per line: the
//! error number and the replacement for `@`. `«` and `»` enclose the code marked by the message.

use std::fmt::Write;
use std::ops::Range;

use proc_macro2::{LineColumn, TokenStream, TokenTree};
use syn::parse_quote;

use crate::derive;

/// The test files, each with the name of the snapshot of its messages.
pub(super) const FILES: [(&str, &str); 11] = [
    ("keys", include_str!("wrong/keys.txt")),
    ("entity", include_str!("wrong/entity.txt")),
    ("index", include_str!("wrong/index.txt")),
    ("others", include_str!("wrong/others.txt")),
    ("stranger", include_str!("wrong/stranger.txt")),
    ("newcomer", include_str!("wrong/newcomer.txt")),
    ("elsewhere", include_str!("wrong/elsewhere.txt")),
    ("libraries", include_str!("wrong/libraries.txt")),
    ("types", include_str!("wrong/types.txt")),
    ("first_day", include_str!("wrong/first_day.txt")),
    ("migrant", include_str!("wrong/migrant.txt")),
];

/// A declaration with one error.
pub(super) struct Case<'t> {
    pub(super) derive: &'t str,
    /// The error number.
    pub(super) number: &'t str,
    /// The replacement for `@`, as written in the file.
    pub(super) text: &'t str,
    /// The declaration.
    pub(super) declaration: String,
    /// The byte range between `«` and `»` in the declaration.
    pub(super) mark: Range<usize>,
    /// The start and end of the code that the message must mark.
    place: (LineColumn, LineColumn),
}

/// A message and its position.
pub(super) struct Reported {
    pub(super) text: String,
    place: (LineColumn, LineColumn),
}

pub(super) fn cases(file: &str) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    for section in file.split("== ").skip(1) {
        let (head, lines) = section.split_once("--\n").expect("a section has a declaration and cases");
        let (derive, template) = head.split_once('\n').expect("a section begins with a derive");
        for line in lines.lines().filter(|line| !line.is_empty()) {
            let (number, text) = line.split_once(' ').expect("a case is a number and a text");
            let marked = template.replacen('@', text, 1);
            let place = (position(&marked, '«'), position(&marked, '»'));
            let declaration = marked.replace(['«', '»'], "");
            let bytes = |mark| marked.find(mark).unwrap_or_default();
            let mark = bytes('«')..bytes('»') - '«'.len_utf8();
            cases.push(Case { derive, number, text, declaration, mark, place });
        }
    }
    cases
}

/// Returns the position that a mark would have in the text without marks.
fn position(marked: &str, mark: char) -> LineColumn {
    let (before, _) = marked.split_once(mark).unwrap_or_else(|| panic!("no {mark} in {marked}"));
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().filter(|c| *c != '«').count();
    LineColumn { line, column }
}

/// Expands a declaration with the given derive macro.
pub(super) fn expand(derive: &str, declaration: TokenStream) -> TokenStream {
    let core = || parse_quote!(::table_core);
    let patterns = || parse_quote!(::table_patterns);
    match derive {
        "Entity" => derive::entity(declaration, core),
        "KeyPart" => derive::key_part(declaration, core),
        "Projection" => derive::projection(declaration, core),
        "EntitySet" => derive::entity_set(declaration, core),
        "EntityGroup" => derive::entity_group(declaration, core),
        "Large" => derive::large(declaration, patterns),
        "Wide" => derive::wide(declaration, patterns),
        other => panic!("there is no derive `{other}`"),
    }
}

/// Returns the messages of all `compile_error!` calls in an expansion, in order.
pub(super) fn reported(expansion: TokenStream) -> Vec<Reported> {
    let (mut reported, mut start) = (Vec::new(), None);
    for token in expansion {
        match &token {
            TokenTree::Ident(ident) if *ident == "compile_error" => start = Some(ident.span().start()),
            TokenTree::Group(group) => {
                if let (Some(start), Some(TokenTree::Literal(text))) =
                    (start.take(), group.stream().into_iter().next())
                {
                    let text: syn::LitStr =
                        syn::parse2(TokenTree::from(text).into()).expect("a message is a text");
                    reported.push(Reported { text: text.value(), place: (start, group.span().end()) });
                }
            }
            _ => {}
        }
    }
    reported
}

fn judge(case: &Case<'_>) -> (Vec<Reported>, Option<String>) {
    let tokens: TokenStream = case.declaration.parse().expect("a declaration is made of tokens");
    let expansion = expand(case.derive, tokens);
    let parsed = syn::parse2::<syn::File>(expansion.clone()).err();
    let reported = reported(expansion);
    let wrong = match reported.as_slice() {
        _ if parsed.is_some() => Some(format!("expanded to what is not Rust: {parsed:?}")),
        [] => Some("not reported".to_owned()),
        [one] if !one.text.starts_with(&format!("[{}] ", case.number)) => {
            Some("another number, or none".to_owned())
        }
        [one] if !one.text.contains("\n\nhelp: ") => Some("no help".to_owned()),
        [one] if one.place != case.place => {
            Some(format!("reported at {:?} and not at {:?}", one.place, case.place))
        }
        [_] => None,
        more => Some(format!("reported {} times", more.len())),
    };
    (reported, wrong)
}

#[test]
fn each_mistake_is_reported_once_with_its_number_and_position() {
    let mut wrong = String::new();
    let mut count = 0;
    for (name, file) in FILES {
        let mut messages = String::new();
        for case in cases(file) {
            count += 1;
            let (reported, fault) = judge(&case);
            for reported in &reported {
                let _ = writeln!(messages, "{}\n    {}", case.text, reported.text.replace("\n\n", "\n    "));
            }
            if let Some(fault) = fault {
                let _ = writeln!(wrong, "{} {}: {fault}", case.number, case.text);
                for reported in reported {
                    let _ = writeln!(wrong, "    {}", reported.text.replace("\n\n", " | "));
                }
            }
        }
        insta::assert_snapshot!(name, messages);
    }
    let faults = wrong.lines().filter(|line| !line.starts_with(' ')).count();
    assert!(wrong.is_empty(), "{faults} of {count}\n{wrong}");
}
