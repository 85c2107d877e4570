//! Tests of package indexes generated from a seed.

use examples::large::seeded::*;

#[test]
fn the_seed_alone_decides() {
    assert_eq!(packages(100, 7), packages(100, 7));
    assert_ne!(packages(100, 7), packages(100, 8));
}

#[test]
fn names_are_what_debian_allows() {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    assert!(packages(1_000, 1).iter().all(|package| package.name.chars().all(legal)));
}
