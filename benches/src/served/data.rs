//! The tables read by the load. They differ in their numbers of entities and partitions.

use std::fmt::Write;

use table_wire::auth::Scheme;

use crate::Outcome;
use crate::served::connection::{Connection, Wait};
use crate::served::load;
use crate::served::request::Sent;
use crate::served::work::{Place, check};

/// The shape of a table: its numbers of entities and partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The name of the table.
    pub table: &'static str,
    /// The name of the shape as shown in the report.
    pub title: &'static str,
    /// The number of entities.
    pub entities: u32,
    /// The number of partitions. All partitions have the same number of entities.
    pub partitions: u32,
}

impl Shape {
    /// All shapes, in ascending order of the number of entities.
    pub const ALL: [Self; 4] = [
        Self { table: "Few10k", title: "10k in 10 partitions", entities: 10_000, partitions: 10 },
        Self { table: "Many10k", title: "10k in 100 partitions", entities: 10_000, partitions: 100 },
        Self { table: "Few100k", title: "100k in 10 partitions", entities: 100_000, partitions: 10 },
        Self { table: "Many100k", title: "100k in 1,000 partitions", entities: 100_000, partitions: 1_000 },
    ];

    /// Returns the keys of the entity with the given index.
    #[must_use]
    pub fn key(&self, index: u32) -> (String, String) {
        (partition(index % self.partitions), row(index / self.partitions))
    }
}

/// Returns the `PartitionKey` of the partition with the given number.
#[must_use]
pub fn partition(number: u32) -> String {
    format!("p{number:05}")
}

/// Returns the `RowKey` of the row with the given number.
#[must_use]
pub fn row(number: u32) -> String {
    format!("{number:07}")
}

/// Returns the JSON body of an entity.
#[must_use]
pub fn entity(partition: &str, row: &str, number: u32) -> String {
    format!(
        "{{\"PartitionKey\":\"{partition}\",\"RowKey\":\"{row}\",\"Site\":\"Building 12, floor 3\",\"Celsius\":21.25,\
         \"Count\":{},\"Sequence@odata.type\":\"Edm.Int64\",\"Sequence\":\"{number}\",\
         \"MeasuredAt@odata.type\":\"Edm.DateTime\",\"MeasuredAt\":\"2026-11-20T09:00:00Z\",\"Calibrated\":true}}",
        number % 100
    )
}

/// Returns the body of a transaction that inserts entities into the given partition.
#[must_use]
pub fn transaction(
    place: &Place,
    table: &str,
    partition: &str,
    rows: impl Iterator<Item = (String, u32)>,
) -> String {
    let mut body = String::from("--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n");
    for (row, number) in rows {
        let entity = entity(partition, &row, number);
        // Writing to a string never fails.
        let _ = write!(
            body,
            "--changeset_c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
             POST http://{}{}/{table} HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\
             Content-Type: application/json\r\nPrefer: return-no-content\r\nDataServiceVersion: 3.0\r\n\r\n{entity}\r\n",
            place.tables, place.account_path
        );
    }
    body + "--changeset_c--\r\n--batch_b--\r\n"
}

/// The media type of the body of a transaction.
pub const MULTIPART: &str = "multipart/mixed; boundary=batch_b";

/// Creates the table for a shape and inserts its entities over eight connections.
pub fn fill(place: &Place, shape: &Shape) -> Outcome<()> {
    create(place, shape.table)?;
    let rows = shape.entities / shape.partitions;
    let groups: Vec<_> = (0..shape.partitions)
        .flat_map(|partition| {
            (0..rows).step_by(100).map(move |first| (partition, first, rows.min(first + 100)))
        })
        .collect();
    load::share(
        8,
        &groups,
        |connection: &mut Connection, &(number, first, end)| {
            let partition = partition(number);
            let rows = (first..end).map(|row_number| (row(row_number), row_number));
            post(place, connection, &transaction(place, shape.table, &partition, rows))
        },
        || Connection::open(&place.tables, &place.key, Scheme::Table, Wait::Asleep),
    )
}

/// Returns a request that sends a transaction to `path`.
#[must_use]
pub const fn batch<'a>(path: &'a str, body: &'a str) -> Sent<'a> {
    Sent { method: "POST", path, query: "", media_type: MULTIPART, body }
}

/// Sends a transaction and checks that it succeeded.
pub fn post(place: &Place, connection: &mut Connection, body: &str) -> Outcome<()> {
    done(connection.exchange(&batch(&format!("{}/$batch", place.account_path), body))?)
}

/// Checks that a transaction succeeded. The status of the transaction is in the body of the response.
pub fn done(answer: (u16, &[u8])) -> Outcome<()> {
    check(answer, 202)?;
    if answer.1.windows(12).any(|window| window == b"HTTP/1.1 204") { Ok(()) } else { check(answer, 204) }
}

/// Creates a table.
pub fn create(place: &Place, table: &str) -> Outcome<()> {
    let mut connection = Connection::open(&place.tables, &place.key, Scheme::Table, Wait::Asleep)?;
    let path = format!("{}/Tables", place.account_path);
    let body = format!("{{\"TableName\":\"{table}\"}}");
    let media_type = "application/json";
    let answer =
        connection.exchange(&Sent { method: "POST", path: &path, query: "", media_type, body: &body })?;
    check(answer, 204)
}
