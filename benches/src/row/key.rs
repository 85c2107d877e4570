//! Measures the encoding of compound keys into a reused buffer, compared with formatting the same text with `format!`.

use std::hint::black_box;

use chrono::{DateTime, Utc};
use table_core::key::codec::{Desc, Digits, KeyCodec, Ticks};
use table_core::ticks;

use crate::Outcome;
use crate::harness::{Contender, alternate, repeat_busy};
use crate::report::{OURS, Report, Target};
use crate::stage::Stage;

const BATCH: u32 = 1_024;
const FORMAT: &str = "format!";

/// Measures the encodings and adds the times to the report.
pub fn measure(stage: &Stage, report: &mut Report) -> Outcome<()> {
    let (id, year) = (223_u32, 2_012_u16);
    let at = ticks::now();
    let same = same(|key| review(id, year, key), &review_formatted(id, year))?
        && same(|key| entry(id, at, key), &entry_formatted(id, at))?;
    if !same {
        return Err("the keys differ".into());
    }
    let (mut first, mut second) = (String::new(), String::new());
    let reviews = vec![
        Contender::new(OURS, move |time| {
            repeat_busy(time, BATCH, || {
                first.clear();
                review(black_box(id), black_box(year), black_box(&mut first))
            })
        }),
        Contender::new(FORMAT, |time| {
            repeat_busy(time, BATCH, || Ok(review_formatted(black_box(id), black_box(year))))
        }),
    ];
    let entries = vec![
        Contender::new(OURS, move |time| {
            repeat_busy(time, BATCH, || {
                second.clear();
                entry(black_box(id), black_box(at), black_box(&mut second))
            })
        }),
        Contender::new(FORMAT, |time| {
            repeat_busy(time, BATCH, || Ok(entry_formatted(black_box(id), black_box(at))))
        }),
    ];
    let (rounds, time) = (stage.options.rounds, stage.options.time / 4);
    let targets = [(FORMAT, Target::AtLeast(4.0))];
    report.compare_times("compound key, `empid_000223_2012`", &alternate(reviews, rounds, time)?, &targets);
    report.compare_times("compound key with inverted ticks", &alternate(entries, rounds, time)?, &targets);
    Ok(())
}

fn same(encode: impl Fn(&mut String) -> Outcome<()>, formatted: &str) -> Outcome<bool> {
    let mut key = String::new();
    encode(&mut key)?;
    Ok(key == formatted)
}

/// Encodes the key of a yearly review of an employee (PAT-CK).
#[inline]
fn review(id: u32, year: u16, key: &mut String) -> Outcome<()> {
    key.push_str("empid_");
    Digits::<6>::encode(&id, key)?;
    key.push('_');
    Digits::<4>::encode(&year, key)?;
    Ok(())
}

fn review_formatted(id: u32, year: u16) -> String {
    format!("empid_{id:06}_{year:04}")
}

/// Encodes the key of a log entry. The newest entry sorts first (PAT-LOG).
#[inline]
fn entry(id: u32, at: DateTime<Utc>, key: &mut String) -> Outcome<()> {
    key.push_str("device_");
    Digits::<8>::encode(&id, key)?;
    key.push('_');
    Desc::<Ticks>::encode(&at, key)?;
    Ok(())
}

fn entry_formatted(id: u32, at: DateTime<Utc>) -> String {
    let inverted = ticks::MAX - ticks::from_datetime(at).unwrap_or_default();
    format!("device_{id:08}_{inverted:019}")
}
