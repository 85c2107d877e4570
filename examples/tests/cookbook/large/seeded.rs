//! Tests of the generator that creates package indexes from a seed.

use examples::large::seeded::*;

#[test]
fn the_seed_alone_determines_the_packages() {
    assert_eq!(packages(100, 7), packages(100, 7));
    assert_ne!(packages(100, 7), packages(100, 8));
}

#[test]
fn names_are_valid_debian_names() {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
    assert!(packages(1_000, 1).iter().all(|package| package.name.chars().all(legal)));
}
