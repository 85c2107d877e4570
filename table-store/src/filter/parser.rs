//! A parser for filters (section 4.2 of the rules). It uses operator-precedence parsing with an explicit stack instead of recursion.

use crate::error::{Error, Result, quoted};
use crate::filter::fault::{FilterFault, SyntaxFault};
use crate::filter::lexer::{Lexer, Token};
use crate::filter::{Comparison, Filter, Term};
use crate::value::Value;

/// Keywords, which cannot be property names in a filter.
pub(super) const KEYWORDS: [&str; 12] =
    ["and", "or", "not", "eq", "ne", "gt", "ge", "lt", "le", "true", "false", "null"];
const ARITHMETIC: [&str; 5] = ["add", "sub", "mul", "div", "mod"];

impl Filter {
    /// Parses the text of a `$filter`, which is not percent-encoded. Returns `None` for blank text (FIL-6).
    ///
    /// The grammar is the same as in the service. It is case-sensitive (FIL-1), and the precedence is `not`, `and`, `or` (FIL-2). A constant on the left is
    /// moved to the right: `30 lt Age` is parsed as `Age gt 30` (FIL-3). `true` and `false` are also accepted as conditions, because ASP.NET's health check and
    /// LINQ's `x => true` send them. Tokens other than parentheses must be separated by white space. Length and depth are unlimited, because the parser is not
    /// recursive.
    ///
    /// # Errors
    /// Each message contains the position and a suggestion:
    /// - `InvalidInput` if the text has a syntax error (FIL-5), `null` (LIT-3), or a number outside the range of its type (LIT-2).
    /// - `NotImplemented` if a comparison is not between a property and a constant (FIL-4), or if the text has a function or arithmetic (QRY-2).
    ///
    /// ```
    /// use table_core::Filter;
    ///
    /// let filter = Filter::parse("30 lt Age and (LastName eq 'O''Neil' or not Active)")?;
    /// assert_eq!(filter.map(|f| f.to_string()).as_deref(), Some("Age gt 30 and (LastName eq 'O''Neil' or not Active)"));
    /// assert_eq!(Filter::parse("  ")?, None);
    ///
    /// let error = Filter::parse("LastName = 'Smith'").unwrap_err();
    /// assert!(error.to_string().contains("character 10") && error.to_string().contains("write `eq`"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let mut parser = Parser {
            lexer: Lexer::new(text),
            token: Token::End,
            at: 0,
            terms: Vec::new(),
            pending: Vec::new(),
        };
        parser.advance().map_err(Error::of)?;
        if parser.token == Token::End {
            return Ok(None);
        }
        parser.conditions().map_err(Error::of)?;
        let filter = Self { terms: parser.terms };
        filter.check()?;
        Ok(Some(filter))
    }
}

/// A pending operator. Later variants bind more tightly (FIL-2).
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Pending {
    Open(usize),
    Or,
    And,
    Not,
}

enum Operand<'a> {
    Name(&'a str),
    Constant(Value),
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    at: usize,
    terms: Vec<Term>,
    pending: Vec<Pending>,
}

impl<'a> Parser<'a> {
    /// Moves to the next token and returns the previous one.
    fn advance(&mut self) -> Result<Token<'a>, SyntaxFault> {
        let (token, at) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn conditions(&mut self) -> Result<(), SyntaxFault> {
        loop {
            match self.token {
                Token::Word("not") => self.pending.push(Pending::Not),
                Token::Open => self.pending.push(Pending::Open(self.at)),
                _ => {
                    self.condition()?;
                    if !self.join()? {
                        return Ok(());
                    }
                }
            }
            self.advance()?;
        }
    }

    /// Parses the tokens after a condition: closing parentheses, then `and`, `or` or the end of the text. Returns `true` after `and` or `or`, because another
    /// condition must follow.
    fn join(&mut self) -> Result<bool, SyntaxFault> {
        loop {
            let operator = match self.token {
                Token::Word("and") => Pending::And,
                Token::Word("or") => Pending::Or,
                Token::Close => {
                    self.settle(Pending::Or);
                    if self.pending.pop().is_none() {
                        return Err(self.lexer.at(self.at, FilterFault::Close));
                    }
                    self.advance()?;
                    continue;
                }
                Token::End => {
                    self.settle(Pending::Or);
                    let Some(Pending::Open(at)) = self.pending.pop() else { return Ok(false) };
                    return Err(self.lexer.at(at, FilterFault::Open));
                }
                _ => return Err(self.unexpected("`and`, `or` or the end")),
            };
            self.settle(operator);
            self.pending.push(operator);
            return Ok(true);
        }
    }

