//! Strings that differ slightly from an encoding. A codec must either reject such a string, or decode it to a value with exactly this encoding.

use crate::key::codec::Form;

/// Returns strings that differ slightly from `text`. Their last character is removed or changed, a character is added at either end, or all letters are in
/// upper or lower case.
pub(super) fn neighbours(text: &str) -> impl Iterator<Item = String> {
    let mut shorter = text.to_owned();
    let last = shorter.pop();
    let others = ['0', '9', 'a', 'z', '-', '"', '~', '/'];
    let changed: Vec<String> = others.iter().map(|other| format!("{shorter}{other}")).collect();
    let longer: Vec<String> = others.iter().map(|other| format!("{text}{other}")).collect();
    let cases = [text.to_uppercase(), text.to_lowercase(), format!("+{text}"), format!(" {text}")];
    last.map(|_| shorter).into_iter().chain(changed).chain(longer).chain(cases)
}

/// The maximum number of encodings used to derive edge cases.
const SAMPLES: usize = 3;

/// Returns the indexes of the first element, the last element, and some elements in between.
pub(super) fn samples(count: usize) -> impl Iterator<Item = usize> {
    let last = count.saturating_sub(1);
    let mut positions: Vec<usize> = (0..SAMPLES).map(|at| last * at / (SAMPLES - 1)).collect();
    positions.dedup();
    positions.into_iter().filter(move |_| count > 0)
}

/// Returns strings at the edges of a fixed-width form. In these strings, one character of `text` is replaced by the alphabet's first, last, next or previous
/// character, or a prefix of `text` is padded with the first or last character.
///
/// Strings with non-ASCII characters and forms of variable width have no such edges.
pub(super) fn edges(form: &Form, text: &str) -> Vec<String> {
    if !form.is_fixed() || !text.is_ascii() {
        return Vec::new();
    }
    let alphabet: Vec<char> = (' '..='~').filter(|character| form.alphabet.contains(*character)).collect();
    let mut edges = Vec::new();
    for (at, own) in text.char_indices() {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        let next = alphabet.iter().find(|other| **other > own);
        let previous = alphabet.iter().rev().find(|other| **other < own);
        let others = [alphabet.first(), previous, next, alphabet.last()];
        edges.extend(others.into_iter().flatten().map(|other| format!("{before}{other}{after}")));
        for end in [alphabet.first(), alphabet.last()].into_iter().flatten() {
            edges.push(before.chars().chain(std::iter::repeat_n(*end, text.len() - at)).collect());
        }
    }
    edges.retain(|edge| edge != text);
    edges.sort();
    edges.dedup();
    edges
}
