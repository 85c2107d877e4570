use super::*;

#[test]
fn positions_are_found_in_any_order_and_belong_to_their_parts() {
    let places = Places::new(&[&["Office", "Day01", "Day02"], &[], &["Day03", "Note1", "Note01"]]);
    let found: Vec<_> = (0..places.count()).map(|at| (places.name(at).unwrap(), places.part(at))).collect();
    let parts = [("Office", 0), ("Day01", 0), ("Day02", 0), ("Day03", 2), ("Note1", 2), ("Note01", 2)];
    assert_eq!(found, parts);
    for next in 0..8 {
        for (at, (name, _)) in parts.iter().enumerate() {
            assert_eq!(places.of(name, next), Some(at));
        }
        assert_eq!(places.of("Day1", next), None);
    }
}

#[test]
fn a_slot_is_found_under_each_width_of_its_number() {
    let places = Places::new(&[&["Office", "Day00", "Day01"], &["Day10", "Note1", "Note01"]]);
    for (name, place) in [
        ("Day1", Some(2)),
        ("Day0001", Some(2)),
        ("Day0", Some(1)),
        ("Day000", Some(1)),
        ("Day010", Some(3)),
        ("Day", None),
        ("Day2", None),
        ("Days1", None),
        // Two of the declared names differ only in leading zeros.
        ("Note001", None),
    ] {
        assert_eq!(places.of_other_width(name), place, "{name}");
    }
}
