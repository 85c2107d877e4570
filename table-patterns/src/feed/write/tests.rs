use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn rows_hold_all_records_in_order_within_their_bounds(sizes in prop::collection::vec(0..65_536_usize, 0..200)) {
        let record = |(at, size): (usize, usize)| Record {
            source: RowKey::new(at.to_string()).unwrap(), kind: Cow::Borrowed("set"), payload: vec![0; size],
        };
        let records: Vec<_> = sizes.into_iter().enumerate().map(record).collect();
        let rows = rows(&records);
        prop_assert_eq!(rows.iter().flat_map(Clone::clone).collect::<Vec<_>>(), (0..records.len()).collect::<Vec<_>>());
        for row in rows {
            let bytes: usize = records[row.clone()].iter().map(Record::bytes).sum();
            prop_assert!(row.len() == 1 || (row.len() <= CHANGES && bytes <= BYTES));
        }
    }
}
