//! Query plans: their cost class, physical partitions, SQL, items read, and warnings.

use std::fmt;

use table_core::query::Query;
use table_core::{Error, ErrorCode, Result, TableName};
use table_hierarchy::{
    Component, Epk, EpkRange, Fixed, PartitionMap, Route, RouteClass, query_units, read_units,
};

use crate::client::{CosmosTables, TRANSACTION_BYTES};
use crate::failure;
use crate::mapping::Mapping;
use crate::options::FAN_OUT;
use crate::scope::Scope;
use crate::sql::Sql;
use crate::usage::{Charges, Form};

/// The plan of a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explain {
    /// The cost class, which depends on the levels specified by the query (HPK-39).
    pub class: RouteClass,
    /// The physical partitions that the query touches.
    pub route: Route,
    /// The SQL text of the request, or an empty string for a point read.
    pub text: String,
    /// The items that the service reads.
    pub reads: Reads,
    /// The minimum and maximum charge, in request units. For a query, this is only the base charge of its physical partitions. The items that it reads are
    /// charged in addition.
    pub units: (f64, f64),
    /// The charges recorded for this SQL text since the store was opened. They include all values of the parameters. `None` if no page has been read with this
    /// text.
    pub measured: Option<Charges>,
    /// Warnings about the query.
    pub warnings: Vec<String>,
}

/// The items that a query reads and is charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reads {
    /// One item, read by its id.
    Item,
    /// Items that match conditions on the id, the next level or properties.
    Matching,
    /// All items that share a single partition key.
    Key,
    /// All items whose levels start with the values specified by the query.
    Prefix,
    /// All items in the container.
    Container,
    /// No items, because no request is sent.
    Nothing,
}

impl Reads {
    /// Returns the items a query reads, given its scope and SQL.
    fn of(scope: &Scope, sql: &Sql) -> Self {
        match scope {
            Scope::Nothing => Self::Nothing,
            // The service evaluates the condition with an index, so it reads only matching items.
            _ if sql.narrowed => Self::Matching,
            Scope::Key(_) => Self::Key,
            Scope::Prefix(_) => Self::Prefix,
            Scope::All => Self::Container,
        }
    }
}

impl fmt::Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Item => "one item is read",
            Self::Matching => "the items that match the conditions are read",
            Self::Key => "all items of the partition key are read",
            Self::Prefix => "all items below the fixed levels are read",
            Self::Container => "all items of the container are read",
            Self::Nothing => "nothing is read",
        })
    }
}

