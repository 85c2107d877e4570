//! A printer for filters, whose output [`Filter::parse`] parses to the same terms.

use std::fmt;

use crate::filter::{Filter, Term, literal, starts};

/// The precedence of a condition (FIL-2).
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Or,
    And,
    Not,
}

enum Step {
    Text(&'static str),
    /// Prints the condition that ends with the term at this index. It is printed in parentheses if its precedence is below the given level.
    Condition(usize, Level),
}

/// Formats the filter in the service's syntax, without percent-encoding (LIT-4).
///
/// Parentheses are printed where precedence requires them (FIL-2), around a right operand with the same operator, and around a comparison
/// after `not`.
///
/// The printed text of a filter parses to the same filter if the filter passes [`Filter::check`]. Otherwise, the text is for human readers and may not parse.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let starts = starts(&self.terms);
        let mut steps = vec![Step::Condition(self.terms.len().saturating_sub(1), Level::Or)];
        while let Some(step) = steps.pop() {
            let (end, asked) = match step {
                Step::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Step::Condition(end, asked) => (end, asked),
            };
            let (level, word, right_asks) = match self.terms.get(end) {
                None => continue,
                Some(Term::Compare { name, operator, value }) => {
                    write!(f, "{name} {} ", operator.as_str())?;
                    literal::write(value, f)?;
                    continue;
                }
                Some(Term::Bool(name)) => {
                    f.write_str(name)?;
                    continue;
                }
                Some(Term::Not) => {
                    f.write_str("not ")?;
                    // `not A eq 1` would mean the same, but `not (A eq 1)` is easier to read.
                    if let Some(Term::Compare { .. }) = self.terms.get(end - 1) {
                        f.write_str("(")?;
                        steps.push(Step::Text(")"));
                    }
                    steps.push(Step::Condition(end - 1, Level::Not));
                    continue;
                }
                // Operators are left-associative, so a right operand with the same operator needs parentheses.
                Some(Term::And) => (Level::And, " and ", Level::Not),
                Some(Term::Or) => (Level::Or, " or ", Level::And),
            };
            if level < asked {
                f.write_str("(")?;
                steps.push(Step::Text(")"));
            }
            let right = starts.get(end - 1).copied().unwrap_or_default();
            steps.push(Step::Condition(end - 1, right_asks));
            steps.push(Step::Text(word));
            steps.push(Step::Condition(right - 1, level));
        }
        Ok(())
    }
}
