//! Tests that the loaded earthquakes match their data file.

use std::collections::{BTreeMap, HashSet};

use examples::data::earthquakes::*;

#[test]
fn every_row_is_read() {
    assert_eq!(load().unwrap().len(), 1_707);
}

#[test]
fn known_events_are_exact() {
    let events = load().unwrap();
    assert_eq!(
        events.first(),
        Some(&Earthquake {
            id: "ci37868143".into(),
            time: "2018-02-07T01:26:13.840Z".parse().unwrap(),
            magnitude: 2.0,
            place: "4km W of Castaic, CA".into(),
            latitude: 34.4945,
            longitude: -118.667_166_7,
            depth: 26.49,
            kind: "earthquake".into(),
            network: "ci".into(),
        })
    );
    assert_eq!(
        events.iter().max_by(|left, right| left.magnitude.total_cmp(&right.magnitude)),
        Some(&Earthquake {
            id: "us1000chhc".into(),
            time: "2018-02-06T15:50:42.400Z".parse().unwrap(),
            magnitude: 6.4,
            place: "22km NNE of Hualian, Taiwan".into(),
            latitude: 24.1737,
            longitude: 121.653,
            depth: 10.64,
            kind: "earthquake".into(),
            network: "us".into(),
        })
    );
}

#[test]
fn identifiers_are_unique_and_plain() {
    let events = load().unwrap();
    let ids: HashSet<&str> = events.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids.len(), events.len());
    assert!(ids.iter().all(|id| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())));
    assert!(events.iter().all(|event| event.network.len() == 2 && event.id.starts_with(&event.network)));
}

#[test]
fn times_are_unique_and_descending() {
    assert!(load().unwrap().is_sorted_by(|left, right| left.time > right.time));
}

#[test]
fn not_every_event_is_an_earthquake() {
    let mut kinds = BTreeMap::new();
    for event in load().unwrap() {
        *kinds.entry(event.kind).or_insert(0) += 1;
    }
    let expected = [("earthquake", 1_679), ("explosion", 15), ("quarry blast", 13)];
    assert!(kinds.iter().map(|(kind, count)| (kind.as_str(), *count)).eq(expected));
}

#[test]
fn places_contain_no_character_that_keys_forbid() {
    let illegal = |text: &str| text.contains(['/', '\\', '#', '?']) || text.chars().any(char::is_control);
    assert!(!load().unwrap().iter().any(|event| illegal(&event.place)));
}
