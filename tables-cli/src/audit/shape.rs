//! Computes the shape of a string. Each run of letters or digits is replaced with one character, and all other characters are kept.

use uuid::Uuid;

/// The shape of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The runs, each represented by one character: `9` for digits, `a` for lower case, `A` for upper case, `m` for mixed case, `x` for hexadecimal digits, `g`
    /// for a GUID in lower case, `G` for any other GUID. Any other character represents itself.
    pub(super) text: String,
    /// The runs of digits, in order.
    pub(super) numbers: Vec<String>,
}

/// The minimum length of a hexadecimal run. A shorter run may be a word.
const HEX: usize = 16;

impl Shape {
    /// Returns the shape of a string.
    pub(super) fn of(text: &str) -> Self {
        let mut shape = Self { text: String::new(), numbers: Vec::new() };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = shape.run(rest, first);
            rest = rest.get(length..).unwrap_or_default();
        }
        shape
    }

    /// Adds the run at the start of `rest`, and returns the length of the run in bytes.
    fn run(&mut self, rest: &str, first: char) -> usize {
        if let Some(guid) = rest.get(..36).filter(|guid| guid.contains('-') && Uuid::try_parse(guid).is_ok())
        {
            self.text.push_str(if guid.bytes().any(|byte| byte.is_ascii_uppercase()) { "G" } else { "g" });
            return 36;
        }
        let run = |is: fn(char) -> bool| rest.find(|character| !is(character)).unwrap_or(rest.len());
        let hex = run(|character| character.is_ascii_hexdigit());
        let word = rest.get(..hex).unwrap_or_default();
        if hex >= HEX
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
            && word.bytes().any(|byte| byte.is_ascii_digit())
        {
            self.text.push('x');
            return hex;
        }
        if first.is_ascii_digit() {
            let length = run(|character| character.is_ascii_digit());
            self.text.push('9');
            self.numbers.push(rest.get(..length).unwrap_or_default().to_owned());
            return length;
        }
        if !first.is_alphabetic() {
            self.text.push(first);
            return first.len_utf8();
        }
        let length = run(char::is_alphabetic);
        let letters = rest.get(..length).unwrap_or_default();
        let (lower, upper) =
            (letters.chars().any(char::is_lowercase), letters.chars().any(char::is_uppercase));
        self.text.push(match (lower, upper) {
            (true, true) => 'm',
            (false, true) => 'A',
            _ => 'a',
        });
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_one_format_have_one_shape() {
        for (text, shape) in [
            ("empid_000223", "a_9"),
            ("2026-11-25", "9-9-9"),
            ("Ada@contoso.com", "m@a.a"),
            ("67e55044-10b1-426f-9247-bb680e5fe0c8", "g"),
            ("order-67E55044-10B1-426F-9247-BB680E5FE0C8", "a-G"),
            ("67e5504410b1426f", "x"),
            ("é ß", "a a"),
            ("", ""),
        ] {
            assert_eq!(Shape::of(text).text, shape, "{text}");
        }
        assert_eq!(Shape::of("a1_022").numbers, ["1", "022"]);
    }
}
