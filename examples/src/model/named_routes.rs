//! Routes that contain the names of both airports. The names are copied from the airports, and are updated if the airports change (PAT-DEN).

use std::collections::BTreeMap;
use std::error::Error;

use table_core::selection::Point;
use table_core::{DynTableStore, Engine, Entity, QueueName, Result, Selection, TableStore};
use table_patterns::Entities;
use table_patterns::copies::CopyRelation;
use table_patterns::outbox::Outbox;
use table_patterns::work::Worker;

use crate::data::airports;
use crate::model::routes::Route;
use crate::store::Store;

/// The state whose routes are imported.
const STATE: &str = "WA";

/// An airport. Example key: (`SEA`, `Airport`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "NamedAirports", copied_by(Origin, Destination))]
#[partition_key(iata)]
#[row_key("Airport")]
pub struct NamedAirport {
    /// The airport code.
    pub iata: String,
    /// The name of the airport.
    pub name: String,
    /// The city served by the airport, or several cities separated by slashes.
    pub city: String,
}

/// A route, in the partition of its departure airport, with the names of both airports. Example key: (`SEA`, `LAX`).
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "NamedRoutes", copies_from(Origin, Destination))]
#[partition_key(origin)]
#[row_key(destination)]
pub struct NamedRoute {
    /// The code of the departure airport.
    pub origin: String,
    /// The code of the arrival airport.
    pub destination: String,
    /// The number of flights in 2008.
    pub flights: i32,
    /// The name of the departure airport, copied from the airport.
    pub origin_name: Option<String>,
    /// The name of the arrival airport, copied from the airport.
    pub destination_name: Option<String>,
    /// The city of the arrival airport, copied from the airport.
    pub destination_city: Option<String>,
}

/// The relation that copies data from the departure airport to its routes.
#[derive(Debug)]
pub struct Origin;

impl CopyRelation for Origin {
    type Source = NamedAirport;
    type Holder = NamedRoute;
    type Copied = String;
    const NAME: &'static str = "origin";

    fn reference(route: &NamedRoute) -> Option<Selection<NamedAirport, Point>> {
        Some(NamedAirport::key(&route.origin))
    }

    fn copied(airport: &NamedAirport) -> String {
        airport.name.clone()
    }

    fn set(route: &mut NamedRoute, name: String) {
        route.origin_name = Some(name);
    }

    fn clear(route: &mut NamedRoute) {
        route.origin_name = None;
    }
}

/// The relation that copies data from the arrival airport to its routes.
#[derive(Debug)]
pub struct Destination;

impl CopyRelation for Destination {
    type Source = NamedAirport;
    type Holder = NamedRoute;
    type Copied = (String, String);
    const NAME: &'static str = "destination";

    fn reference(route: &NamedRoute) -> Option<Selection<NamedAirport, Point>> {
        Some(NamedAirport::key(&route.destination))
    }

    fn copied(airport: &NamedAirport) -> (String, String) {
        (airport.name.clone(), airport.city.clone())
    }

    fn set(route: &mut NamedRoute, (name, city): (String, String)) {
        route.destination_name = Some(name);
        route.destination_city = Some(city);
    }

    fn clear(route: &mut NamedRoute) {
        (route.destination_name, route.destination_city) = (None, None);
    }
}

/// The handles for airports and routes. An outbox records name changes.
///
/// The queue of the outbox is in memory. If a message is lost, the copies are updated later.
pub struct NamedRoutes<S> {
    /// The handle for airports, whose names are copied.
    pub airports: Entities<NamedAirport, S, Outbox<S, Engine>>,
    /// The handle for routes, which contain the copied names.
    pub routes: Entities<NamedRoute, S, Outbox<S, Engine>>,
    outbox: Outbox<S, Engine>,
}

impl<S: TableStore + Clone + 'static> NamedRoutes<S> {
    /// Creates the handles for a store.
    ///
    /// # Errors
    /// Any error from the engine that contains the queue.
    pub async fn new(store: S) -> Result<Self> {
        let outbox = Outbox::new(store, Engine::in_memory(), QueueName::new("named-routes")?);
        outbox.create_queues().await?;
        Ok(Self { airports: Entities::from(outbox.clone()), routes: Entities::from(outbox.clone()), outbox })
    }

    /// Runs a worker until all recorded changes have been processed.
    ///
    /// # Errors
    /// Any error from the queue.
    pub async fn work(&self) -> Result<()> {
        let worker = Worker::new(self.outbox.clone());
        worker.with_index_handler(&self.airports).with_index_handler(&self.routes).run_until_idle().await
    }
}

impl<S> std::fmt::Debug for NamedRoutes<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedRoutes").finish_non_exhaustive()
    }
}

/// Returns the routes of one state with the names of their airports, in the order of the input.
#[must_use]
pub fn named(routes: &[Route], airports: &[airports::Airport]) -> Vec<NamedRoute> {
    let by_code: BTreeMap<&str, &airports::Airport> =
        airports.iter().map(|airport| (airport.iata.as_str(), airport)).collect();
    let named = |route: &Route| {
        let (origin, destination) =
            (by_code.get(route.origin.as_str())?, by_code.get(route.destination.as_str())?);
        Some(NamedRoute {
            origin: route.origin.clone(),
            destination: route.destination.clone(),
            flights: route.flights,
            origin_name: Some(origin.name.clone()),
            destination_name: Some(destination.name.clone()),
            destination_city: Some(destination.city.clone()),
        })
    };
    routes.iter().filter(|route| route.state == STATE).filter_map(named).collect()
}

/// Writes the airports of these routes, and then the routes with the copied names.
///
/// # Errors
/// Any error from the store.
pub async fn import(
    store: &Store,
    routes: &[Route],
    airports: &[airports::Airport],
) -> Result<(), Box<dyn Error>> {
    let routes = named(routes, airports);
    let store: &DynTableStore = store.unmetered();
    let NamedRoutes { airports: sources, routes: holders, outbox } = NamedRoutes::new(store.clone()).await?;
    let (sources, holders) = (sources.create_if_missing().await?, holders.create_if_missing().await?);
    let handles = NamedRoutes { airports: sources, routes: holders, outbox };
    let is_named = |airport: &&airports::Airport| {
        routes.iter().any(|route| route.origin == airport.iata || route.destination == airport.iata)
    };
    let named = airports.iter().filter(is_named).map(|airport| NamedAirport {
        iata: airport.iata.clone(),
        name: airport.name.clone(),
        city: airport.city.clone(),
    });
    for airport in named {
        handles.airports.insert_or_replace(&airport).await?;
    }
    for route in &routes {
        match handles.routes.insert(route).await {
            // An earlier import has already written the route. A recipe may have changed the name of an airport since then.
            Err(error) if error.is_already_exists() => {
                handles.routes.settle_copies(NamedRoute::key(&route.origin, &route.destination)).await?;
            }
            outcome => drop(outcome?),
        }
    }
    handles.work().await?;
    Ok(())
}
