//! A fixture for tenants with one table per period. Each tenant is a depot. Three types share the daily tables, and one type has monthly tables with the same
//! prefix. Scans have photos in blobs, and the lists of notes are stored in blobs or in rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use futures_util::TryStreamExt;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::PartitionKey;
use table_core::query::{KeyRange, Query};
use table_core::store::TableStore;
use table_core::{Entity, ticks};

use crate::blob::BlobRef;
use crate::feed::Cursor;
use crate::index::ListBlobs;
use crate::large::{Large, LargeTable, whole};
use crate::periods::{Period, PeriodTables, Periodic};
use crate::tenant::Tenant;

/// A scan of a parcel. Its type declares an index and a feed.
#[derive(Entity, Large, Clone, Debug, PartialEq)]
#[entity(table = "Scans", feed)]
#[partition_key(depot)]
#[row_key("scan_", at)]
#[index(ByParcel, row_key("parcel_", parcel, "_", at))]
pub(super) struct Scan {
    depot: String,
    at: DateTime<Utc>,
    #[digits(6)]
    parcel: u32,
    #[blob]
    photo: Option<BlobRef>,
}

/// A daily sum. Its type declares neither an index nor a feed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans")]
#[partition_key(depot)]
#[row_key("sum_", number)]
pub(super) struct Sum {
    depot: String,
    #[digits(4)]
    number: u32,
    at: DateTime<Utc>,
}

/// A remark. Its declaration spells the table name in lower case.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "scans")]
#[partition_key(depot)]
#[row_key("note_", number)]
#[index(ByText, row_key("text_", text, "_", number))]
#[index_entity(Texts, at_most = 100, row_key("texts_", text))]
pub(super) struct Note {
    depot: String,
    #[digits(4)]
    number: u32,
    #[without('_')]
    text: String,
    at: DateTime<Utc>,
}

/// A balance, stored in monthly tables whose names have the same prefix as the daily tables.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans")]
#[partition_key(depot)]
#[row_key("balance_", number)]
pub(super) struct Balance {
    depot: String,
    #[digits(4)]
    number: u32,
    at: DateTime<Utc>,
}

macro_rules! periodic {
    ($($entity:ident $period:ident)*) => {
        $(impl Periodic for $entity {
            const PERIOD: Period = Period::$period;
            fn instant(&self) -> DateTime<Utc> {
                self.at
            }
        })*
    };
}

periodic! { Scan Day Sum Day Note Day Balance Month }

/// The types that share the daily tables.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Scan,
    Sum,
    Note,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Scan => "Scan",
            Self::Sum => "Sum",
            Self::Note => "Note",
        }
    }
}

pub(super) const KINDS: [Kind; 3] = [Kind::Scan, Kind::Sum, Kind::Note];

/// The number of entities of each type in a depot: three on each of three days.
pub(super) const ENTITIES: u64 = 9;

/// Returns every non-empty subset of the three types, in every order.
pub(super) fn orders() -> Vec<Vec<Kind>> {
    let mut orders: Vec<Vec<Kind>> = KINDS.iter().map(|kind| vec![*kind]).collect();
    for length in 1..KINDS.len() {
        for order in orders.clone().iter().filter(|order| order.len() == length) {
            for kind in KINDS.iter().filter(|kind| !order.contains(kind)) {
                orders.push([order.as_slice(), &[*kind]].concat());
            }
        }
    }
    assert_eq!(orders.len(), 3 + 6 + 6);
    orders
}

/// A store with handles to its entity types.
pub(super) struct Depots {
    store: Engine,
    blobs: Arc<InMemory>,
    scans: PeriodTables<Scan, Engine>,
    sums: PeriodTables<Sum, Engine>,
    notes: PeriodTables<Note, Engine>,
    pub(super) balances: PeriodTables<Balance, Engine>,
}

/// The rows of a store, without stored schemas. The key consists of the table name in lower case and the row's keys; the value contains the row's properties.
pub(super) type Rows = BTreeMap<(String, String, String), String>;

/// The contents of blobs, by name.
pub(super) type Blobs = BTreeMap<String, Vec<u8>>;

impl Depots {
    /// Returns an empty store. The lists of notes are stored in blobs if `has_lists_in_blobs` is `true`, otherwise in rows.
    pub(super) fn new(has_lists_in_blobs: bool) -> Self {
        let (store, blobs) = (Engine::in_memory(), Arc::new(InMemory::new()));
        let notes = PeriodTables::new(store.clone());
        let lists = ListBlobs::new(blobs.clone(), "lists").spill_above(0);
        Self {
            scans: PeriodTables::new(store.clone()),
            sums: PeriodTables::new(store.clone()),
            notes: if has_lists_in_blobs {
                notes.with_handles(move |handle| handle.with_list_blobs(lists.clone()))
            } else {
                notes
            },
            balances: PeriodTables::new(store.clone()),
            blobs,
            store,
        }
    }

    /// Returns a store with the rows and blobs of two depots on three days. The second day's table name is in lower case.
    pub(super) fn filled(has_lists_in_blobs: bool) -> Self {
        let depots = Self::new(has_lists_in_blobs);
        let noon = noon();
        for day in 0..3 {
            let first = noon - TimeDelta::days(day);
            if day == 1 {
                block_on(depots.notes.entities_of(first)).unwrap();
            }
            for depot in ["oslo", "bergen"] {
                block_on(depots.fill(depot, first)).unwrap();
            }
        }
        depots
    }