impl CosmosTables {
    /// Returns the current physical partitions of a table.
    ///
    /// If the request for the partitions fails, the Azure SDK returns the last known partitions.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist.
    /// - `InvalidInput` if the service's list of partitions has a gap (MAP-1).
    pub async fn partitions(&self, table: &TableName) -> Result<PartitionMap> {
        let table = table.clone();
        self.run(|store| async move {
            // If the container was deleted, this read fails. Without it, the Azure SDK would return the last known partitions.
            let (container, _) = store.described(&table).await?;
            let options =
                azure_data_cosmos::options::ReadFeedRangesOptions::default().with_force_refresh(true);
            let ranges = container.client.read_feed_ranges(Some(options)).await;
            let ranges = ranges
                .map_err(|error| failure::error("read the feed ranges", error).with_table(table.as_str()))?;
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

    /// Returns the plan of a query for the current physical partitions, with the charges recorded for its SQL text.
    ///
    /// # Errors
    /// - `TableNotFound` if the table does not exist.
    /// - `InvalidInput` if the service's list of partitions has a gap (MAP-1).
    pub async fn explain(&self, table: &TableName, query: &Query) -> Result<Explain> {
        let map = self.partitions(table).await?;
        let named = table.clone();
        let mapping = self.run(|store| async move { Ok(store.container(&named).await?.mapping) }).await?;
        let plan = Explain::with_fan_out(query, &mapping, &map, self.options().fan_out)?;
        let measured = self.measured(table, Form::of(&plan.text));
        let price = self.options().read_price();
        let units = (plan.units.0 * price, plan.units.1 * price);
        Ok(Explain { units, measured, ..plan })
    }
}

impl Explain {
    /// Returns the plan of a query for a container with the given levels and physical partitions. `Options::fan_out` is assumed to have its default value.
    ///
    /// ```
    /// use table_hierarchy::{PartitionMap, RouteClass};
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
    /// `InvalidInput` if the map has a gap. A [`PartitionMap`] never has one, so this error does not occur.
    pub fn new(query: &Query, depth: usize, map: &PartitionMap) -> Result<Self> {
        Self::with_fan_out(query, &Mapping::standard(depth), map, FAN_OUT)
    }

    fn with_fan_out(query: &Query, mapping: &Mapping, map: &PartitionMap, fan_out: u32) -> Result<Self> {
        let depth = mapping.depth();
        let scope = Scope::of(&query.keys.partition_key, depth);
        let mut fixed: Vec<Fixed<'_>> =
            scope.levels().iter().map(|level| Fixed::To(vec![Component::text(level.as_str())])).collect();
        fixed.resize(depth, Fixed::Not);
        if scope == Scope::Nothing {
            fixed = vec![Fixed::To(Vec::new()); depth];
        }
        let route = Route::new(&fixed, map)?;
        let sql = Sql::of(query, &scope, mapping);
        let is_point = matches!(scope, Scope::Key(_)) && query.keys.row_key.single().is_some();
        let reads = if is_point { Reads::Item } else { Reads::of(&scope, &sql) };
        let mut warnings = Vec::new();
        if !is_point {
            warnings.extend(route.reasons.iter().cloned());
        }
        if scope == Scope::All {
            warnings
                .push(format!("no level is fixed, so every physical partition is queried (RT-11): {reads}"));
        } else if reads == Reads::Prefix {
            warnings.push("all items below the fixed levels are read".to_owned());
        }
        if route.partitions() > usize::try_from(fan_out).unwrap_or(usize::MAX) {
            warnings.push(format!(
                "the store refuses a query of more than {fan_out} physical partitions; raise `Options::fan_out` (RUST-6)"
            ));
        }
        if query.filter.is_some() && !sql.filtered && !is_point {
            warnings.push("the filter is not sent: all items of the key range are read".to_owned());
        }
        let units = if is_point {
            (read_units(1), read_units(TRANSACTION_BYTES))
        } else {
            query_units(route.touched.len())
        };
        let text = if is_point { String::new() } else { sql.text };
        Ok(Self { class: route.class, route, text, reads, units, measured: None, warnings })
    }
}

/// Formats the plan with one fact per line.
impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (touched, total) = (self.route.partitions(), self.route.total);
        writeln!(f, "{}: {touched} of {total} physical partitions", self.class)?;
        if !self.text.is_empty() {
            writeln!(f, "  {}", self.text)?;
        }
        write!(f, "  {} to {} request units; {}", self.units.0, self.units.1, self.reads)?;
        if let Some(Charges { operations, units, max: most, .. }) = &self.measured {
            let pages = if *operations == 1 { "page" } else { "pages" };
            write!(
                f,
                "\n  measured: {units:.2} request units for {operations} {pages}, at most {most:.2} for one"
            )?;
        }
        self.warnings.iter().try_for_each(|warning| write!(f, "\n  warning: {warning}"))
    }
}

#[cfg(test)]
mod tests {
    use table_core::query::{KeyRange, TextRange};

    use super::*;

    #[test]
    fn lim_9_each_queried_partition_adds_two_to_three_request_units() {
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

    #[test]
    fn lim_9_a_point_read_costs_at_most_as_much_as_the_largest_item() {
        let query = Query::new(KeyRange::point("a!b!", "r"));
        let (least, most) = Explain::new(&query, 2, &PartitionMap::even(4)).unwrap().units;
        assert_eq!((least, most), (1.0, read_units(2 << 20)));
        assert!(most < 400.0, "{most}");
    }
}
