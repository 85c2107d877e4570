//! The `native_db` crate, which stores typed structs in redb, encoded with bincode. Every operation is a separate transaction.

use std::path::Path;

use chrono::{DateTime, Utc};
use native_db::transaction::RTransaction;
use native_db::{Builder, Database, Key, Models, ToKey, native_db};
use native_model::{Model, native_model};
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::data::{PARTITION, Reading};
use crate::peer::{CACHE, Peer, Reader, See};

/// A reading with a compound primary key, declared as a `native_db` type.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[native_model(id = 1, version = 1)]
#[native_db]
struct Stored {
    #[primary_key]
    place: Place,
    reading: Properties,
}

/// The primary key: the name of the partition and the number. It is encoded as bytes that sort in this order.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    site: String,
    number: u32,
}

impl ToKey for Place {
    fn to_key(&self) -> Key {
        let mut bytes = Vec::with_capacity(self.site.len() + 5);
        bytes.extend_from_slice(self.site.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(&self.number.to_be_bytes());
        Key::new(bytes)
    }

    fn key_names() -> Vec<String> {
        vec!["Place".to_owned()]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Properties {
    device: String,
    operator: String,
    quantity: String,
    remark: String,
    level: i32,
    retries: i32,
    total: i64,
    value: f64,
    valid: bool,
    at: i64,
}

impl From<Reading> for Stored {
    fn from(reading: Reading) -> Self {
        Self {
            place: Place { site: reading.site, number: reading.number },
            reading: Properties {
                device: reading.device,
                operator: reading.operator,
                quantity: reading.quantity,
                remark: reading.remark,
                level: reading.level,
                retries: reading.retries,
                total: reading.total,
                value: reading.value,
                valid: reading.valid,
                at: reading.at.timestamp_micros(),
            },
        }
    }
}

impl From<Stored> for Reading {
    fn from(Stored { place, reading }: Stored) -> Self {
        Self {
            site: place.site,
            number: place.number,
            device: reading.device,
            operator: reading.operator,
            quantity: reading.quantity,
            remark: reading.remark,
            level: reading.level,
            retries: reading.retries,
            total: reading.total,
            value: reading.value,
            valid: reading.valid,
            at: DateTime::<Utc>::from_timestamp_micros(reading.at).unwrap_or_default(),
        }
    }
}

/// A database of readings.
pub struct NativeDb {
    database: Database<'static>,
}

impl std::fmt::Debug for NativeDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeDb").finish_non_exhaustive()
    }
}

impl NativeDb {
    /// Creates a database.
    pub fn create(path: &Path) -> Outcome<Self> {
        let mut models = Models::new();
        models.define::<Stored>()?;
        // The models must outlive the database. They are therefore leaked, and live until the end of the run.
        let models: &'static Models = Box::leak(Box::new(models));
        Ok(Self { database: Builder::new().set_cache_size(CACHE).create(models, path)? })
    }

    fn write(&self, readings: impl IntoIterator<Item = Reading>) -> Outcome<()> {
        let transaction = self.database.rw_transaction()?;
        for reading in readings {
            transaction.insert(Stored::from(reading))?;
        }
        Ok(transaction.commit()?)
    }
}

impl Peer for NativeDb {
    fn name(&self) -> &'static str {
        "native_db"
    }

    fn load(&self, entities: u32) -> Outcome<()> {
        let mut left = 0..entities;
        while !left.is_empty() {
            self.write(left.by_ref().take(100 * PARTITION as usize).map(Reading::at))?;
        }
        Ok(())
    }

    fn reader(&self) -> Outcome<Box<dyn Reader + '_>> {
        Ok(Box::new(Transactions { database: &self.database }))
    }

    fn insert(&self, reading: Reading) -> Outcome<()> {
        self.write([reading])
    }

    fn transaction(&self, readings: Vec<Reading>) -> Outcome<()> {
        self.write(readings)
    }
}

/// A reader that begins a transaction for each read. It therefore sees all earlier writes, as `Peer` requires.
struct Transactions<'a> {
    database: &'a Database<'static>,
}

fn partition(
    transaction: &RTransaction<'_>,
    site: &str,
    wanted: impl Fn(&Stored) -> bool,
    see: See<'_>,
) -> Outcome<()> {
    let place = |number| Place { site: site.to_owned(), number };
    let mut readings: Vec<Reading> = Vec::new();
    let table = transaction.scan().primary::<Stored>()?;
    for stored in table.range(place(0)..=place(u32::MAX))? {
        let stored = stored?;
        if wanted(&stored) {
            readings.push(stored.into());
            if readings.len() == PARTITION as usize {
                break;
            }
        }
    }
    readings.iter().for_each(see);
    Ok(())
}

impl Reader for Transactions<'_> {
    fn get(&mut self, site: &str, number: u32) -> Outcome<Option<Reading>> {
        let transaction = self.database.r_transaction()?;
        let stored = transaction.get().primary::<Stored>(Place { site: site.to_owned(), number })?;
        Ok(stored.map(Reading::from))
    }

    fn page(&mut self, site: &str, see: See<'_>) -> Outcome<()> {
        partition(&self.database.r_transaction()?, site, |_| true, see)
    }

    fn filter(&mut self, site: &str, level: i32, see: See<'_>) -> Outcome<()> {
        partition(&self.database.r_transaction()?, site, |stored| stored.reading.level == level, see)
    }
}
