//! Daily weather of Seattle and New York, 2012 to 2015.

use chrono::NaiveDate;
use serde::Deserialize;

/// The weather of one day in one city.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DailyWeather {
    /// `Seattle` or `New York`.
    pub location: String,
    /// The local calendar day.
    pub date: NaiveDate,
    /// Millimetres of precipitation.
    pub precipitation: f64,
    /// Highest temperature in degrees Celsius.
    pub temp_max: f64,
    /// Lowest temperature in degrees Celsius.
    pub temp_min: f64,
    /// Average wind speed in metres per second.
    pub wind: f64,
    /// One of `drizzle`, `fog`, `rain`, `snow` and `sun`.
    pub weather: String,
}

/// Every day of both cities, Seattle before New York, each in order of date. No day is missing.
pub fn load() -> Result<Vec<DailyWeather>, csv::Error> {
    super::parse(include_str!("../../data/weather.csv"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
}
