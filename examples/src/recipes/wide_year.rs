//! Wide entities. A year has too many days for the properties of a single row (PAT-WIDE).

use table_core::{Entity, Result};
use table_patterns::wide::WideStore;

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::weather_years::{RainYear, RainYearKey, years};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "wide-year",
    question: "The rain of every day of 2012 in both cities: 366 values each, in one request each?",
    schema: RainYearKey::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, inputs: &Inputs) -> Result<Report> {
    let rain = store.wide::<RainYear>();
    let expected = years(&inputs.weather);
    let mut answer = Grid::new(["City", "#Days", "#Wet", "#Millimetres"]);
    for city in ["New York", "Seattle"] {
        let found = rain.get(RainYear::key(city, 2012)).await?.map(|(year, _)| year);
        let Some(year) = found else { panic!("2012 of {city} was imported") };
        assert!(expected.contains(&year), "both parts, in order");
        let days: Vec<f64> = year.days.iter().filter_map(|day| *day).collect();
        let wet = days.iter().filter(|rain| **rain > 0.0).count();
        let sum: f64 = days.iter().sum();
        answer.row([city.to_owned(), days.len().to_string(), wet.to_string(), format!("{sum:.1}")]);
    }
    // A change to one day merges one row. A change to two days in different rows takes one transaction. A reader then sees both changes or neither.
    let key = || RainYear::key("Seattle", 2012);
    let Some((before, _)) = rain.get(key()).await? else { panic!("read above") };
    let (first, last) = (before.days[0].unwrap_or_default(), before.days[365].unwrap_or_default());
    rain.set(key(), RainYear::DAYS.at(366), 99.0).await?;
    rain.patch(key()).set(RainYear::DAYS.at(1), 98.0).set(RainYear::DAYS.at(366), 97.0).send().await?;
    let Some((corrected, _)) = rain.get(key()).await? else { panic!("just written") };
    assert_eq!((corrected.days[0], corrected.days[365]), (Some(98.0), Some(97.0)));
    assert_eq!(corrected.days[1..365], before.days[1..365], "all others are as they were");
    rain.patch(key()).set(RainYear::DAYS.at(1), first).set(RainYear::DAYS.at(366), last).send().await?;
    assert_eq!(rain.get(key()).await?.map(|(year, _)| year), Some(before));
    Ok(Report::new("", answer)
        .note("Two corrections were made and reverted: one day by a merge, the first and the last by one transaction.")
        .note("Two rows per year, of 251 and 115 days, with a WriteId in each. A reader accepts them only if both belong to one write."))
}
