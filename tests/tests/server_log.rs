//! Tests the log and the metrics of a server. The tests are in a separate binary, because the log is global to the process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::Utc;
use table_azure::AzureTables;
use table_core::query::{KeyRange, Query};
use table_core::row::RowWriter;
use table_core::{
    Engine, EntityKey, Operation, OperationKind, PartitionKey, RowKey, TableName, TableStore, TableStoreExt,
    Transaction, ValueRef,
};
use table_server::Config;
use table_wire::auth::AccountKey;
use table_wire::sas::{TablePermissions, TableSas};
use tests::served::{ACCOUNT, KEY, account, asked, with_server};

/// An in-memory log.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn inserts() -> Transaction {
    let limits = Engine::in_memory().capabilities().limits;
    let mut transaction = Transaction::new(PartitionKey::new("Sales").unwrap(), limits).unwrap();
    for number in 0..3 {
        let mut row = RowWriter::new();
        row.property("Age", ValueRef::Int32(34));
        let row_key = RowKey::new(format!("{number:05}")).unwrap();
        transaction.push(Operation { row_key, kind: OperationKind::Insert(row.finish()) }).unwrap();
    }
    transaction
}

#[test]
fn a_table_scan_is_logged_with_its_filter_and_without_secrets() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false);
    subscriber.with_writer(move || writer.clone()).init();
    with_server(Config::on_loopback(account()), async |connection, observed| {
        let tables = AzureTables::from_connection_string(&connection).unwrap();
        let table = TableName::new("Employee").unwrap();
        tables.create_table(&table).await.unwrap();
        tables.submit(&table, inserts()).await.unwrap();
        let scan = Query::parse("Age gt 30").unwrap();
        assert_eq!(tables.query(&table, &scan, None).await.unwrap().rows.len(), 3);
        let partition = Query::new(KeyRange::partition("Sales"));
        assert_eq!(tables.query(&table, &partition, None).await.unwrap().rows.len(), 3);
        // One of these requests has a shared access signature, and another has a wrong key.
        let sas = TableSas::table(table.clone()).allow(TablePermissions::READ);
        let sas = sas.valid_for(Utc::now(), Duration::from_secs(60 * 60));
        let sas = sas.sign(&AccountKey::new(ACCOUNT, KEY).unwrap()).unwrap().query_string();
        let endpoint = connection.split(';').find_map(|part| part.strip_prefix("TableEndpoint=")).unwrap();
        let reader = format!("TableEndpoint={endpoint};SharedAccessSignature={sas}");
        let reader = AzureTables::from_connection_string(&reader).unwrap().untyped("Employee").unwrap();
        assert!(reader.get(&EntityKey::new("Sales", "00001").unwrap()).await.unwrap().is_some());
        let wrong = connection.replace("AccountKey=a2V5", "AccountKey=b3RoZXI=");
        let wrong = AzureTables::from_connection_string(&wrong).unwrap();
        assert!(wrong.create_table(&table).await.is_err());

        let metrics = asked(observed, "/metrics").await;
        for line in [
            "table_server_requests_total{operation=\"QueryEntities\",class=\"table_scan\",status=\"200\"} 1\n",
            "table_server_requests_total{operation=\"QueryEntities\",class=\"partition_scan\",status=\"200\"} 1\n",
            "table_server_requests_total{operation=\"GetEntity\",class=\"point\",status=\"200\"} 1\n",
            "table_server_requests_total{operation=\"CreateTable\",class=\"none\",status=\"403\"} 1\n",
            "table_server_request_seconds_count{operation=\"EntityGroupTransaction\"} 1\n",
            "table_server_rows_read_total 7\n",
            "table_server_rows_returned_total 7\n",
            "table_server_rows_written_total 3\n",
            "table_server_engine_group_writes_total{account=\"contoso\"} ",
            "table_server_hot_partition_requests{account=\"contoso\",table=\"employee\",partition=\"Sales\"} 3\n",
        ] {
            assert!(metrics.contains(line), "{line} in {metrics}");
        }
        assert!(asked(observed, "/ready").await.starts_with("HTTP/1.1 200"));
        assert!(asked(observed, "/health").await.starts_with("HTTP/1.1 200"));
        assert!(asked(observed, "/Employee()").await.starts_with("HTTP/1.1 404"));
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let own: Vec<_> = log.lines().filter(|line| line.contains(" table_server:")).collect();
    let scans: Vec<_> = own.iter().filter(|line| line.contains("a table scan")).collect();
    assert_eq!(scans.len(), 1, "{log}");
    assert!(scans[0].contains(" INFO ") && scans[0].contains("filter=\"Age gt 30\""), "{log}");
    assert!(scans[0].contains("class=table scan") && scans[0].contains("rows_read=3"), "{log}");
    assert_eq!(own.iter().filter(|line| line.contains("a request")).count(), 5, "{log}");
    for secret in [KEY, "b3RoZXI=", "sig=", "SharedKey", "authorization"] {
        let line = own.iter().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
