//! A lexer for filters, which splits the text into words, constants and parentheses.

use crate::filter::fault::{FilterFault, SyntaxFault};
use crate::filter::literal;
use crate::value::Value;

/// A token of a filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A keyword or a name.
    Word(&'a str),
    Constant(Value),
    End,
}

/// A lexer over a filter's text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, rest: text }
    }

    /// Creates a syntax error at a byte offset in the text.
    pub(super) fn at(&self, at: usize, fault: FilterFault) -> SyntaxFault {
        let character = self.text.char_indices().take_while(|(index, _)| *index < at).count() + 1;
        SyntaxFault { character, fault }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Returns the next token and its byte offset.
    ///
    /// # Errors
    /// - `InvalidInput` (FIL-5) if the token is invalid.
    /// - `NotImplemented` (QRY-2) if the text contains arithmetic.
    pub(super) fn next(&mut self) -> Result<(Token<'a>, usize), SyntaxFault> {
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
            return Err(self.at(after, FilterFault::NoSpace));
        }
        Ok((token, at))
    }

    fn word(&mut self, at: usize) -> Result<Token<'a>, SyntaxFault> {
        let end = self.rest.find(|c| !unicode_ident::is_xid_continue(c)).unwrap_or(self.rest.len());
        let word = self.take(end);
        if !self.rest.starts_with('\'') {
            return Ok(Token::Word(word));
        }
        let inner = self.quoted(at)?;
        let value = literal::prefixed(word, &inner).map_err(|fault| self.at(at, fault))?;
        Ok(Token::Constant(value))
    }

    /// Parses a string in single quotes. Two consecutive quotes represent one quote.
    fn quoted(&mut self, at: usize) -> Result<String, SyntaxFault> {
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
        Err(self.at(at, FilterFault::OpenQuote))
    }

    fn number(&mut self, at: usize) -> Result<Value, SyntaxFault> {
        let mut before = None;
        let outside = |c: char| {
            let sign = matches!(c, '-' | '+') && matches!(before, None | Some('e' | 'E'));
            before = Some(c);
            !(sign || c.is_ascii_alphanumeric() || c == '.')
        };
        let end = self.rest.find(outside).unwrap_or(self.rest.len());
        let text = self.take(end);
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return Err(self.at(at, FilterFault::Sign));
        }
        literal::number(text).map_err(|fault| self.at(at, fault))
    }

    fn strange(&self, at: usize, found: char) -> SyntaxFault {
        let instead = match found {
            '"' => "strings are written in single quotes",
            '=' => "write `eq`",
            '!' => "write `ne` or `not`",
            '<' => "write `lt` or `le`",
            '>' => "write `gt` or `ge`",
            '&' => "write `and`",
            '|' => "write `or`",
            '+' | '*' | '/' | '%' => "arithmetic and paths are not supported",
            ',' => "functions and lists are not supported",
            _ => "names are letters, digits and `_`; strings are written in single quotes",
        };
        self.at(at, FilterFault::Character { found, instead })
    }
}
