use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn pat_hvd_4_a_name_belongs_to_one_period(seconds in -62_135_596_800_i64..253_402_300_800) {
        let instant = DateTime::from_timestamp(seconds, 0).unwrap();
        for period in Period::ALL {
            let start = period.start(instant);
            let suffix = period.suffix(instant).unwrap();
            prop_assert!(start <= instant);
            prop_assert_eq!(period.parse(&suffix), Some(start));
            prop_assert_eq!(period.parse(&suffix.to_ascii_lowercase()), Some(start));
            prop_assert_eq!(period.suffix(start), Some(suffix.clone()));
            if let Some(next) = period.offset(instant, 1) {
                prop_assert!(instant < next);
                prop_assert_eq!(period.offset(next, -1), Some(start));
                prop_assert_ne!(period.suffix(next), Some(suffix));
            }
        }
    }
}

#[test]
fn texts_that_no_period_writes_are_none() {
    for (period, text) in [
        (Period::Day, "20140231"),
        (Period::Day, "2014042"),
        (Period::Day, "201404230"),
        (Period::Day, "+0140423"),
        (Period::Day, "00000101"),
        (Period::Month, "201413"),
        (Period::Quarter, "2014Q5"),
        (Period::Quarter, "2014Q"),
        (Period::Quarter, "2014q5"),
        (Period::Quarter, "2014Q12"),
        (Period::Quarter, "201402"),
        (Period::Year, "0000"),
        (Period::Year, "20141"),
        (Period::Hour, "2014042324"),
        (Period::Hour, "20140423é"),
    ] {
        assert_eq!(period.parse(text), None, "{text}");
    }
    assert_eq!(Period::Day.suffix(DateTime::<Utc>::MAX_UTC), None);
    assert_eq!(Period::Hour.offset(DateTime::<Utc>::MAX_UTC, i32::MAX), None);
}