    /// Applies the pending operators that bind at least as tightly as `operator`. `and` and `or` are left-associative.
    fn settle(&mut self, operator: Pending) {
        while let Some(waiting) = self.pending.pop_if(|waiting| *waiting >= operator) {
            self.terms.push(match waiting {
                Pending::Not => Term::Not,
                Pending::And => Term::And,
                Pending::Or | Pending::Open(_) => Term::Or,
            });
        }
    }

    fn condition(&mut self) -> Result<(), SyntaxFault> {
        let at = self.at;
        let left = self.operand("a condition")?;
        let operator = match self.token {
            Token::Word(word) => Comparison::ALL.into_iter().find(|operator| operator.as_str() == word),
            _ => None,
        };
        let Some(operator) = operator else {
            self.terms.push(match left {
                Operand::Name(name) => Term::Bool(name.to_owned().into()),
                Operand::Constant(Value::Boolean(flag)) => always(flag),
                Operand::Constant(_) => return Err(self.lexer.at(at, FilterFault::Alone)),
            });
            return Ok(());
        };
        self.advance()?;
        let right = self.operand("a property or a constant")?;
        let (name, operator, value) = match (left, right) {
            (Operand::Name(name), Operand::Constant(value)) => (name, operator, value),
            (Operand::Constant(value), Operand::Name(name)) => (name, operator.reversed(), value),
            (Operand::Name(left), Operand::Name(right)) => {
                let fault = FilterFault::TwoNames { left: left.to_owned(), right: right.to_owned() };
                return Err(self.lexer.at(at, fault));
            }
            (Operand::Constant(_), Operand::Constant(_)) => {
                return Err(self.lexer.at(at, FilterFault::TwoConstants));
            }
        };
        self.terms.push(Term::Compare { name: name.to_owned().into(), operator, value });
        Ok(())
    }

    fn operand(&mut self, expected: &'static str) -> Result<Operand<'a>, SyntaxFault> {
        let at = self.at;
        match self.token {
            Token::Word("null") => return Err(self.lexer.at(self.at, FilterFault::Null)),
            Token::Constant(_) => {}
            Token::Word(word) if truth(word).is_some() || !KEYWORDS.contains(&word) => {}
            _ => return Err(self.unexpected(expected)),
        }
        Ok(match self.advance()? {
            Token::Constant(value) => Operand::Constant(value),
            Token::Word(name) if self.token == Token::Open => return Err(self.function(at, name)),
            Token::Word(word) => match truth(word) {
                Some(flag) => Operand::Constant(Value::Boolean(flag)),
                None => Operand::Name(word),
            },
            Token::Open | Token::Close | Token::End => return Err(self.unexpected(expected)),
        })
    }

    fn function(&self, at: usize, name: &str) -> SyntaxFault {
        let instead = match name {
            "startswith" => "write a prefix as `Name ge 'ab' and Name lt 'ac'` (FIL-19)",
            _ if KEYWORDS.contains(&name.to_ascii_lowercase().as_str()) => "keywords are lower case",
            _ => "filter on a stored property with that value, or filter the returned entities",
        };
        self.lexer.at(at, FilterFault::Function { name: name.to_owned(), instead })
    }

    fn unexpected(&self, expected: &'static str) -> SyntaxFault {
        let found = match &self.token {
            Token::Open => "`(`".to_owned(),
            Token::Close => "`)`".to_owned(),
            Token::End => "the end".to_owned(),
            Token::Constant(value) => format!("a constant of type {}", value.edm_type()),
            Token::Word(word) if ARITHMETIC.contains(word) => {
                return self.lexer.at(self.at, FilterFault::Arithmetic((*word).to_owned()));
            }
            Token::Word(word) => {
                let lower = word.to_ascii_lowercase();
                if lower != *word && KEYWORDS.contains(&lower.as_str()) {
                    let fault = FilterFault::Keyword { found: (*word).to_owned(), lower };
                    return self.lexer.at(self.at, fault);
                }
                format!("`{}`", quoted(word))
            }
        };
        self.lexer.at(self.at, FilterFault::Expected { expected, found })
    }
}

/// Parses a Boolean constant. Case is ignored, because .NET prints `True`.
pub(super) fn truth(word: &str) -> Option<bool> {
    [("true", true), ("false", false)]
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(word))
        .map(|(_, flag)| flag)
}

/// Returns a condition that always has the value `flag`. It compares the `PartitionKey`, which every entity has, with the empty string, which sorts before all
/// other keys.
fn always(flag: bool) -> Term {
    let operator = if flag { Comparison::Ge } else { Comparison::Lt };
    Term::Compare { name: "PartitionKey".into(), operator, value: Value::String(String::new()) }
}
