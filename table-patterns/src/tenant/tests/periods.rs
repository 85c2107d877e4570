//! Tests of tenants with several types in the same tables of periods: every row is counted, exported, imported and erased once.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use pollster::block_on;
use table_core::embedded::Engine;
use table_core::key::PartitionKey;
use table_core::query::{KeyRange, Query};
use table_core::store::TableStore;
use table_core::{Entity, ticks};

use super::kit::{export, import};
use crate::feed::Cursor;
use crate::periods::{Period, PeriodTables, Periodic};
use crate::tenant::{ExportPosition, Tenant};

/// A scan, with an index row and an entry of the feed.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans", feed)]
#[partition_key(depot)]
#[row_key("scan_", at)]
#[index(ByParcel, row_key("parcel_", parcel, "_", at))]
struct Scan {
    depot: String,
    at: DateTime<Utc>,
    #[digits(6)]
    parcel: u32,
}

/// The scans of a day.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans")]
#[partition_key(depot)]
#[row_key("sum_", number)]
struct Sum {
    depot: String,
    #[digits(4)]
    number: u32,
    at: DateTime<Utc>,
}

/// A remark. Its declaration writes the table in lower case.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "scans")]
#[partition_key(depot)]
#[row_key("note_", number)]
#[index(ByText, row_key("text_", text, "_", number))]
struct Note {
    depot: String,
    #[digits(4)]
    number: u32,
    #[without('_')]
    text: String,
    at: DateTime<Utc>,
}

/// The balance of a month, in tables with the same prefix and another period.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Scans")]
#[partition_key(depot)]
#[row_key("balance_", number)]
struct Balance {
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

/// A type in the tables of days.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Scan,
    Sum,
    Note,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Scan => "Scan",
            Self::Sum => "Sum",
            Self::Note => "Note",
        }
    }
}

const KINDS: [Kind; 3] = [Kind::Scan, Kind::Sum, Kind::Note];

/// The number of entities of each type in a depot: three on each of three days.
const ENTITIES: u64 = 9;

