//! Checks that a filter built in code can be written in the grammar.

use crate::error::{Error, ErrorCode, Result};
use crate::filter::parser::KEYWORDS;
use crate::filter::{Filter, Term};
use crate::name::check_property_name;
use crate::ticks;
use crate::value::Value;

impl Filter {
    /// Checks what a parsed filter satisfies and one made in code may not: that each name is an identifier and no word of
    /// the grammar, and that each constant can be written. Every query is checked before anything is sent.
    ///
    /// # Errors
    /// `InvalidInput` for a name that a filter cannot hold (FIL-1), for a Double that is not finite (FIL-17), for an instant
    /// outside the years 1 to 9999 (TYPE-6).
    ///
    /// ```
    /// use table_core::Filter;
    /// use table_core::filter::Comparison;
    ///
    /// assert!(Filter::compare("Ratio", Comparison::Lt, 0.5).check().is_ok());
    /// assert_eq!(Filter::compare("Ratio", Comparison::Lt, f64::NAN).check().unwrap_err().rule(), Some("FIL-17"));
    /// ```
    pub fn check(&self) -> Result<()> {
        self.terms.iter().try_for_each(|term| match term {
            Term::Compare { name, value, .. } => check_name(name).and_then(|()| check_value(name, value)),
            Term::Flag(name) => check_name(name),
            Term::And | Term::Or | Term::Not => Ok(()),
        })
    }
}

fn check_name(name: &str) -> Result<()> {
    if KEYWORDS.contains(&name) {
        let message = format!(
            "`{name}` is a word of the filter grammar: a property of this name cannot be filtered on"
        );
        return Err(Error::new(ErrorCode::InvalidInput, message).with_rule("FIL-1"));
    }
    match name {
        "PartitionKey" | "RowKey" | "Timestamp" => Ok(()),
        other => check_property_name(other).map_err(|error| {
            Error::new(ErrorCode::InvalidInput, format!("filter: {error}")).with_rule("FIL-1")
        }),
    }
}

fn check_value(name: &str, value: &Value) -> Result<()> {
    match value {
        Value::Double(number) if !number.is_finite() => {
            let message =
                format!("`{name}` cannot be compared with {number}: the filter grammar has no word for it");
            Err(Error::new(ErrorCode::InvalidInput, message).with_rule("FIL-17"))
        }
        Value::DateTime(instant) if ticks::from_datetime(*instant).is_none() => {
            let message = format!("`{name}` cannot be compared with an instant outside the years 1 to 9999");
            Err(Error::new(ErrorCode::InvalidInput, message).with_rule("TYPE-6"))
        }
        _ => Ok(()),
    }
}
