//! What a query will cost, before it is sent: class, physical partitions touched of all, warnings.

use std::fmt;

use table_core::hierarchy::{
    Component, Epk, EpkRange, Fixed, PartitionMap, Route, RouteClass, query_units, read_units,
};
use table_core::query::Query;
use table_core::{Error, ErrorCode, Result, TableName};

use crate::client::CosmosTables;
use crate::failure;
use crate::scope::Scope;
use crate::sql::Sql;

/// How a query would be answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explain {
    /// What it costs, by the levels that it fixes (HPK-39).
    pub class: RouteClass,
    /// Where it goes.
    pub route: Route,
    /// The text that is sent.
    pub text: String,
    /// Request units at least and at most that the number of partitions costs; what is read comes on top of it.
    pub units: (f64, f64),
    /// What to look at.
    pub warnings: Vec<String>,
}

impl CosmosTables {
    /// The physical partitions of a table, as the account has them now.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidInput` if the answer has a gap (MAP-1).
    pub async fn partitions(&self, table: &TableName) -> Result<PartitionMap> {
        let table = table.clone();
        self.run(|store| async move {
            let container = store.container(&table).await?;
            let options =
                azure_data_cosmos::options::ReadFeedRangesOptions::default().with_force_refresh(true);
            let ranges = container.client.read_feed_ranges(Some(options)).await;
            let ranges = ranges.map_err(|error| failure::error("read the feed ranges", error))?;
            let bound = |text: String| {
                text.parse::<Epk>().map_err(|error| {
                    Error::new(ErrorCode::InvalidInput, "a feed range has no bound").with_source(error)
                })
            };
            let ranges: Result<Vec<EpkRange>> = ranges
                .iter()
                .map(|range| {
                    Ok(EpkRange::new(
                        bound(range.min_inclusive().to_hex())?,
                        bound(range.max_exclusive().to_hex())?,
                    ))
                })
                .collect();
            PartitionMap::from_ranges(ranges?)
        })
        .await
    }

    /// How a query would be answered on the partitions that there are now.
    ///
    /// # Errors
    /// Those of [`partitions`](Self::partitions).
    pub async fn explain(&self, table: &TableName, query: &Query) -> Result<Explain> {
        let map = self.partitions(table).await?;
        Explain::new(query, self.options().levels_in(table.as_str()), &map)
    }
}

impl Explain {
    /// How a query would be answered in a container of so many levels with these partitions.
    ///
    /// ```
    /// use table_core::hierarchy::{PartitionMap, RouteClass};
    /// use table_core::query::{KeyRange, Query, TextRange};
    /// use table_cosmos::Explain;
    ///
    /// let tenant = KeyRange { partition_key: TextRange::prefix("contoso!"), row_key: TextRange::ALL };
    /// let explain = Explain::new(&Query::new(tenant), 3, &PartitionMap::even(64))?;
    /// assert_eq!((explain.class, explain.route.touched.len()), (RouteClass::Targeted, 1));
    /// assert_eq!(explain.text, "SELECT * FROM c WHERE c.l1 = @p0");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// None where the map tiles the space, as every map does.
    pub fn new(query: &Query, depth: usize, map: &PartitionMap) -> Result<Self> {
        let scope = Scope::of(&query.keys.partition_key, depth);
        let mut fixed: Vec<Fixed<'_>> =
            scope.levels().iter().map(|level| Fixed::To(vec![Component::text(level.as_str())])).collect();
        fixed.resize(depth, Fixed::Not);
        if scope == Scope::Nothing {
            fixed = vec![Fixed::To(Vec::new()); depth];
        }
        let route = Route::new(&fixed, map)?;
        let mut warnings = route.reasons.clone();
        let partitions = &query.keys.partition_key;
        if route.class == RouteClass::FanOut && !partitions.is_all() {
            warnings.push(
                "a range over PartitionKey that fixes no level: a hash keeps no order, every partition is asked (RT-11)".to_owned(),
            );
        }
        if route.class == RouteClass::FanOut && map.partitions().len() > 100 {
            warnings.push(
                "more than 100 partitions: the client refuses it without `Options::fan_out` (RUST-6)"
                    .to_owned(),
            );
        }
        if matches!(route.class, RouteClass::Targeted | RouteClass::FanOut) && !query.keys.row_key.is_all() {
            warnings.push("rows are a condition on each partition, not a place in it".to_owned());
        }
        let sql = Sql::of(query, &scope, depth, None);
        if query.filter.is_some() && !sql.filtered {
            warnings.push(
                "nothing of the filter is sent: all that the keys hold is read and paid for".to_owned(),
            );
        }
        let is_point = matches!(scope, Scope::Key(_)) && query.keys.row_key.single().is_some();
        let units =
            if is_point { (read_units(1), read_units(usize::MAX)) } else { query_units(route.touched.len()) };
        Ok(Self { class: route.class, route, text: sql.text, units, warnings })
    }
}

/// One line for each fact.
impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (touched, total) = (self.route.partitions(), self.route.total);
        writeln!(f, "{}: {touched} of {total} physical partitions", self.class)?;
        writeln!(f, "  {}", self.text)?;
        write!(f, "  {} to {} request units before what is read", self.units.0, self.units.1)?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\n  warning: {warning}"))
    }
}

#[cfg(test)]
mod tests {
    use table_core::query::{KeyRange, TextRange};

    use super::*;

    #[test]
    fn lim_9_each_partition_that_is_asked_adds_two_to_three_request_units() {
        let units = |partition_key, partitions| {
            let keys = KeyRange { partition_key, row_key: TextRange::ALL };
            Explain::new(&Query::new(keys), 3, &PartitionMap::even(partitions)).unwrap().units
        };
        assert_eq!(units(TextRange::prefix("contoso!"), 64), (2.0, 3.0));
        assert_eq!(units(TextRange::exactly("contoso!ada!s1!"), 64), (2.0, 3.0));
        assert_eq!(units(TextRange::ALL, 1), (2.0, 3.0));
        assert_eq!(units(TextRange::ALL, 64), (128.0, 192.0));
        assert_eq!(units(TextRange::exactly("contoso!"), 64), (0.0, 0.0), "no whole key: nothing is sent");
    }
}
