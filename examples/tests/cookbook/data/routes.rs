//! Tests that the loaded routes match their data file.

use std::collections::{BTreeSet, HashSet};

use examples::data::airports;
use examples::data::routes::*;

#[test]
fn every_row_is_read() {
    assert_eq!(load().unwrap().len(), 5_366);
}

#[test]
fn known_routes_are_exact() {
    let routes = load().unwrap();
    assert_eq!(routes.first(), Some(&Route { origin: "ABE".into(), destination: "ATL".into(), count: 853 }));
    assert_eq!(
        routes.iter().max_by_key(|route| route.count),
        Some(&Route { origin: "SFO".into(), destination: "LAX".into(), count: 13_788 })
    );
    assert_eq!(routes.iter().map(|route| u64::from(route.count)).sum::<u64>(), 7_009_728);
}

#[test]
fn pairs_are_unique_and_ordered() {
    let routes = load().unwrap();
    assert!(routes.is_sorted_by(|left, right| {
        (&left.origin, &left.destination) < (&right.origin, &right.destination)
    }));
    assert!(routes.iter().all(|route| route.origin != route.destination && route.count > 0));
}

#[test]
fn codes_are_three_capital_letters() {
    let plain = |code: &str| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
    assert!(load().unwrap().iter().all(|route| plain(&route.origin) && plain(&route.destination)));
}

#[test]
fn four_airports_are_unknown() {
    let airports = airports::load().unwrap();
    let known: HashSet<&str> = airports.iter().map(|airport| airport.iata.as_str()).collect();
    let routes = load().unwrap();
    let unknown: BTreeSet<&str> = routes
        .iter()
        .flat_map(|route| [route.origin.as_str(), route.destination.as_str()])
        .filter(|code| !known.contains(code))
        .collect();
    assert_eq!(unknown, BTreeSet::from(["CLD", "HHH", "MQT", "SCE"]));
}
