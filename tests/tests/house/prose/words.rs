//! Tests that comments and documentation avoid certain words.

use crate::files::{below, prose};

/// Words to avoid, each with a plainer replacement.
const WORDS: [(&str, &str); 14] = [
    ("nobody", "no caller, no writer, no entity"),
    ("whoever", "the caller, a reader, the owner"),
    ("somebody", "another writer, another worker"),
    ("comes to be", "is created"),
    ("come to be", "are created"),
    ("has to say", "confirms, declares"),
    ("is told", "is reported, receives, is distinguished by"),
    ("are told", "are reported, receive, are distinguished by"),
    ("was told", "received, was given"),
    ("unless told", "by default"),
    ("this number of", "the name of the parameter, such as `count`"),
    ("these many", "the name of the parameter, such as `count`"),
    ("about this time", "the name of the parameter, such as `time`"),
    ("took a time", "the name of the parameter, such as `time`"),
];

/// The words that may follow "is no" and "are no".
const BEHIND_NO: [&str; 7] = ["longer", "more", "less", "slower", "other", "such", "one"];

/// The paths that are exempt, because the words are test values or names of standards there.
const ALLOWED: [&str; 5] =
    ["tests/tests/house/prose", "tests/ui/", "tests/ui_patterns/", "Cargo.toml", "docs/rules/"];

#[test]
fn docs_and_comments_are_in_plain_words() {
    let mut found = Vec::new();
    for (path, text) in below("", &[".rs", ".md"]) {
        if ALLOWED.iter().any(|allowed| path.starts_with(allowed)) {
            continue;
        }
        for (number, line) in prose(&path, &text) {
            let lower = line.to_lowercase();
            for (word, plain) in WORDS.iter().filter(|(word, _)| holds(&lower, word)) {
                found.push(format!("{path}:{number}: `{word}`: {plain}"));
            }
            if is_no(&lower) {
                found.push(format!("{path}:{number}: `is no …`: is not a …, is not …"));
            }
        }
    }
    assert!(found.is_empty(), "{} phrases to be put in plain words:\n{}", found.len(), found.join("\n"));
}

/// Returns `true` if a text contains the word alone. The word must not be in quotes, in a name, or in a longer word.
fn holds(text: &str, word: &str) -> bool {
    let is_end = |character: Option<char>| {
        character.is_none_or(|character| !character.is_alphanumeric() && !"_\"".contains(character))
    };
    text.match_indices(word).any(|(at, _)| {
        is_end(text[..at].chars().next_back()) && is_end(text[at + word.len()..].chars().next())
    })
}

/// Returns `true` if a line contains "is no" before a noun. The phrases "there is no" and "is no longer" are accepted.
fn is_no(text: &str) -> bool {
    ["is no ", "are no "].iter().any(|phrase| {
        text.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (text[..at].trim_end(), &text[at + phrase.len()..]);
            let word = after.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
            let is_word = text[..at].chars().next_back().is_none_or(|character| !character.is_alphanumeric());
            is_word && !before.ends_with("there") && !BEHIND_NO.contains(&word)
        })
    })
}

#[test]
fn the_lint_finds_the_listed_phrases() {
    assert!(is_no("a list without members is no row"));
    assert!(is_no("these are no entities"));
    assert!(!is_no("there is no row") && !is_no("it is no longer there") && !is_no("this notes nothing"));
    assert!(holds("so that nobody waits", "nobody") && !holds("`Some(\"nobody\")`", "nobody"));
}
