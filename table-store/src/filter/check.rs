//! Validation of programmatically built filters.

use crate::error::{Error, Result};
use crate::filter::fault::FilterFault;
use crate::filter::parser::{KEYWORDS, truth};
use crate::filter::{Filter, Term};
use crate::name::check_property_name;
use crate::ticks;
use crate::value::Value;

impl Filter {
    /// Checks a programmatically built filter. Every name must be an identifier other than a keyword, and the grammar must be able to express every constant.
    /// Every query checks its filter before anything is sent.
    ///
    /// # Errors
    /// - `InvalidInput` if a name is a keyword or not an identifier (FIL-1).
    /// - `InvalidInput` if a Double is not finite (FIL-17).
    /// - `InvalidInput` if a date-time is outside the years 1 to 9999 (TYPE-6).
    ///
    /// ```
    /// use table_core::Filter;
    /// use table_core::filter::Comparison;
    ///
    /// assert!(Filter::compare("Ratio", Comparison::Lt, 0.5).check().is_ok());
    /// assert_eq!(Filter::compare("Ratio", Comparison::Lt, f64::NAN).check().unwrap_err().rule(), Some("FIL-17"));
    /// ```
    pub fn check(&self) -> Result<()> {
        let checked = self.terms.iter().try_for_each(|term| match term {
            Term::Compare { name, value, .. } => check_name(name).and_then(|()| check_value(name, value)),
            Term::Bool(name) => check_name(name),
            Term::And | Term::Or | Term::Not => Ok(()),
        });
        checked.map_err(Error::of)
    }
}

fn check_name(name: &str) -> Result<(), FilterFault> {
    if KEYWORDS.contains(&name) || truth(name).is_some() {
        return Err(FilterFault::Reserved(name.to_owned()));
    }
    match name {
        "PartitionKey" | "RowKey" | "Timestamp" => Ok(()),
        other => check_property_name(other).map_err(FilterFault::Name),
    }
}

fn check_value(name: &str, value: &Value) -> Result<(), FilterFault> {
    match value {
        Value::Double(number) if !number.is_finite() => {
            Err(FilterFault::NotFinite { name: name.to_owned(), number: *number })
        }
        Value::DateTime(instant) if ticks::from_datetime(*instant).is_none() => {
            Err(FilterFault::Instant(name.to_owned()))
        }
        _ => Ok(()),
    }
}