/// Returns every order of one, two or three types.
fn orders() -> Vec<Vec<Kind>> {
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

/// A store with the handles of its types.
struct Depots {
    store: Engine,
    scans: PeriodTables<Scan, Engine>,
    sums: PeriodTables<Sum, Engine>,
    notes: PeriodTables<Note, Engine>,
    balances: PeriodTables<Balance, Engine>,
}

/// The rows of a store, without stored schemas: the table in lower case, the keys, and the properties.
type Rows = BTreeMap<(String, String, String), String>;

impl Depots {
    fn new() -> Self {
        let store = Engine::in_memory();
        Self {
            scans: PeriodTables::new(store.clone()),
            sums: PeriodTables::new(store.clone()),
            notes: PeriodTables::new(store.clone()),
            balances: PeriodTables::new(store.clone()),
            store,
        }
    }

    /// Returns a store with the rows of two depots. The table of the second of three days has a name in lower case.
    fn filled() -> Self {
        let (depots, noon) = (Self::new(), noon());
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
            self.scans.insert(&Scan { depot: depot.clone(), at, parcel: 7 }).await?;
            self.sums.insert(&Sum { depot: depot.clone(), number, at }).await?;
            self.notes.insert(&Note { depot: depot.clone(), number, text: "late".into(), at }).await?;
            let number = number + at.day() * 10;
            self.balances.insert(&Balance { depot, number, at }).await?;
        }
        Ok(())
    }

    /// Returns a depot with some types in the tables of days.
    fn tenant(&self, depot: &str, kinds: &[Kind]) -> Tenant {
        kinds.iter().fold(Tenant::new(), |tenant, kind| {
            let tenant = match kind {
                Kind::Scan => tenant.with_periods(&self.scans, Scan::partition(depot)),
                Kind::Sum => tenant.with_periods(&self.sums, Sum::partition(depot)),
                Kind::Note => tenant.with_periods(&self.notes, Note::partition(depot)),
            };
            tenant.unwrap()
        })
    }

    /// Returns the rows of a depot in the tables of days, or of months.
    fn rows(&self, depot: &str, period: Period) -> Rows {
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

    /// Checks that the indexes of every day find the entities of a depot, and that its feed has an entry for each scan.
    fn assert_readable(&self, depot: &str) {
        for day in 0..3 {
            let at = noon() - TimeDelta::days(day);
            let scans = block_on(self.scans.entities_of(at)).unwrap();
            assert_eq!(block_on(scans.query(Scan::by_parcel(depot, 7)).collect()).unwrap().len(), 3);
            let notes = block_on(self.notes.entities_of(at)).unwrap();
            assert_eq!(block_on(notes.query(Note::by_text(depot, "late")).collect()).unwrap().len(), 3);
            let (table, key) = (scans.table().name().unwrap(), PartitionKey::new(depot).unwrap());
            let entries = block_on(scans.feed().read(table, &key, &Cursor::default(), 100)).unwrap();
            assert_eq!(entries.len(), 3);
            assert!(block_on(scans.feed().partitions(table)).unwrap().contains(&key));
        }
    }
}

/// Returns noon of the current day, so that no test crosses midnight.
fn noon() -> DateTime<Utc> {
    Period::Day.start(ticks::now()) + TimeDelta::hours(12)
}

/// Returns the number of places of an export, and the table and RowKey of each of its rows.
fn exported(text: &str) -> (usize, Vec<String>) {
    let lines = || text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let places = lines().find_map(|line| line.get("Tenant")?.get("Places")?.as_array().map(Vec::len));
    let rows = lines().filter_map(|line| {
        let row = line.get("Row")?;
        Some(format!("{} {}", row["Table"], row["Entity"]["RowKey"]).to_lowercase())
    });
    (places.unwrap(), rows.collect())
}

#[test]
fn every_row_is_counted_and_exported_once() {
    let depots = Depots::filled();
    let rows = depots.rows("oslo", Period::Day);
    for kinds in orders() {
        let tenant = depots.tenant("oslo", &kinds);
        let count = block_on(tenant.count()).unwrap();
        let expected = kinds.iter().map(|kind| (kind.name(), ENTITIES));
        assert_eq!(count.entities, expected.collect());
        assert_eq!(count.rows(), u64::try_from(rows.len()).unwrap());
        let (places, lines) = exported(&export(&tenant));
        let keys = rows.keys().map(|(table, _, row_key)| format!("\"{table}\" \"{row_key}\"").to_lowercase());
        assert_eq!(places, 1);
        assert_eq!(lines.iter().cloned().collect::<BTreeSet<_>>(), keys.collect());
        assert_eq!(lines.len(), rows.len());
    }
}

#[test]
fn an_export_continues_in_tables_whose_names_differ_in_case() {
    let depots = Depots::filled();
    let tenant = depots.tenant("oslo", &KINDS);
    let whole = export(&tenant);
    for page in [1, 7] {
        let (mut text, mut position) = (String::new(), ExportPosition::default());
        for _ in 0..whole.len() {
            let mut export = tenant.export().page(page).resume(position).unwrap();
            let Some(lines) = block_on(export.step()).unwrap() else { break };
            text += &lines;
            position = export.position().to_string().parse().unwrap();
        }
        assert_eq!(text, whole);
    }
}

#[test]
fn an_import_restores_every_type() {
    let from = Depots::filled();
    let rows = from.rows("oslo", Period::Day);
    for kinds in orders() {
        let to = Depots::new();
        let imported = import(&to.tenant("oslo", &kinds), &export(&from.tenant("oslo", &kinds))).unwrap();
        assert_eq!(imported.rows, u64::try_from(rows.len()).unwrap());
        assert_eq!(to.rows("oslo", Period::Day), rows);
        if kinds.len() == KINDS.len() {
            to.assert_readable("oslo");
        }
    }
}

#[test]
fn a_copy_under_another_name_has_every_row() {
    for kinds in orders().into_iter().filter(|kinds| kinds.len() == KINDS.len()) {
        let depots = Depots::filled();
        let before = depots.rows("oslo", Period::Day);
        let copied =
            block_on(depots.tenant("oslo", &kinds).copy_to(&depots.tenant("malmo", &kinds))).unwrap();
        assert_eq!(copied.rows, u64::try_from(before.len()).unwrap());
        let after = depots.rows("malmo", Period::Day);
        let of_oslo =
            after.into_iter().map(|((table, _, row_key), row)| ((table, "oslo".to_owned(), row_key), row));
        assert_eq!(of_oslo.collect::<Rows>(), before);
        assert_eq!(depots.rows("oslo", Period::Day), before);
        depots.assert_readable("malmo");
    }
}

#[test]
fn an_erasure_leaves_the_other_depot_and_the_other_period() {
    for kinds in orders() {
        let depots = Depots::filled();
        let kept = [("bergen", Period::Day), ("bergen", Period::Month), ("oslo", Period::Month)];
        let before = kept.map(|(depot, period)| depots.rows(depot, period));
        let rows = depots.rows("oslo", Period::Day).len();
        let tenant = depots.tenant("oslo", &kinds);
        let erased = block_on(tenant.erase()).unwrap();
        // The feed of the depot is registered in each table.
        assert_eq!((erased.rows, erased.registrations, erased.passes), (u64::try_from(rows).unwrap(), 3, 1));
        assert_eq!(block_on(tenant.remaining()).unwrap(), 0);
        assert_eq!(depots.rows("oslo", Period::Day), Rows::new());
        assert_eq!(kept.map(|(depot, period)| depots.rows(depot, period)), before);
        depots.assert_readable("bergen");
    }
}

#[test]
fn tables_with_another_period_are_another_place() {
    let depots = Depots::filled();
    let tenant = depots.tenant("oslo", &KINDS);
    let tenant = tenant.with_periods(&depots.balances, Balance::partition("oslo")).unwrap();
    let rows = depots.rows("oslo", Period::Day).len() + depots.rows("oslo", Period::Month).len();
    let count = block_on(tenant.count()).unwrap();
    assert_eq!((count.entities["Balance"], count.rows()), (ENTITIES, u64::try_from(rows).unwrap()));
    let (places, lines) = exported(&export(&tenant));
    assert_eq!((places, lines.len()), (2, rows));
}
