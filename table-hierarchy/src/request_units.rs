//! Estimates request charges, in request units.

/// The data points for interpolation. Each is the size of an item in kilobytes, with the request units for reading and for writing it.
const POINTS: [(f64, f64, f64); 4] =
    [(1.0, 1.0, 4.95), (16.0, 1.67, 9.52), (128.0, 9.95, 48.19), (1024.0, 145.9, 625.0)];
/// The minimum and the maximum number of request units that each physical partition adds to a query (LIM-9).
const PER_PARTITION: (f64, f64) = (2.0, 3.0);

/// Returns the number of request units for a point read of an item.
///
/// The charge is interpolated between published data points. For an item below the first data point, the charge is that of the first data point.
///
/// ```
/// assert_eq!(table_hierarchy::read_units(100), 1.0);
/// assert!(table_hierarchy::read_units(16 << 10) < 2.0); // not one a kilobyte
/// ```
#[must_use]
pub fn read_units(bytes: usize) -> f64 {
    along(bytes, |(size, read, _)| (size, read))
}

/// Returns the number of request units for writing an item.
///
/// ```
/// assert_eq!(table_hierarchy::write_units(1 << 10), 4.95);
/// ```
#[must_use]
pub fn write_units(bytes: usize) -> f64 {
    along(bytes, |(size, _, write)| (size, write))
}

/// Returns the minimum and maximum base charge of a query on `partitions` physical partitions, in request units. The results of the query cost extra (LIM-9).
///
/// ```
/// assert_eq!(table_hierarchy::query_units(64), (128.0, 192.0));
/// ```
#[must_use]
pub fn query_units(partitions: usize) -> (f64, f64) {
    let count = f64::from(u32::try_from(partitions).unwrap_or(u32::MAX));
    (PER_PARTITION.0 * count, PER_PARTITION.1 * count)
}

fn along(bytes: usize, price: impl Fn((f64, f64, f64)) -> (f64, f64)) -> f64 {
    let kilobytes = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1024.0;
    let points = POINTS.map(price);
    let [first, ..] = points;
    if kilobytes <= first.0 {
        return first.1;
    }
    let mut on = points.windows(2).filter_map(|pair| match pair {
        [from, to] => Some((*from, *to)),
        _ => None,
    });
    let last = on.clone().next_back().unwrap_or((first, first));
    let (from, to) = on.find(|(_, to)| kilobytes <= to.0).unwrap_or(last);
    from.1 + (kilobytes - from.0) / (to.0 - from.0) * (to.1 - from.1)
}
