//! The first input of the cookbook: public-domain datasets and a fictional company. The data is part of the binary, and is imported into a store.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use table_patterns::blob::object_store::ObjectStore;
use table_patterns::blob::object_store::memory::InMemory;

use table_core::{TableName, TableStoreExt};
use table_patterns::outbox::REGISTRY;

use crate::data::{airports, earthquakes, routes, weather};
use crate::import::{import, import_indexed};
use crate::model::airport_levels::LevelAirport;
use crate::model::airports::{Airport, CityAirport};
use crate::model::company::{self, Employee, Expense, Review};
use crate::model::departures::{self, Departure, Origin};
use crate::model::earthquake_log::{self, LoggedEarthquake};
use crate::model::earthquake_spread::{self, SpreadEarthquake};
use crate::model::earthquakes::Earthquake;
use crate::model::routes::{self as route, Route};
use crate::model::staff;
use crate::model::weather::Day;
use crate::model::{earthquake_days, indexed, listed, named_routes, traffic, weather_months, weather_years};
use crate::store::Store;

/// The first input of the cookbook, held in memory. Recipes compare their results with it.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The airports, ordered by code.
    pub airports: Vec<airports::Airport>,
    /// The earthquakes, latest first.
    pub earthquakes: Vec<earthquakes::Earthquake>,
    /// The routes, ordered by origin and destination.
    pub routes: Vec<Route>,
    /// The weather, ordered by city and date.
    pub weather: Vec<weather::DailyWeather>,
    /// The employees of the company.
    pub employees: Vec<Employee>,
    /// The reviews of the company.
    pub reviews: Vec<Review>,
    /// The company's expense claims, earliest first.
    pub expenses: Vec<Expense>,
    /// The store for blobs, which hold values too large for tables. It is in memory and is dropped at the end of the run.
    pub blobs: Arc<dyn ObjectStore>,
}

impl Inputs {
    /// Reads the datasets from the binary.
    ///
    /// # Errors
    /// Any error from parsing the embedded files. The files are part of the binary, so no error occurs.
    pub fn load() -> Result<Self, Box<dyn Error>> {
        let airports = airports::load()?;
        Ok(Self {
            routes: route::routes(&routes::load()?, &airports),
            airports,
            earthquakes: earthquakes::load()?,
            weather: weather::load()?,
            employees: company::employees(),
            reviews: company::reviews(),
            expenses: company::expenses(),
            blobs: Arc::new(InMemory::new()),
        })
    }

    /// Writes all datasets to their tables, replacing rows from earlier imports.
    ///
    /// # Errors
    /// Any error from the store or the output.
    pub async fn import(&self, store: &Store, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
        import::<Airport, _>(store, "airports", self.airports.iter().map(Airport::from), out).await?;
        import::<CityAirport, _>(store, "airports by city", self.airports.iter().map(CityAirport::from), out)
            .await?;
        import::<LevelAirport, _>(
            store,
            "airports by level",
            self.airports.iter().map(LevelAirport::from),
            out,
        )
        .await?;
        let indexed: Vec<_> = self.airports.iter().map(indexed::Airport::from).collect();
        import_indexed(store, "indexed airports", &indexed, out).await?;
        listed::import(store, &self.airports, &self.blobs, out).await?;
        import::<Earthquake, _>(store, "earthquakes", self.earthquakes.iter().map(Earthquake::from), out)
            .await?;
        import::<Route, _>(store, "routes", self.routes.iter(), out).await?;
        let origins = departures::origins(&self.routes, &self.airports);
        import::<Origin, _>(store, "origins", origins, out).await?;
        import::<Departure, _>(store, "departures", departures::departures(&self.routes), out).await?;
        named_routes::import(store, &self.routes, &self.airports).await?;
        traffic::import(store, &self.routes).await?;
        import::<Day, _>(store, "weather", self.weather.iter().map(Day::from), out).await?;
        import::<LoggedEarthquake, _>(store, "earthquake log", earthquake_log::log(&self.earthquakes)?, out)
            .await?;
        import::<SpreadEarthquake, _>(store, "log, spread", earthquake_spread::log(&self.earthquakes)?, out)
            .await?;
        earthquake_days::import(store, &self.earthquakes).await?;
        weather_months::import(store, &self.weather).await?;
        weather_years::import(store, &self.weather).await?;
        import::<Employee, _>(store, "employees", self.employees.iter(), out).await?;
        import::<Review, _>(store, "reviews", self.reviews.iter(), out).await?;
        import::<Expense, _>(store, "expense claims", self.expenses.iter(), out).await?;
        import::<staff::Employee, _>(store, "staff", staff::employees(), out).await?;
        import::<staff::Department, _>(store, "departments", staff::departments(), out).await?;
        // Creates the registry table of the patterns here, so the first run costs the same as later runs.
        store.unmetered().create_table_if_missing(&TableName::new(REGISTRY)?).await?;
        Ok(())
    }
}
