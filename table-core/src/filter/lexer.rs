//! Splits the text of a filter into words, constants and parentheses, each with its place.

use crate::error::{Error, ErrorCode};
use crate::filter::literal::{self, Fault};
use crate::value::Value;

/// A piece of a filter's text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A keyword or a name.
    Word(&'a str),
    Constant(Value),
    End,
}

/// The text that is not split yet.
pub(super) struct Lexer<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, rest: text }
    }

    /// An error at a place of the text, given in bytes and told in characters, the first being 1 (FIL-5).
    pub(super) fn error(&self, at: usize, code: ErrorCode, rule: &'static str, message: &str) -> Error {
        let character = self.text.char_indices().take_while(|(index, _)| *index < at).count() + 1;
        Error::new(code, format!("filter, character {character}: {message}")).with_rule(rule)
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// The next piece, and where it begins.
    ///
    /// # Errors
    /// `InvalidInput` (FIL-5) for what begins no piece, `NotImplemented` (QRY-2) for arithmetic.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), Error> {
        self.rest = self.rest.trim_ascii_start();
        let at = self.text.len() - self.rest.len();
        let token = match self.rest.chars().next() {
            None => Token::End,
            Some('(') => {
                self.take(1);
                Token::Open
            }
            Some(')') => {
                self.take(1);
                Token::Close
            }
            Some('\'') => Token::Constant(self.quoted(at).map(Value::String)?),
            Some('0'..='9' | '-') => Token::Constant(self.number(at)?),
            Some(first) if first == '_' || unicode_ident::is_xid_start(first) => self.word(at)?,
            Some(other) => return Err(self.strange(at, other)),
        };
        let apart = |next: char| next.is_ascii_whitespace() || matches!(next, '(' | ')');
        if matches!(token, Token::Constant(_)) && !self.rest.chars().next().is_none_or(apart) {
            let after = self.text.len() - self.rest.len();
            let message = "a constant ends here: put a space before what follows";
            return Err(self.error(after, ErrorCode::InvalidInput, "FIL-1", message));
        }
        Ok((token, at))
    }

    fn word(&mut self, at: usize) -> Result<Token<'a>, Error> {
        let end = self.rest.find(|c| !unicode_ident::is_xid_continue(c)).unwrap_or(self.rest.len());
        let word = self.take(end);
        if !self.rest.starts_with('\'') {
            return Ok(Token::Word(word));
        }
        let inner = self.quoted(at)?;
        let value = literal::prefixed(word, &inner).map_err(|fault| self.fault(at, &fault))?;
        Ok(Token::Constant(value))
    }

    /// The text between single quotes, of which one inside is doubled.
    fn quoted(&mut self, at: usize) -> Result<String, Error> {
        let mut inner = String::new();
        self.take(1);
        while let Some(quote) = self.rest.find('\'') {
            inner.push_str(self.take(quote));
            self.take(1);
            if !self.rest.starts_with('\'') {
                return Ok(inner);
            }
            inner.push('\'');
            self.take(1);
        }
        let message = "the quote that opens here is not closed: end with `'`, and double a quote inside";
        Err(self.error(at, ErrorCode::InvalidInput, "FIL-5", message))
    }

    fn number(&mut self, at: usize) -> Result<Value, Error> {
        let mut before = None;
        let outside = |c: char| {
            let sign = matches!(c, '-' | '+') && matches!(before, None | Some('e' | 'E'));
            before = Some(c);
            !(sign || c.is_ascii_alphanumeric() || c == '.')
        };
        let end = self.rest.find(outside).unwrap_or(self.rest.len());
        let text = self.take(end);
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            let message = "arithmetic is not supported: compute the constant before";
            return Err(self.error(at, ErrorCode::NotImplemented, "QRY-2", message));
        }
        literal::number(text).map_err(|fault| self.fault(at, &fault))
    }

    fn fault(&self, at: usize, (rule, message): &Fault) -> Error {
        self.error(at, ErrorCode::InvalidInput, rule, message)
    }

    fn strange(&self, at: usize, found: char) -> Error {
        let instead = match found {
            '"' => "strings stand in single quotes",
            '=' => "write `eq`",
            '!' => "write `ne` or `not`",
            '<' => "write `lt` or `le`",
            '>' => "write `gt` or `ge`",
            '&' => "write `and`",
            '|' => "write `or`",
            '+' | '*' | '/' | '%' => "arithmetic and paths are not supported",
            ',' => "functions and lists are not supported",
            _ => "names are letters, digits and `_`; strings stand in single quotes",
        };
        let message = format!("`{}` has no meaning here: {instead}", found.escape_debug());
        self.error(at, ErrorCode::InvalidInput, "FIL-5", &message)
    }
}
