//! Tests that the loaded airports match their data file.

use std::collections::HashSet;

use examples::data::airports::*;

#[test]
fn every_row_is_read() {
    assert_eq!(load().unwrap().len(), 3_364);
}

#[test]
fn known_airports_are_exact() {
    let airports = load().unwrap();
    assert_eq!(
        airports.iter().find(|airport| airport.iata == "SEA"),
        Some(&Airport {
            iata: "SEA".into(),
            name: "Seattle-Tacoma Intl".into(),
            city: "Seattle".into(),
            state: "WA".into(),
            country: "USA".into(),
            latitude: 47.448_981_94,
            longitude: -122.309_313_1,
        })
    );
    // Splitting at commas would still read almost every field correctly. It fails for fields such as this name, which has quotes inside a quoted field.
    assert_eq!(
        airports.iter().find(|airport| airport.iata == "DBN"),
        Some(&Airport {
            iata: "DBN".into(),
            name: "W. H. \"Bud\" Barron".into(),
            city: "Dublin".into(),
            state: "GA".into(),
            country: "USA".into(),
            latitude: 32.564_458_06,
            longitude: -82.985_255_56,
        })
    );
}

#[test]
fn codes_are_unique_ordered_and_plain() {
    let airports = load().unwrap();
    assert!(airports.is_sorted_by(|left, right| left.iata < right.iata));
    assert!(airports.iter().all(|airport| {
        (3..=4).contains(&airport.iata.len())
            && airport.iata.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    }));
}

#[test]
fn states_are_two_capital_letters() {
    let airports = load().unwrap();
    let states: HashSet<&str> = airports.iter().map(|airport| airport.state.as_str()).collect();
    assert_eq!(states.len(), 56);
    assert!(states.iter().all(|state| state.len() == 2 && state.bytes().all(|b| b.is_ascii_uppercase())));
    // Only the rows made by hand have a placeholder instead of the state. These rows are omitted.
    assert!(!states.contains("NA"));
    assert!(airports.iter().all(|airport| airport.country == "USA"));
}

#[test]
fn only_names_and_cities_contain_a_slash() {
    let airports = load().unwrap();
    assert_eq!(airports.iter().filter(|airport| airport.name.contains('/')).count(), 62);
    assert_eq!(airports.iter().filter(|airport| airport.city.contains('/')).count(), 51);
    let illegal = |text: &str| text.contains(['\\', '#', '?']) || text.chars().any(char::is_control);
    assert!(!airports.iter().any(|airport| illegal(&airport.name) || illegal(&airport.city)));
}
