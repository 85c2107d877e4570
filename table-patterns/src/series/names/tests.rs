use super::*;

#[test]
fn names_have_one_width_and_sort_as_slots() {
    for (names, first, last, count) in [
        (HOURS, "Hour00", "Hour23", 24),
        (MINUTES, "Minute00", "Minute59", 60),
        (DAYS_OF_MONTH, "Day01", "Day31", 31),
        (MONTHS, "Month01", "Month12", 12),
        (slot_names!("Day", 1, 366), "Day001", "Day366", 366),
        (slot_names!("S", 0, 10), "S0", "S9", 10),
    ] {
        assert_eq!((names.first(), names.last(), names.len()), (Some(&first), Some(&last), count));
        assert!(names.is_sorted_by(|left, right| left < right) && is_sorted(names));
    }
}
#[test]
fn names_out_of_order_and_equal_names_are_not_sorted() {
    for names in [["b", "a"], ["a", "a"], ["ab", "a"], ["b", "ab"]] {
        assert!(!is_sorted(&names), "{names:?}");
    }
    assert!(is_sorted(&["a", "ab", "b"]) && is_sorted(&[]));
}
