use super::*;

#[test]
fn blocks_of_any_number_of_partitions_take_bounded_memory() {
    let mut in_hand = InHand::new();
    let partition = |number: usize| PartitionKey::new(number.to_string()).unwrap();
    for number in 0..10 * REMEMBERED {
        keep(&mut in_hand, partition(number), 7..9);
        assert!(in_hand.len() <= REMEMBERED);
    }
    let last = partition(10 * REMEMBERED - 1);
    let numbers = std::iter::from_fn(|| first(&mut in_hand, &last));
    assert_eq!(numbers.collect::<Vec<_>>(), [7, 8]);
    assert!(!in_hand.contains_key(&last));
}
