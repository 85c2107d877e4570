//! Tests that the loaded weather matches its data file.

use std::collections::BTreeSet;

use chrono::NaiveDate;
use examples::data::weather::*;

fn day(year: i32, month: u32, day: u32) -> NaiveDate {
    NaiveDate::from_ymd_opt(year, month, day).unwrap()
}

#[test]
fn every_row_is_read() {
    assert_eq!(load().unwrap().len(), 2_922);
}

#[test]
fn known_days_are_exact() {
    let days = load().unwrap();
    assert_eq!(
        days.first(),
        Some(&DailyWeather {
            location: "Seattle".into(),
            date: day(2012, 1, 1),
            precipitation: 0.0,
            temp_max: 12.8,
            temp_min: 5.0,
            wind: 4.7,
            weather: "drizzle".into(),
        })
    );
    assert_eq!(
        days.iter().max_by(|left, right| left.precipitation.total_cmp(&right.precipitation)),
        Some(&DailyWeather {
            location: "New York".into(),
            date: day(2014, 4, 30),
            precipitation: 118.9,
            temp_max: 13.3,
            temp_min: 5.6,
            wind: 8.5,
            weather: "rain".into(),
        })
    );
}

#[test]
fn each_city_has_every_day_once() {
    let days = load().unwrap();
    let expected: Vec<NaiveDate> =
        day(2012, 1, 1).iter_days().take_while(|date| *date <= day(2015, 12, 31)).collect();
    for (city, rows) in ["Seattle", "New York"].iter().zip(days.chunks(expected.len())) {
        assert!(rows.iter().all(|row| row.location == *city));
        assert!(rows.iter().map(|row| row.date).eq(expected.iter().copied()));
    }
}

#[test]
fn weather_is_one_of_five_words() {
    let days = load().unwrap();
    let words: BTreeSet<&str> = days.iter().map(|day| day.weather.as_str()).collect();
    assert_eq!(words, BTreeSet::from(["drizzle", "fog", "rain", "snow", "sun"]));
    assert!(days.iter().all(|day| day.temp_min <= day.temp_max));
}
