//! The tokens of a pattern. They are packed into one number, which can be a const parameter.

use crate::key::codec::name::Name;

/// A token of a pattern. Units are numbered from 0 (the year) to 6 (the fraction of a second).
#[derive(Clone, Copy)]
pub(super) enum Token {
    Literal(char),
    Unit(u8),
    Fraction(u8),
}

const BITS: u32 = 5;
/// The code of a fractional digit in a packed pattern. Smaller codes are date and time units, from 1 for `yyyy` to 6 for `ss`. Larger codes are literals.
const FRACTION: u8 = 7;
const LITERALS: &[u8] = b"-_:.,TZ 0123456789";
const WORDS: [&str; 7] = ["yyyy", "MM", "dd", "HH", "mm", "ss", "f"];

/// Packs a pattern for [`Pattern`](crate::key::codec::Pattern) into a number. A pattern has at most 25 tokens, and each `f` is one token.
///
/// # Panics
/// Panics at compile time if the pattern is empty, contains an invalid character or has more than 25 tokens.
#[must_use]
pub const fn pattern(text: &str) -> u128 {
    let text = text.as_bytes();
    let (mut packed, mut at, mut count) = (0u128, 0, 0);
    while at < text.len() {
        let (code, width) = code(text, at);
        packed |= (code as u128) << (BITS * count);
        at += width;
        count += 1;
        assert!(count <= 25, "[T008] this pattern has more than 25 tokens");
    }
    assert!(count > 0, "[T008] this pattern is empty");
    packed
}

/// Returns the code and the length of the token at position `at`.
const fn code(text: &[u8], at: usize) -> (u8, usize) {
    let mut literal = 0;
    while literal < LITERALS.len() {
        if LITERALS[literal] == text[at] {
            #[expect(clippy::cast_possible_truncation, reason = "few literals")]
            return (FRACTION + 1 + literal as u8, 1);
        }
        literal += 1;
    }
    let mut word = 0;
    while word < WORDS.len() {
        let letters = WORDS[word].as_bytes();
        let mut same = 0;
        while same < letters.len() && at + same < text.len() && letters[same] == text[at + same] {
            same += 1;
        }
        if same == letters.len() {
            #[expect(clippy::cast_possible_truncation, reason = "few words")]
            return (word as u8 + 1, letters.len());
        }
        word += 1;
    }
    panic!(
        "[T008] a pattern consists of `yyyy`, `MM`, `dd`, `HH`, `mm`, `ss`, `f`, digits, and the separators `- _ : . , T Z` or a space"
    )
}

impl Token {
    /// Returns the first token of a packed pattern and the remaining tokens, or `None` if the pattern is empty.
    pub(super) const fn split(packed: u128) -> Option<(Self, u128)> {
        let code = (packed & ((1 << BITS) - 1)) as u8;
        let token = match code {
            0 => return None,
            FRACTION => Self::Fraction(FRACTION - 1),
            1..FRACTION => Self::Unit(code - 1),
            literal => Self::Literal(LITERALS[(literal - FRACTION - 1) as usize] as char),
        };
        Some((token, packed >> BITS))
    }

    pub(super) const fn width(self) -> usize {
        match self {
            Self::Unit(0) => 4,
            Self::Unit(_) => 2,
            Self::Literal(_) | Self::Fraction(_) => 1,
        }
    }
}

/// Iterates over the tokens of a packed pattern in order.
pub(super) fn tokens(packed: u128) -> impl Iterator<Item = Token> {
    let mut rest = packed;
    std::iter::from_fn(move || {
        let (token, after) = Token::split(rest)?;
        rest = after;
        Some(token)
    })
}

/// Returns the largest unit, the smallest unit, and the number of fractional digits of a packed pattern.
pub(super) const fn units(packed: u128) -> (u8, u8, u32) {
    let (mut first, mut last, mut fraction, mut rest) = (u8::MAX, 0, 0, packed);
    while let Some((token, after)) = Token::split(rest) {
        if let Token::Unit(unit) | Token::Fraction(unit) = token {
            if unit < first {
                first = unit;
            }
            if unit > last {
                last = unit;
            }
            fraction += matches!(token, Token::Fraction(_)) as u32;
        }
        rest = after;
    }
    (first, last, fraction)
}

/// Returns `true` if a value can be read back. Each unit from the largest to the smallest must occur once, and the fractional digits must be adjacent.
pub(super) const fn reads_back(packed: u128) -> bool {
    let (first, last, fraction) = units(packed);
    let (mut seen, mut after_fraction, mut rest) = (0u8, false, packed);
    while let Some((token, after)) = Token::split(rest) {
        match token {
            Token::Unit(unit) if seen & (1 << unit) != 0 => return false,
            Token::Unit(unit) => seen |= 1 << unit,
            Token::Fraction(unit) => {
                if after_fraction {
                    return false;
                }
                seen |= 1 << unit;
            }
            Token::Literal(_) => {}
        }
        after_fraction =
            after_fraction || (seen & (1 << (FRACTION - 1)) != 0 && !matches!(token, Token::Fraction(_)));
        rest = after;
    }
    let mut unit = first;
    while unit <= last {
        if seen & (1 << unit) == 0 {
            return false;
        }
        unit += 1;
    }
    first <= last && fraction <= 9
}

/// Returns `true` if the pattern contains literals.
pub(super) const fn has_literals(packed: u128) -> bool {
    let mut rest = packed;
    while let Some((token, after)) = Token::split(rest) {
        if matches!(token, Token::Literal(_)) {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns the name of the codec, which contains the text of the pattern.
pub(super) const fn name(packed: u128) -> Name<64> {
    let (mut name, mut rest) = (Name::EMPTY.with("pattern("), packed);
    while let Some((token, after)) = Token::split(rest) {
        name = match token {
            Token::Literal(literal) => name.with_char(literal),
            Token::Unit(unit) | Token::Fraction(unit) => name.with(WORDS[unit as usize]),
        };
        rest = after;
    }
    name.with(")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_packed_and_named() {
        const TEXT: &str = "yyyy-MM-ddTHH:mm:ss.fffffffZ";
        const PACKED: u128 = pattern(TEXT);
        assert_eq!(name(PACKED).as_str(), format!("pattern({TEXT})"));
        assert_eq!((units(PACKED), reads_back(PACKED)), ((0, 6, 7), true));
        assert_eq!((units(pattern("yyyyMM")), units(pattern("HHmm"))), ((0, 1, 0), (3, 4, 0)));
    }

    #[test]
    fn a_missing_or_repeated_unit_is_not_read_back() {
        for wrong in ["yyyydd", "yyyyMMMM", "HHss", "yyyyMMddHHmmssf-f", "-"] {
            assert!(!reads_back(pattern(wrong)), "{wrong}");
        }
        assert!(reads_back(pattern("ddMMyyyy")) && reads_back(pattern("yyyy")));
        assert!(reads_back(pattern("yyyy-MM-ddTHH:mm:00")));
    }
}