    async fn fill(&self, depot: &str, first: DateTime<Utc>) -> table_core::Result<()> {
        for number in 0..3 {
            let (depot, at) = (depot.to_owned(), first + TimeDelta::microseconds(i64::from(number)));
            self.scans.insert(&Scan { depot: depot.clone(), at, parcel: 7, photo: None }).await?;
            self.sums.insert(&Sum { depot: depot.clone(), number, at }).await?;
            self.notes.insert(&Note { depot: depot.clone(), number, text: "late".into(), at }).await?;
            let number = number + at.day() * 10;
            self.balances.insert(&Balance { depot, number, at }).await?;
        }
        let photo = Scan::PHOTO_BLOB.content(whole(format!("{depot} {first}").into_bytes()));
        self.photos(first).await?.set(Scan::key(depot, first), [photo]).await.map(drop)
    }

    /// Returns the handle to the photos of one day.
    pub(super) async fn photos(&self, at: DateTime<Utc>) -> table_core::Result<LargeTable<Scan, Engine>> {
        Ok(LargeTable::new(self.scans.entities_of(at).await?, self.blobs.clone(), "photos"))
    }

    /// Returns the names and contents of a depot's blobs.
    pub(super) fn blobs(&self, depot: &str) -> Blobs {
        let blobs: Vec<_> = block_on(self.blobs.list(None).try_collect()).unwrap();
        let of_depot =
            blobs.into_iter().filter(|blob| blob.location.parts().any(|part| part.as_ref() == depot));
        let read =
            |path: &Path| block_on(async { self.blobs.get(path).await?.bytes().await }).unwrap().to_vec();
        of_depot.map(|blob| (blob.location.to_string(), read(&blob.location))).collect()
    }

    /// Returns a depot's blobs referenced by rows in the daily tables. Earlier blobs of a list remain until a collector removes them.
    pub(super) fn referenced_blobs(&self, depot: &str) -> Blobs {
        let rows = self.rows(depot, Period::Day);
        let is_referenced = |name: &String| rows.values().any(|row| row.contains(name));
        self.blobs(depot).into_iter().filter(|(name, _)| is_referenced(name)).collect()
    }

    /// Returns a tenant consisting of one depot. The types in `kinds` are registered for the daily tables. The photos of all days are registered with the
    /// handle of one day.
    pub(super) fn tenant(&self, depot: &str, kinds: &[Kind]) -> Tenant {
        let tenant = kinds.iter().fold(Tenant::new(), |tenant, kind| {
            let tenant = match kind {
                Kind::Scan => tenant.with_periods(&self.scans, Scan::partition(depot)),
                Kind::Sum => tenant.with_periods(&self.sums, Sum::partition(depot)),
                Kind::Note => tenant.with_periods(&self.notes, Note::partition(depot)),
            };
            tenant.unwrap()
        });
        tenant.with_blobs(&block_on(self.photos(noon())).unwrap()).unwrap()
    }

    /// Returns a depot's rows in the daily or the monthly tables.
    pub(super) fn rows(&self, depot: &str, period: Period) -> Rows {
        let mut rows = BTreeMap::new();
        for table in block_on(self.store.list_tables("Scans", None, 1000)).unwrap().names {
            if period.parse(&table.as_str()["Scans".len()..]).is_none() {
                continue;
            }
            let page = block_on(self.store.query(&table, &Query::new(KeyRange::ALL), None)).unwrap();
            for row in page.rows.iter().filter(|row| row.partition_key == depot) {
                let mut properties: Vec<_> =
                    row.row.properties().map(|property| format!("{:?}", property.unwrap())).collect();
                properties.sort();
                let key = (table.folded().to_owned(), depot.to_owned(), row.row_key.to_owned());
                rows.insert(key, properties.join(";"));
            }
        }
        rows
    }

    /// Checks that each day's indexes find the depot's entities, and that each day's feed has an entry for each scan.
    pub(super) fn assert_readable(&self, depot: &str) {
        for day in 0..3 {
            let at = noon() - TimeDelta::days(day);
            let scans = block_on(self.scans.entities_of(at)).unwrap();
            assert_eq!(block_on(scans.query(Scan::by_parcel(depot, 7)).collect()).unwrap().len(), 3);
            let notes = block_on(self.notes.entities_of(at)).unwrap();
            assert_eq!(block_on(notes.query(Note::by_text(depot, "late")).collect()).unwrap().len(), 3);
            let (table, key) = (scans.table().name().unwrap(), PartitionKey::new(depot).unwrap());
            let entries = block_on(scans.feed().read(table, &key, &Cursor::default(), 100)).unwrap();
            // Three inserts, and the update that sets a photo.
            assert_eq!(entries.len(), 4);
            assert!(block_on(scans.feed().partitions(table)).unwrap().contains(&key));
        }
    }
}

/// Returns noon of the current day. The fixed hour ensures that no test crosses midnight.
pub(super) fn noon() -> DateTime<Utc> {
    Period::Day.start(ticks::now()) + TimeDelta::hours(12)
}
