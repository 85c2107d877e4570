//! Request units that the service charged: of one operation, and in total for each table.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use azure_data_cosmos::diagnostics::DiagnosticsContext;
use table_core::TableName;

tokio::task_local! {
    /// The request units of the operation that the task runs.
    static UNITS: Cell<f64>;
}

/// Adds the charges of all requests behind a response to the current operation. Retries of the vendor's client are included.
pub(crate) fn charge(diagnostics: &DiagnosticsContext) {
    let units = diagnostics.total_request_charge().value();
    // Requests outside an operation, such as the description of a container, are not counted.
    let _ = UNITS.try_with(|sum| sum.set(sum.get() + units));
}

/// Runs an operation, and returns its result with its request units.
pub(crate) async fn measured<T>(operation: impl Future<Output = T>) -> (T, f64) {
    let counted = async {
        let result = operation.await;
        (result, units())
    };
    UNITS.scope(Cell::new(0.0), counted).await
}

/// Returns the request units of the current operation so far.
pub(crate) fn units() -> f64 {
    UNITS.try_with(Cell::get).unwrap_or_default()
}

/// A kind of operation of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Query,
    Submit,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "get",
            Self::Query => "query",
            Self::Submit => "submit",
        })
    }
}

/// The request units of one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Charges {
    /// The number of operations. A page of a query is one operation.
    pub operations: u64,
    /// The sum of their request units, as charged by the service.
    pub units: f64,
    /// The request units of the most expensive operation.
    pub max: f64,
}

impl Charges {
    fn add(&mut self, units: f64) {
        self.operations += 1;
        self.units += units;
        self.max = self.max.max(units);
    }
}

/// The request units of a table, since its store was opened.
///
/// ```no_run
/// # use table_core::TableName;
/// # fn program(store: table_cosmos::CosmosTables, table: TableName) {
/// let usage = store.usage(&table);
/// println!("{} request units for {} writes", usage.submits.units, usage.submits.operations);
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Usage {
    /// Point reads.
    pub gets: Charges,
    /// Pages of queries.
    pub queries: Charges,
    /// Transactions, with the reads that they need and with their retries.
    pub submits: Charges,
}

/// The maximum number of forms of queries whose charges are kept for a table. Further forms are only counted in the total.
const FORMS: usize = 1_000;

/// The usage of one table.
#[derive(Debug, Default)]
struct Counted {
    usage: Usage,
    /// The charges of pages by the SQL text of their query; the empty text is a point read.
    forms: HashMap<String, Charges>,
}

/// The usage of each table, by folded name.
#[derive(Debug, Default)]
pub(crate) struct Usages(Mutex<HashMap<String, Counted>>);

impl Usages {
    pub(crate) fn add(&self, table: &TableName, verb: Verb, units: f64) {
        let mut usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let usage = &mut usages.entry(table.folded().to_owned()).or_default().usage;
        match verb {
            Verb::Get => usage.gets.add(units),
            Verb::Query => usage.queries.add(units),
            Verb::Submit => usage.submits.add(units),
        }
    }

    /// Adds the charge of a page of a query with this SQL text.
    pub(crate) fn add_page(&self, table: &TableName, form: &str, units: f64) {
        let mut usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let forms = &mut usages.entry(table.folded().to_owned()).or_default().forms;
        if let Some(charges) = forms.get_mut(form) {
            charges.add(units);
        } else if forms.len() < FORMS {
            forms.entry(form.to_owned()).or_default().add(units);
        }
    }

    pub(crate) fn of(&self, table: &TableName) -> Usage {
        let usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        usages.get(table.folded()).map(|counted| counted.usage).unwrap_or_default()
    }

    /// Returns the charges of pages of queries with this SQL text.
    pub(crate) fn of_form(&self, table: &TableName, form: &str) -> Option<Charges> {
        let usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        usages.get(table.folded())?.forms.get(form).copied()
    }
}
