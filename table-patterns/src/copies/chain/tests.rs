use super::*;

/// Propagates a change through `outside` entities, then around a cycle of `circle` entities, for at most `most` visits. Returns the number of visits after
/// which the cycle is detected.
fn visits(outside: usize, circle: usize, most: usize) -> Option<usize> {
    let key = |id: usize| EntityKey::new("company", format!("member_{id:06}")).unwrap();
    let ids = (0..outside).chain((outside..outside + circle).cycle());
    let mut path = Vec::new();
    for (at, id) in ids.take(most).enumerate() {
        match path_through(&path, &key(id)) {
            Ok(longer) => path = longer,
            Err(error) => {
                assert!(id >= outside, "{error}");
                return Some(at);
            }
        }
        // The path is recorded with each change.
        assert!(path.len() <= PATH + 1, "{} keys", path.len());
    }
    None
}

#[test]
fn pat_den_2_a_circle_of_any_length_is_found_also_if_it_is_entered_from_outside() {
    for outside in [0, 1, 2, 7, 63, 64, 65, 300] {
        for circle in [1, 2, 7, 8, 9, 30, 63, 64, 65, 500] {
            let most = 40 * (outside + circle);
            assert!(visits(outside, circle, most).is_some(), "{outside} outside, {circle} members");
        }
    }
}

#[test]
fn pat_den_2_a_chain_of_any_length_is_not_a_circle() {
    assert_eq!(visits(20_000, 1, 20_000), None);
}
