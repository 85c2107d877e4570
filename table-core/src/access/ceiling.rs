//! Ceilings, which are the declared maximum costs of access patterns. This module defines the order of the cost classes, and checks a selection against its
//! ceiling.

use std::marker::PhantomData;

use table_store::{Error, ErrorCode};

use crate::selection::{
    Class, FanOut, IntoSelection, Partition, PartitionRange, Point, RowRange, Scan, Selection,
};

/// A cost class that costs at most as much as the class `K`.
///
/// A class is within its own ceiling, and within the ceiling of every later class in the order [`Point`], [`RowRange`], [`Partition`], then [`FanOut`] or
/// [`PartitionRange`], then [`Scan`].
///
/// A fan-out and a range of partitions are not comparable. A fan-out sends a fixed number of requests, and a range of partitions sends at least one for each
/// partition.
///
/// ```
/// use table_core::access::WithinCeiling;
/// use table_core::selection::{Partition, Point, RowRange};
///
/// /// Accepts selections that read at most one partition.
/// fn at_most_a_partition<C: WithinCeiling<Partition>>() {}
/// at_most_a_partition::<Point>();
/// at_most_a_partition::<RowRange>(); // `FanOut` does not compile: T090
/// ```
#[diagnostic::on_unimplemented(
    message = "[T090] the selection costs more than the ceiling of its access pattern: it is a `{Self}`, the ceiling is `{K}`",
    label = "`{Self}` costs more than `{K}`",
    note = "give more of the key, or declare an index, until the selection is within the ceiling",
    note = "or raise the ceiling: `point`, `range`, `partition`, `partitions`, `fanout(n)`, `scan`"
)]
pub trait WithinCeiling<K: Class>: Class {}

macro_rules! within {
    ($($class:ident: $($ceiling:ident)*;)*) => {$($(impl WithinCeiling<$ceiling> for $class {})*)*};
}

within! {
    Point: Point RowRange Partition PartitionRange FanOut Scan;
    RowRange: RowRange Partition PartitionRange FanOut Scan;
    Partition: Partition PartitionRange FanOut Scan;
    PartitionRange: PartitionRange Scan;
    FanOut: FanOut Scan;
    Scan: Scan;
}

/// A proof that a selection reads the declared source (the entities or an index). Each source implements this trait for itself only.
///
/// ```
/// use table_core::access::SameSource;
/// use table_core::selection::Primary;
///
/// /// Accepts a selection that reads the declared source.
/// fn as_declared<Declared, S: SameSource<Declared>>() {}
/// as_declared::<Primary, Primary>(); // any other source does not compile: T092
/// ```
#[diagnostic::on_unimplemented(
    message = "[T092] the access pattern declares the source `{F}`, but its selection reads `{Self}`",
    label = "selects from `{Self}`",
    note = "write the source after the ceiling: `<= point from Copies<EmployeeByEmail> = …`; the default is the entity's own key"
)]
pub trait SameSource<F> {}

impl<F> SameSource<F> for F {}

/// An access pattern of `E` that reads the source `F`, before its selection is known.
///
/// `access_patterns!` calls the method named after the ceiling. If the selection costs more, rustc therefore points at the ceiling in the declaration.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Asked<E, F>(&'static str, PhantomData<fn() -> (E, F)>);

macro_rules! ceilings {
    ($($ceiling:ident $class:ident;)*) => {$(
        pub fn $ceiling<C: WithinCeiling<$class>, G: SameSource<F>>(
            self,
            selection: impl IntoSelection<E, C, G>,
        ) -> Selection<E, $class, F> {
            self.widen(selection.into_selection())
        }
    )*};
}

impl<E, F> Asked<E, F> {
    #[must_use]
    pub const fn of(pattern: &'static str) -> Self {
        Self(pattern, PhantomData)
    }

    ceilings! {
        point Point;
        range RowRange;
        partition Partition;
        partitions PartitionRange;
        scan Scan;
    }

    /// Returns the selection with a ceiling of `most` ranges. If it has more ranges, every use of the selection fails with `InvalidInput` (CLS-1).
    pub fn fanout<C: WithinCeiling<FanOut>, G: SameSource<F>>(
        self,
        most: usize,
        selection: impl IntoSelection<E, C, G>,
    ) -> Selection<E, FanOut, F> {
        let selection = selection.into_selection();
        let ranges = selection.ranges().map_or(0, |ranges| ranges.len());
        if ranges <= most {
            return self.widen(selection);
        }
        let message = format!(
            "the access pattern `{}` selects {ranges} ranges, but its ceiling is `fanout({most})`; select fewer, or raise the \
             ceiling",
            self.0
        );
        Selection::new(Err(Error::new(ErrorCode::InvalidInput, message).with_rule("CLS-1")))
    }

    fn widen<K: Class, C: WithinCeiling<K>, G: SameSource<F>>(
        self,
        selection: Selection<E, C, G>,
    ) -> Selection<E, K, F> {
        selection.widen(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::KeyRange;
    use crate::selection::Primary;

    #[test]
    fn cls_1_a_fan_out_over_more_ranges_than_declared_is_refused_when_used() {
        let three = || {
            let ranges = ["a", "b", "c"].map(KeyRange::partition);
            Selection::<(), FanOut>::new(Ok(ranges.to_vec()))
        };
        let within = |most| Asked::<(), Primary>::of("logins").fanout(most, three());
        assert_eq!(within(3).ranges().map(|ranges| ranges.len()).ok(), Some(3));
        let refused = within(2).ranges().map(|ranges| ranges.len()).unwrap_err();
        assert_eq!((refused.code(), refused.rule()), (ErrorCode::InvalidInput, Some("CLS-1")));
    }
}
