//! Writes metrics in the Prometheus text format.

use std::fmt::{Display, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Metrics;
use super::histogram::BOUNDS;
use crate::account::Account;
use crate::operation::Operation;

/// The maximum number of partitions listed per account, busiest first.
const HOTTEST: usize = 10;

/// The number of open connections, and the number of requests in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnderWay {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
}

/// Returns all metrics of a server as text.
pub(crate) fn write(metrics: &Metrics, accounts: &[Arc<Account>], under_way: UnderWay) -> String {
    let mut text = Text(String::with_capacity(16 << 10));
    text.head("connections", "gauge", "", "Open connections.");
    text.line(&"table_server_connections", &under_way.connections);
    text.head("requests_under_way", "gauge", "", "Requests in progress.");
    text.line(&"table_server_requests_under_way", &under_way.requests);
    requests(&mut text, metrics);
    latencies(&mut text, metrics);
    for (name, help, number) in [
        ("rows_read", "Entities read by queries.", &metrics.rows_read),
        ("rows_returned", "Entities returned by queries.", &metrics.rows_returned),
        ("rows_written", "Entities written.", &metrics.rows_written),
        ("request_bytes", "Bytes of request bodies.", &metrics.bytes_in),
        ("response_bytes", "Bytes of response bodies.", &metrics.bytes_out),
    ] {
        text.head(name, "counter", "_total", help);
        text.line(&format_args!("table_server_{name}_total"), &number.load(Ordering::Relaxed));
    }
    engines(&mut text, accounts);
    partitions(&mut text, accounts);
    text.0
}

fn requests(text: &mut Text, metrics: &Metrics) {
    text.head("requests", "counter", "_total", "Requests completed.");
    for (operation, class, status, count) in metrics.requests.each() {
        let operation = operation.name();
        text.line(
            &format_args!("table_server_requests_total{{operation=\"{operation}\",class=\"{class}\",status=\"{status}\"}}"),
            &count,
        );
    }
}

fn latencies(text: &mut Text, metrics: &Metrics) {
    text.head("request_seconds", "histogram", "", "Time from the head of a request to its response.");
    for (operation, histogram) in Operation::ALL.iter().zip(&metrics.latencies) {
        let (counts, micros) = histogram.read();
        let all = counts.last().copied().unwrap_or_default();
        if all == 0 {
            continue;
        }
        let operation = operation.name();
        for (bound, count) in BOUNDS.iter().zip(counts) {
            let bound = Seconds(*bound);
            text.line(
                &format_args!(
                    "table_server_request_seconds_bucket{{operation=\"{operation}\",le=\"{bound}\"}}"
                ),
                &count,
            );
        }
        text.line(
            &format_args!("table_server_request_seconds_bucket{{operation=\"{operation}\",le=\"+Inf\"}}"),
            &all,
        );
        text.line(
            &format_args!("table_server_request_seconds_sum{{operation=\"{operation}\"}}"),
            &Seconds(micros),
        );
        text.line(&format_args!("table_server_request_seconds_count{{operation=\"{operation}\"}}"), &all);
    }
}

/// Writes the statistics of each account's engine.
fn engines(text: &mut Text, accounts: &[Arc<Account>]) {
    let statistics: Vec<_> = accounts
        .iter()
        .filter_map(|account| Some((account.name(), account.engine.statistics().ok()?)))
        .collect();
    let mut each = |name: &str,
                    kind,
                    suffix: &str,
                    help,
                    value: &dyn Fn(&table_core::embedded::Statistics) -> Option<u64>| {
        text.head(name, kind, suffix, help);
        for (account, statistics) in &statistics {
            if let Some(value) = value(statistics) {
                text.line(&format_args!("table_server_{name}{suffix}{{account=\"{account}\"}}"), &value);
            }
        }
    };
    each("engine_groups", "counter", "_total", "Groups of writes made durable together.", &|all| {
        Some(all.groups)
    });
    each("engine_group_writes", "counter", "_total", "Writes of these groups.", &|all| {
        Some(all.grouped_writes)
    });
    each("engine_largest_group", "gauge", "", "Writes of the largest group.", &|all| Some(all.largest_group));
    each(
        "engine_checkpoint_age_seconds",
        "gauge",
        "",
        "Time since the last checkpoint; absent before the first one.",
        &|all| all.checkpoint_age.map(|age| age.as_secs()),
    );
    each("engine_recent_bytes", "gauge", "", "Memory of rows that are not in a checkpoint yet.", &|all| {
        Some(all.memtable_bytes as u64)
    });
    each("engine_base_bytes", "gauge", "", "Bytes of the base on disk.", &|all| Some(all.base_bytes));
    each("engine_tables", "gauge", "", "Tables.", &|all| Some(all.tables as u64));
}

/// Writes the partitions with the most requests.
fn partitions(text: &mut Text, accounts: &[Arc<Account>]) {
    let help = "Requests to the busiest partitions, estimated; older requests count less.";
    text.head("hot_partition_requests", "gauge", "", help);
    for account in accounts {
        for busy in account.traffic.load.busiest().iter().take(HOTTEST) {
            let (name, table, partition) = (account.name(), Label(&busy.table), Label(&busy.partition_key));
            text.line(
                &format_args!(
                    "table_server_hot_partition_requests{{account=\"{name}\",table=\"{table}\",partition=\"{partition}\"}}"
                ),
                &busy.weight,
            );
        }
    }
}

struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, suffix: &str, help: &str) {
        // Writing to a string never fails.
        let _ = write!(
            self.0,
            "# HELP table_server_{name}{suffix} {help}\n# TYPE table_server_{name}{suffix} {kind}\n"
        );
    }

    fn line(&mut self, name: &dyn Display, value: &dyn Display) {
        let _ = writeln!(self.0, "{name} {value}");
    }
}

/// A number of microseconds, formatted as seconds.
struct Seconds(u64);

impl Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// A label value, formatted with special characters escaped.
struct Label<'a>(&'a str);

impl Display for Label<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for one in self.0.chars() {
            match one {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_seconds() {
        assert_eq!(Label("a\"b\\c\nd").to_string(), "a\\\"b\\\\c\\nd");
        assert_eq!(Seconds(1_000_050).to_string(), "1.000050");
    }
}
