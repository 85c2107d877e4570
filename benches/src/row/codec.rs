//! Measures the encoding and decoding of an entity with ten properties, compared with JSON for the same struct.

use std::hint::black_box;

use table_core::query::EntityRef;
use table_core::{Entity, FromEntity};

use crate::Outcome;
use crate::data::Reading;
use crate::harness::{Contender, alternate, repeat_busy};
use crate::report::{OURS, Report, Target};
use crate::stage::Stage;

const BATCH: u32 = 256;
const JSON: &str = "serde_json";

/// Measures the times and adds them to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let reading = Reading::at(17);
    let (key, row, json) = (reading.key_of()?, reading.to_row()?, serde_json::to_vec(&reading)?);
    let encode = vec![
        Contender::new(OURS, |time| repeat_busy(time, BATCH, || Ok(black_box(&reading).to_row()?))),
        Contender::new(JSON, |time| {
            repeat_busy(time, BATCH, || Ok(serde_json::to_vec(black_box(&reading))?))
        }),
    ];
    let decode = vec![
        Contender::new(OURS, |time| {
            repeat_busy(time, BATCH, || {
                let entity = EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), row.view());
                Ok(Reading::from_entity(black_box(entity))?)
            })
        }),
        Contender::new(JSON, |time| {
            repeat_busy(time, BATCH, || Ok(serde_json::from_slice::<Reading>(black_box(&json))?))
        }),
    ];
    let (rounds, time) = (stage.options.rounds, stage.options.time / 4);
    report.compare_times("row, encode", &alternate(encode, rounds, time)?, &[(JSON, Target::Shown)]);
    report.compare_times("row, decode", &alternate(decode, rounds, time)?, &[(JSON, Target::Shown)]);
    Ok(())
}
