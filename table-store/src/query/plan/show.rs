//! Text formatting of plans.

use std::fmt;
use std::ops::Bound;

use crate::query::{Lookup, Plan, Requests, Select, TextRange};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.class, self.table)?;
        if let Some(reason) = &self.reason {
            write!(f, "\n  reason:       {reason}")?;
        }
        for lookup in &self.lookups {
            lookup.fmt(f)?;
        }
        match &self.select {
            Select::All => f.write_str("\n  $select:      all properties")?,
            Select::Names(names) if names.is_empty() => f.write_str("\n  $select:      only the keys")?,
            Select::Names(names) => write!(f, "\n  $select:      {}", names.join(", "))?,
        }
        if let Some(top) = self.top {
            write!(f, "\n  $top:         {top}")?;
        }
        write!(f, "\n  index:        {}", self.index.as_deref().unwrap_or("none, the primary key"))?;
        write!(f, "\n  requests:     {}", self.requests)?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\n  warning:      {warning}"))
    }
}

impl fmt::Display for Lookup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  PartitionKey: {}", Shown(&self.keys.partition_key))?;
        write!(f, "\n  RowKey:       {}", Shown(&self.keys.row_key))?;
        write!(f, "\n  $filter:      {}", self.filter.as_deref().unwrap_or("none"))
    }
}

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(count) => write!(f, "at most {count}"),
            Self::OnePerPage { entities, at_least } => write!(
                f,
                "at least {at_least}, one for each page of at most {entities} entities; unbounded, since the pages depend on the data"
            ),
        }
    }
}

/// A string range, formatted for human readers.
struct Shown<'a>(&'a TextRange);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.0.single() {
            return write!(f, "'{text}'");
        }
        let lower = match &self.0.lower {
            Bound::Included(text) => format!("from '{text}'"),
            Bound::Excluded(text) => format!("after '{text}'"),
            Bound::Unbounded => String::new(),
        };
        let upper = match &self.0.upper {
            Bound::Included(text) => format!("up to '{text}'"),
            Bound::Excluded(text) => format!("before '{text}'"),
            Bound::Unbounded => String::new(),
        };
        match (lower.is_empty(), upper.is_empty()) {
            (true, true) => f.write_str("any"),
            (false, false) => write!(f, "{lower} {upper}"),
            _ => write!(f, "{lower}{upper}"),
        }
    }
}
