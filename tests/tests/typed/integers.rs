//! Tests field types: 64-bit integers, days, times, IP addresses, and a deprecated field.

#![deny(deprecated, reason = "generated code must not warn about a deprecated field")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::IpAddr;

use chrono::{NaiveDate, NaiveTime};
use pollster::block_on;
use table_core::entity::check_round_trip;
use table_core::{Engine, Entity, EntityKey, ErrorCode, TableEntity, TableStoreExt, Value};

/// A .NET `long`. In the key, it is formatted with `D11` (at least eleven digits). It is also stored as a property of type `Edm.Int64`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bands")]
#[partition_key(region)]
#[row_key(digits(11, nonnegative, stop), "_", category)]
struct Band {
    region: String,
    #[property("StopFrequency", also)]
    stop: i64,
    category: String,
}

/// The same rows, read with an unsigned type for the field.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Bands")]
#[partition_key(region)]
#[row_key(digits(11, stop), "_", category)]
struct UnsignedBand {
    region: String,
    #[property("StopFrequency", also)]
    stop: u64,
    category: String,
}

#[test]
fn a_number_is_digits_in_the_key_and_an_int64_property() {
    let engine = Engine::in_memory();
    let bands = engine.table::<Band>().create_if_missing();
    block_on(async {
        let bands = bands.await.unwrap();
        let row = TableEntity::new("eu", "00478000000_TV").unwrap().with("StopFrequency", 478_000_000_i64);
        engine.untyped("Bands").unwrap().insert(&row).await.unwrap();
        let band = Band { region: "eu".to_owned(), stop: 478_000_000, category: "TV".to_owned() };
        assert_eq!(
            bands.query(Band::rows("eu").stop(1..)).collect().await.unwrap(),
            std::slice::from_ref(&band)
        );
        let unsigned = engine.table::<UnsignedBand>();
        let read = unsigned.get(UnsignedBand::key("eu", 478_000_000_u64, "TV")).await.unwrap().unwrap();
        assert_eq!(read.stop, 478_000_000);
        let negative = bands.insert(&Band { stop: -1, ..band }).await.unwrap_err();
        assert_eq!(negative.code(), ErrorCode::KeyEncoding);
    });
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Shifts")]
#[partition_key(site)]
#[row_key(pattern("yyyy-MM-dd", day), "_", digits(20, number))]
struct Shift {
    site: String,
    #[property(also)]
    day: NaiveDate,
    number: u64,
    begins: NaiveTime,
    gate: IpAddr,
    bytes: u64,
    ends: Option<NaiveTime>,
    #[deprecated = "read `bytes`"]
    kilobytes: u32,
}

impl Shift {
    fn new(day: &str, begins: &str, bytes: u64) -> Self {
        #[expect(deprecated, reason = "every field is set")]
        Self {
            site: "north".to_owned(),
            day: day.parse().unwrap(),
            number: u64::MAX,
            begins: begins.parse().unwrap(),
            gate: "2001:db8::1".parse().unwrap(),
            bytes,
            ends: None,
            kilobytes: 7,
        }
    }
}

#[test]
fn days_times_addresses_and_unsigned_numbers_are_properties() {
    let shifts =
        [Shift::new("2014-04-23", "09:05:00", 0), Shift::new("2014-04-24", "23:59:59.999999999", 1 << 62)];
    check_round_trip(&shifts).unwrap();
    block_on(async {
        let engine = Engine::in_memory();
        let table = engine.table::<Shift>().create_if_missing().await.unwrap();
        for shift in &shifts {
            table.insert(shift).await.unwrap();
        }
        let [first, second] = &shifts;
        let all = || table.query(Shift::partition("north"));
        let day = first.day;
        assert_eq!(
            all().filter(Shift::BEGINS.gt(first.begins)).collect().await.unwrap(),
            std::slice::from_ref(second)
        );
        assert_eq!(all().filter(Shift::BYTES.lt(u64::MAX)).count().await.unwrap(), 2);
        assert_eq!(
            all().filter(Shift::BYTES.is_in([0, 1])).collect().await.unwrap(),
            std::slice::from_ref(first)
        );
        assert_eq!(all().filter(Shift::GATE.eq(first.gate)).count().await.unwrap(), 2);
        assert_eq!(
            table.query(Shift::rows("north").day_is(day)).collect().await.unwrap(),
            std::slice::from_ref(first)
        );
        let bag = engine.untyped("Shifts").unwrap();
        let key = EntityKey::new("north", "2014-04-23_18446744073709551615").unwrap();
        let row = bag.get(&key).await.unwrap().unwrap();
        assert_eq!(row.get("Day"), Some(&Value::from("2014-04-23")));
        assert!(table.exists(Shift::key("north", day, u64::MAX)).await.unwrap());
        let large = table.insert(&Shift { bytes: 1 << 63, ..Shift::new("2014-04-25", "09:05:00", 0) }).await;
        assert_eq!(large.unwrap_err().code(), ErrorCode::OutOfRangeInput);
    });
}
