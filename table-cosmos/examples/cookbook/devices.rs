//! A recipe that stores device readings. The readings of each day form one logical partition, ordered by time.

use table_core::{Entity, Result, TableName, TableStoreExt};
use table_cosmos::Options;
use table_cosmos::emulator::Emulator;

use super::Shown;
use super::ledger::{Ledger, Rows};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(device, day)]
#[row_key(minute)]
struct Reading {
    device: String,
    #[digits(3)]
    day: u16,
    #[digits(4)]
    minute: u16,
    celsius: f64,
}

pub(super) async fn run() -> Result<Shown> {
    let emulator = Emulator::new(false)?;
    let store = emulator.open(Options::new().levels_of::<Reading>()).await?;
    emulator.create(&TableName::new("Readings")?, 2, 8, None)?;
    let readings = store.table::<Reading>();
    readings.get(Reading::key("d7", 1, 0)).await?;

    let mut ledger = Ledger::new(&emulator);
    for day in 1..=3 {
        let mut batch = readings.transaction(Reading::partition("d7", day))?;
        for minute in 0..60 {
            let celsius = 20.0 + f64::from(minute) / 10.0;
            batch.insert(&Reading { device: "d7".to_owned(), day, minute, celsius })?;
        }
        batch.commit().await?;
    }
    ledger.add("write three days, a batch each", Rows::Written(180));
    let one = readings.get(Reading::key("d7", 2, 30)).await?;
    ledger.add("one minute", Rows::Read(usize::from(one.is_some())));
    let minutes = readings.query(Reading::rows("d7", 2).minute(10..20)).collect().await?;
    ledger.add("ten minutes of a day", Rows::Found(minutes.len()));
    let device = readings.query(Reading::within("d7")).collect().await?;
    ledger.add("a device: one level", Rows::Found(device.len()));
    let in_order = (10..20).collect::<Vec<u16>>();
    assert_eq!(minutes.iter().map(|reading| reading.minute).collect::<Vec<_>>(), in_order);
    assert_eq!(device.len(), 180);

    let text = format!("Devices by day: device > day on 8 physical partitions\n\n{ledger}");
    Ok(Shown { name: "devices", text, picture: None })
}
