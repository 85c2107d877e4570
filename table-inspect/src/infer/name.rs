//! Names for inferred fields and structs.

use std::collections::{HashMap, HashSet};

/// Rust keywords, in lower case.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield", "union",
];

/// Type names used in the printed declarations.
const TYPES: [&str; 9] = ["Self", "Option", "Some", "None", "Vec", "String", "DateTime", "NaiveDate", "Uuid"];

/// The names already used.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// For each name that was requested more than once, the next number to append.
    next: HashMap<String, usize>,
}

impl Names {
    /// Returns an unused name. This is the given name, with a number appended if it is already used.
    pub(super) fn take(&mut self, name: &str) -> String {
        let name = match name {
            // The original text has no character that is allowed in a name.
            "" => "property".to_owned(),
            name if KEYWORDS.contains(&name) => format!("{name}_"),
            name => name.to_owned(),
        };
        if self.taken.insert(name.clone()) {
            return name;
        }
        let next = self.next.entry(name.clone()).or_insert(2);
        loop {
            let numbered = format!("{name}_{next}");
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }

    /// Returns an unused struct name derived from a string such as `empid_`.
    pub(super) fn take_type(&mut self, text: &str) -> String {
        let name = pascal(&snake(text));
        match name.as_str() {
            name if TYPES.contains(&name) => self.take(&format!("{name}Row")),
            name if name.starts_with(|first: char| first.is_ascii_alphabetic()) => self.take(name),
            // A type name cannot be empty or start with a digit.
            name => self.take(&format!("Row{name}")),
        }
    }
}

/// Converts a string to a field name. For example, `EmailAddress` becomes `email_address`.
pub(super) fn snake(text: &str) -> String {
    let mut name = String::new();
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_ascii_alphanumeric() {
            before = None;
            if !name.is_empty() && !name.ends_with('_') {
                name.push('_');
            }
            continue;
        }
        // A word starts at an upper-case letter that follows another character. In a run of upper-case letters, the last one also starts a word if a lower-case
        // letter follows it.
        let ends_capitals = characters.peek().is_some_and(char::is_ascii_lowercase);
        let begins = character.is_ascii_uppercase()
            && before.is_some_and(|before: char| !before.is_ascii_uppercase() || ends_capitals);
        if begins && !name.ends_with('_') {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
        before = Some(character);
    }
    let name = name.trim_end_matches('_');
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("_{name}") } else { name.to_owned() }
}

/// Returns the default property name of a field. For example, `email_address` becomes `EmailAddress`.
pub(super) fn pascal(field: &str) -> String {
    field
        .split('_')
        .flat_map(|word| {
            let mut characters = word.chars();
            characters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(characters)
        })
        .collect()
}
