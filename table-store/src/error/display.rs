//! Formatting of errors for human readers.

use std::error::Error as StdError;
use std::fmt;

use crate::error::shortened::{Bounded, CAUSE, quoted};
use crate::error::{Error, Inner};

/// The full message: the context, followed by the text of the fault.
struct Message<'a>(&'a Inner);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0.context, self.0.fault)
    }
}

impl Error {
    pub(super) fn bounded_message(&self) -> impl fmt::Display {
        Bounded(Message(&self.0), self.0.fault.longest_message())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "{}: {}", inner.code, self.bounded_message())?;
        let mut separator = " (";
        let mut note = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let result = write!(f, "{separator}{text}");
            separator = "; ";
            result
        };
        if let Some(index) = inner.operation {
            note(f, format_args!("operation {index}"))?;
        }
        if let Some(table) = &inner.table {
            note(f, format_args!("table `{}`", quoted(table)))?;
        }
        if let Some((partition_key, row_key)) = &inner.key {
            let (partition_key, row_key) = (quoted(partition_key), quoted(row_key));
            note(f, format_args!("PartitionKey '{partition_key}', RowKey '{row_key}'"))?;
        }
        if let Some(rule) = inner.rule {
            note(f, format_args!("rule {rule}"))?;
        }
        if separator == "; " { f.write_str(")") } else { Ok(()) }
    }
}

/// Prints the `Display` text, followed by all sources. A program prints this text if its `fn main() -> Result<()>` returns an error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut source = self.source();
        while let Some(cause) = source {
            write!(f, "\n  because: {}", Bounded(cause, CAUSE))?;
            source = cause.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.source {
            Some(source) => Some(&**source),
            None => self.0.fault.source(),
        }
    }
}
