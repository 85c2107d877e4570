//! Measures the request units charged for each operation, and adds them up for each table.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use azure_data_cosmos::CosmosError;
use azure_data_cosmos::diagnostics::DiagnosticsContext;
use table_core::TableName;

use crate::containers::Container;

tokio::task_local! {
    /// The measurements of the operation running on the current task.
    static REQUESTS: Requests;
}

/// Measurements of a single operation's requests.
#[derive(Default)]
struct Requests {
    units: Cell<f64>,
    container: RefCell<Option<Container>>,
}

/// Records the container used by the current operation.
pub(crate) fn opened(container: &Container) {
    // A request outside an operation, such as one for a query plan, returns no data from items.
    let _ = REQUESTS.try_with(|requests| *requests.container.borrow_mut() = Some(container.clone()));
}

/// Adds the charges of a failed request to the current operation.
pub(crate) fn charge_failed(error: &CosmosError) {
    if let Some(diagnostics) = error.diagnostics() {
        charge(&diagnostics);
    }
}

/// Adds the charges of requests to the total of the current operation. Every request that received a response counts, including the Azure SDK's retries.
pub(crate) fn charge(diagnostics: &DiagnosticsContext) {
    let units = diagnostics.total_request_charge().value();
    // Requests outside an operation, such as reads of a container's properties, are not counted.
    let _ = REQUESTS.try_with(|requests| requests.units.set(requests.units.get() + units));
}

/// The result of an operation, with the measurements of its requests.
pub(crate) struct Measured<T> {
    pub(crate) result: T,
    /// The request units charged for all requests of the operation.
    pub(crate) units: f64,
    /// The container used by the operation, or `None` if it opened none.
    pub(crate) container: Option<Container>,
}

/// Runs an operation and measures its requests.
pub(crate) async fn measured<T>(operation: impl Future<Output = T>) -> Measured<T> {
    let counted = async {
        let result = operation.await;
        let container = REQUESTS.try_with(|requests| requests.container.take()).ok().flatten();
        Measured { result, units: units(), container }
    };
    REQUESTS.scope(Requests::default(), counted).await
}

/// Returns the request units used so far by the current operation.
pub(crate) fn units() -> f64 {
    REQUESTS.try_with(|requests| requests.units.get()).unwrap_or_default()
}

/// A kind of operation, for which request units are counted separately.
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

/// The request units charged for one kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Charges {
    /// The number of operations. Each page of a query counts as one operation.
    pub operations: u64,
    /// The total request units, as charged by the service.
    pub units: f64,
    /// The request units charged for the most expensive operation.
    pub max: f64,
}

impl Charges {
    fn add(&mut self, units: f64) {
        self.operations += 1;
        self.units += units;
        self.max = self.max.max(units);
    }
}

/// The request units charged for a table since its store was opened.
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
    /// The charges for point reads.
    pub gets: Charges,
    /// The charges for query pages.
    pub queries: Charges,
    /// The charges for transactions, including their reads and retries.
    pub submits: Charges,
}

/// The maximum number of SQL texts per table whose charges are recorded separately. The charges of further texts are added only to the total.
const FORMS: usize = 1_000;

/// The usage of one table.
#[derive(Debug, Default)]
struct Counted {
    usage: Usage,
    /// The charges for query pages, by SQL text.
    forms: HashMap<Form, Charges>,
}

/// The hash of a query's SQL text. It is the key for the charges of the query. The text itself may be long, and charges are kept as long as the store is open.
///
/// An empty text represents point reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form(u64);

impl Form {
    pub(crate) fn of(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// The usage of each table, by lower-case table name.
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

    /// Adds the charge for a query page.
    pub(crate) fn add_page(&self, table: &TableName, form: Form, units: f64) {
        let mut usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let forms = &mut usages.entry(table.folded().to_owned()).or_default().forms;
        if forms.len() < FORMS || forms.contains_key(&form) {
            forms.entry(form).or_default().add(units);
        }
    }

    pub(crate) fn of(&self, table: &TableName) -> Usage {
        let usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        usages.get(table.folded()).map(|counted| counted.usage).unwrap_or_default()
    }

    /// Returns the charges for query pages with the given SQL text.
    pub(crate) fn of_form(&self, table: &TableName, form: Form) -> Option<Charges> {
        let usages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        usages.get(table.folded())?.forms.get(&form).copied()
    }
}
