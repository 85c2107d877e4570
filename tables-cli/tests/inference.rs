//! Tests that `infer` writes the declarations in `tests/inferred`. `TABLES_UPDATE=1 cargo test -p tables-cli --test inference` updates the files.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod layouts;

use std::path::Path;

use layouts::published;

use table_core::TableEntity;
use table_inspect::infer::infer;

/// A function that returns sample rows in one layout.
type Rows = fn() -> Vec<TableEntity>;

#[test]
fn published_layouts_are_inferred() {
    let all: [(&str, Rows); 19] = [
        ("akka_journal", published::akka_journal),
        ("bot_state", published::bot_state),
        ("chunks", layouts::chunks),
        ("diagnostics", layouts::diagnostics),
        ("durable_history", published::durable_history),
        ("durable_instances", published::durable_instances),
        ("elmah", published::elmah),
        ("identity", layouts::identity),
        ("leases", layouts::leases),
        ("logs", layouts::logs),
        ("metrics", layouts::metrics),
        ("orleans_reminders", published::orleans_reminders),
        ("orleans_state", published::orleans_state),
        ("sagas", layouts::sagas),
        ("serilog", published::serilog),
        ("streams", layouts::streams),
        ("subscriptions", published::subscriptions),
        ("telemetry", published::telemetry),
        ("wad_logs", published::wad_logs),
    ];
    for (name, rows) in all {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inferred").join(name).with_extension("rs");
        let inferred = infer("Things", &rows());
        assert_eq!(inferred.unexplained, [], "{name}");
        let text = inferred.to_string();
        if std::env::var_os("TABLES_UPDATE").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{}", path.display());
    }
}
