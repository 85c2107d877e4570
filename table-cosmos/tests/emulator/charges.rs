//! Tests of the request units reported in tracing spans, table usage and query plans.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use table_core::query::{KeyRange, Query, Select, TextRange};
use table_core::{EntityKey, IfMatch, OperationKind, TableName, TableStore};
use table_cosmos::Options;
use table_cosmos::emulator::{Delivery, Emulator, Network, Request};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::operation::{row, transaction};
use crate::runtime;

/// A mock network that adds up the charges of all item requests.
struct Watching {
    account: Emulator,
    charged: Arc<Mutex<f64>>,
}

impl Watching {
    fn new(account: &Emulator) -> Arc<Self> {
        Arc::new(Self { account: account.clone(), charged: Arc::default() })
    }

    fn take(&self) -> f64 {
        std::mem::take(&mut *self.charged.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watching")
    }
}

impl Network for Watching {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, charged) = (self.account.clone(), self.charged.clone());
        Box::pin(async move {
            let answer = account.receive(&request).await?;
            let mut headers = answer.headers.iter();
            let charge = headers.find(|(name, _)| name == "x-ms-request-charge");
            if let Some((_, units)) = charge.filter(|_| request.target.contains("/docs")) {
                *charged.lock().unwrap_or_else(PoisonError::into_inner) += units.parse::<f64>().unwrap();
            }
            Ok(answer)
        })
    }
}

#[test]
fn each_operation_counts_the_request_units_that_the_service_charged() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Things").unwrap();
        account.create(&table, 1, 4, None).unwrap();
        let network = Watching::new(&account);
        let store = account.open_over(Options::new(), network.clone()).await.unwrap();
        let key = EntityKey::new("p", "a").unwrap();
        store.get(&table, &key, &Select::All).await.unwrap();
        network.take();
        let before = store.usage(&table);

        let insert = transaction(&store, [("a".to_owned(), OperationKind::Insert(row("x")))]);
        store.submit(&table, insert).await.unwrap();
        let inserted = network.take();
        // A merge is one operation, consisting of a read and a replace.
        let merge = transaction(&store, [("a".to_owned(), OperationKind::Merge(row("y"), IfMatch::Any))]);
        store.submit(&table, merge).await.unwrap();
        let merged = network.take();
        let batch = ["b", "c"].map(|row_key| (row_key.to_owned(), OperationKind::InsertOrReplace(row("z"))));
        store.submit(&table, transaction(&store, batch)).await.unwrap();
        let batched = network.take();
        store.get(&table, &key, &Select::All).await.unwrap();
        let read = network.take();
        store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap();
        let asked = network.take();

        let usage = store.usage(&table);
        let all = [inserted, merged, batched, read, asked];
        assert!(all.iter().all(|units| *units > 0.0) && merged > inserted, "{all:?}");
        assert_eq!((usage.submits.operations, usage.gets.operations - before.gets.operations), (3, 1));
        let close = |left: f64, right: f64| assert!((left - right).abs() < 1e-6, "{left} {right}");
        close(usage.submits.units, inserted + merged + batched);
        close(usage.submits.max, merged);
        close(usage.gets.units - before.gets.units, read);
        close(usage.queries.units - before.queries.units, asked);
        assert_eq!(store.usage(&TableName::new("Other").unwrap()), table_cosmos::Usage::default());
    });
}

#[test]
fn hpk_39_the_plan_of_a_query_has_the_charges_of_its_earlier_runs() {
    runtime().block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Things").unwrap();
        account.create(&table, 1, 4, None).unwrap();
        let network = Watching::new(&account);
        let store = account.open_over(Options::new(), network.clone()).await.unwrap();
        let rows = (0..30).map(|at| (format!("{at:02}"), OperationKind::Insert(row("x"))));
        store.submit(&table, transaction(&store, rows)).await.unwrap();
        let of = |key: &str| Query { top: Some(20), ..Query::new(KeyRange::partition(key)) };
        assert!(store.explain(&table, &of("p")).await.unwrap().measured.is_none());
        network.take();
        // Two pages for one key and one page for another key have the same SQL text, so they count as three pages.
        let first = store.query(&table, &of("p"), None).await.unwrap();
        let mut pages = vec![network.take()];
        store.query(&table, &of("p"), first.continuation.as_ref()).await.unwrap();
        pages.push(network.take());
        store.query(&table, &of("q"), None).await.unwrap();
        pages.push(network.take());
        let plan = store.explain(&table, &of("p")).await.unwrap();
        let measured = plan.measured.unwrap();
        assert_eq!(measured.operations, 3);
        assert!((measured.units - pages.iter().sum::<f64>()).abs() < 1e-6, "{measured:?} {pages:?}");
        assert!(
            (measured.max - pages.iter().copied().fold(0.0, f64::max)).abs() < 1e-6,
            "{measured:?} {pages:?}"
        );
        let text = plan.to_string();
        assert!(
            text.contains(" to ") && text.contains("measured: ") && text.contains("for 3 pages"),
            "{text}"
        );
        assert!(store.explain(&table, &Query::new(KeyRange::ALL)).await.unwrap().measured.is_none());
        // A point read has no SQL text, so its charges are recorded separately.
        let point = KeyRange { row_key: TextRange::exactly("07"), ..KeyRange::partition("p") };
        store.query(&table, &Query::new(point.clone()), None).await.unwrap();
        let read = network.take();
        let measured = store.explain(&table, &Query::new(point)).await.unwrap().measured.unwrap();
        assert!(measured.operations == 1 && (measured.units - read).abs() < 1e-6, "{measured:?} {read}");
    });
}

/// An operation's verb, and the request units recorded in its span.
type Charged = (String, Option<f64>);

/// A tracing subscriber that records the verb and the request units of each operation's span.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Charged>>>);

impl Visit for Spans {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "verb" {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((format!("{value:?}"), None));
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        let mut spans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(span) = spans.last_mut().filter(|_| field.name() == "request_units") {
            span.1 = Some(value);
        }
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target() == "table_cosmos"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn the_span_of_an_operation_has_its_request_units() {
    let spans = Spans::default();
    let guard = tracing::subscriber::set_default(spans.clone());
    // The subscriber is set for this thread only.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let charged = runtime.block_on(async {
        let account = Emulator::new(false).unwrap();
        let table = TableName::new("Things").unwrap();
        account.create(&table, 1, 4, None).unwrap();
        let network = Watching::new(&account);
        let store = account.open_over(Options::new(), network.clone()).await.unwrap();
        store.query(&table, &Query::new(KeyRange::ALL), None).await.unwrap();
        // Another test's thread, which has no subscriber, may have registered the span's callsite.
        tracing::callsite::rebuild_interest_cache();
        network.take();
        spans.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let insert = transaction(&store, [("a".to_owned(), OperationKind::Insert(row("x")))]);
        store.submit(&table, insert).await.unwrap();
        let submitted = network.take();
        store.get(&table, &EntityKey::new("p", "a").unwrap(), &Select::All).await.unwrap();
        [("submit", submitted), ("get", network.take())]
    });
    drop(guard);
    let spans = spans.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    assert_eq!(spans.len(), charged.len(), "{spans:?}");
    for ((verb, units), (expected, charge)) in spans.iter().zip(charged) {
        assert_eq!(verb, expected);
        assert!(units.is_some_and(|units| (units - charge).abs() < 1e-6 && charge > 0.0), "{spans:?}");
    }
}
