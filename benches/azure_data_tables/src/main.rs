//! Measures the `azure_data_tables` crate. The program reads commands line by line: `insert 600` runs inserts for about 600 ms.

use std::cell::Cell;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use azure_data_tables::clients::TableServiceClientBuilder;
use azure_data_tables::prelude::*;
use azure_storage::{CloudLocation, StorageCredentials};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ACCOUNT: &str = "devstoreaccount1";
const AT_ONCE: usize = 32;
const ENTITIES: u32 = 10_000;
const READ: &str = "ReadingsToRead";

/// A reading whose times remain strings. The other clients parse times, which takes more work.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Reading {
    partition_key: String,
    row_key: String,
    device: String,
    operator: String,
    quantity: String,
    remark: String,
    level: i32,
    retries: i32,
    #[serde(rename = "Total@odata.type")]
    total_type: String,
    #[serde(with = "text")]
    total: i64,
    value: f64,
    valid: bool,
    #[serde(rename = "At@odata.type")]
    at_type: String,
    at: String,
}

/// A serde module for 64-bit integers. The service represents them as strings in JSON.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(number: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

fn reading(partition_key: String, number: u32) -> Reading {
    Reading {
        partition_key,
        row_key: format!("reading_{number:010}"),
        device: format!("dev-{number:08x}"),
        operator: "Harbour SasVerifier".to_owned(),
        quantity: "temperature".to_owned(),
        remark: "gusts from the west, calm".to_owned(),
        level: 50,
        retries: 2,
        total_type: "Edm.Int64".to_owned(),
        total: i64::from(number) * 1_000,
        value: 417.25,
        valid: true,
        at_type: "Edm.DateTime".to_owned(),
        at: "2026-11-20T08:00:00Z".to_owned(),
    }
}

fn site(index: u32) -> String {
    format!("station-{index:05}")
}

struct Client {
    written: TableClient,
    read: TableClient,
    next: Cell<u32>,
}

impl Client {
    fn turn(&self) -> u32 {
        self.next.replace(self.next.get() + 1)
    }

    async fn insert(&self) -> Outcome<()> {
        let number = self.turn();
        self.written.insert::<_, Reading>(&reading(site(number / 1_000), number))?.await?;
        Ok(())
    }

    async fn operation(&self, work: &str) -> Outcome<()> {
        match work {
            "insert" => self.insert().await,
            "batch" => {
                let partition = format!("batch-{}", self.turn());
                let mut transaction = self.written.partition_key_client(&partition).transaction();
                for number in 0..100 {
                    transaction = transaction.insert(reading(partition.clone(), number))?;
                }
                let answer = transaction.await?;
                let done =
                    answer.operation_responses.iter().filter(|part| part.status_code.is_success()).count();
                if done == 100 { Ok(()) } else { Err(format!("{done} of 100 were inserted").into()) }
            }
            "get" => {
                let index = self.turn() * 7 % ENTITIES;
                let row_key = format!("reading_{:010}", index % 1_000 * 4_000_000 + index / 1_000);
                let entity = self.read.partition_key_client(site(0)).entity_client(row_key);
                black_box(entity.get::<Reading>().await?);
                Ok(())
            }
            "page" => {
                let filter = format!("PartitionKey eq '{}'", site(0));
                let mut pages = self.read.query().filter(filter).into_stream::<Reading>();
                let page = black_box(pages.next().await.ok_or("no page")??);
                if page.entities.len() == 1_000 { Ok(()) } else { Err("the page is short".into()) }
            }
            _ => Err("unknown work".into()),
        }
    }

    async fn work(&self, work: &str, time: Duration) -> Outcome<u64> {
        let start = Instant::now();
        let mut operations = 0;
        if work == "pipelined" {
            let turns = stream::iter(std::iter::from_fn(|| (start.elapsed() < time).then_some(())));
            let mut inserts = std::pin::pin!(turns.map(|()| self.insert()).buffer_unordered(AT_ONCE));
            while inserts.try_next().await?.is_some() {
                operations += 1;
            }
            return Ok(operations);
        }
        loop {
            self.operation(work).await?;
            operations += 1;
            if start.elapsed() >= time {
                return Ok(operations);
            }
        }
    }
}

/// Returns the CPU time used by the running threads of this process, in nanoseconds.
fn busy() -> Outcome<u64> {
    let mut nanos = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0);
    }
    Ok(nanos)
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, key, table] = &arguments[..] else {
        return Err("address, key and table are missing".into());
    };
    let (host, port) = address.split_once(':').ok_or("the address has no port")?;
    let location = CloudLocation::Emulator { address: host.to_owned(), port: port.parse()? };
    let credentials = StorageCredentials::access_key(ACCOUNT, key.clone());
    let service = TableServiceClientBuilder::with_location(location, credentials).build();
    let (written, read) = (service.table_client(table), service.table_client(READ));
    written.create().await?;
    let client = Client { written, read, next: Cell::new(0) };
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (work, millis) = line.split_once(' ').ok_or("work and time are missing")?;
        let (before, start) = (busy()?, Instant::now());
        match client.work(work, Duration::from_millis(millis.parse()?)).await {
            Ok(operations) => println!("{operations} {} {}", start.elapsed().as_nanos(), busy()? - before),
            Err(error) => println!("{}", error.to_string().replace('\n', " ")),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}
