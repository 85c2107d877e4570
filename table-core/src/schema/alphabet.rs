//! A short notation for sets of characters, such as `legal`, `[0-9]` and `[-0-9]`.

use crate::key::codec::Alphabet;

const LEGAL: &str = "legal";

/// Formats a set of characters in brackets, as single ASCII characters and ranges. A `-` in the set comes first. `é` represents all non-ASCII characters.
pub(super) fn print(alphabet: Alphabet) -> String {
    if alphabet == Alphabet::LEGAL {
        return LEGAL.to_owned();
    }
    let mut text = "[".to_owned();
    if alphabet.contains('-') {
        text.push('-');
    }
    // A `-` between two characters denotes a range, so `-` itself is excluded from the ranges.
    let runs = alphabet.without('-');
    let mut codes = 0..128u8;
    while let Some(first) = codes.find(|code| runs.contains((*code).into())) {
        let end = (first..128).take_while(|code| runs.contains((*code).into())).last().unwrap_or(first);
        codes = end.saturating_add(1)..128;
        match end - first {
            0 => text.push(first.into()),
            _ => text.extend([first.into(), '-', char::from(end)]),
        }
    }
    if alphabet.contains('é') {
        text.push('é');
    }
    text.push(']');
    text
}

/// Parses the output of [`print`].
pub(super) fn parse(text: &str) -> Option<Alphabet> {
    if text == LEGAL {
        return Some(Alphabet::LEGAL);
    }
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut alphabet = Alphabet::EMPTY;
    let mut rest = inside;
    if let Some(after) = rest.strip_prefix('-') {
        (alphabet, rest) = (alphabet.with('-'), after);
    }
    let mut characters = rest.chars().peekable();
    while let Some(first) = characters.next() {
        alphabet = alphabet.with(first);
        if characters.next_if_eq(&'-').is_some() {
            let last = characters.next()?;
            alphabet = (first..=last).fold(alphabet, Alphabet::with);
        }
    }
    Some(alphabet)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_alphabets_of_codecs_are_printed() {
        assert_eq!(print(Alphabet::LEGAL), "legal");
        assert_eq!(print(Alphabet::DIGITS), "[0-9]");
        assert_eq!(print(Alphabet::DIGITS.with('-')), "[-0-9]");
        assert_eq!(print(Alphabet::of("0123456789abcdef-")), "[-0-9a-f]");
        assert_eq!(print(Alphabet::LEGAL.without('_')), "[- -\"$-,.0->@-[]-^`-~é]");
        assert_eq!(print(Alphabet::EMPTY), "[]");
        assert_eq!(parse("0-9"), None);
    }

    proptest! {
        #[test]
        fn every_alphabet_reads_back(characters in "[ -~é]{0,40}") {
            let alphabet = Alphabet::of(&characters);
            prop_assert_eq!(parse(&print(alphabet)), Some(alphabet), "{}", print(alphabet));
        }
    }
}
