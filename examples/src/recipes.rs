//! The recipes over the first input, one file each.

mod access_patterns;
mod compound_key;
mod data_series;
mod denormalised;
mod departures;
mod escaped_key;
mod filter;
mod follower;
mod heat;
mod heterogeneous;
mod indexes;
mod layout;
mod levels;
mod log_tail;
mod migrate;
mod optimistic_concurrency;
mod paging;
mod parallel_points;
mod partition_scan;
mod point;
mod projection;
mod range;
mod reviews;
mod table_a_day;
mod table_scan;
mod transaction;
mod view;
mod wide_year;

use crate::inputs::Inputs;
use crate::recipe::Recipe;

/// All of them, the simple ones first.
pub const ALL: &[Recipe<Inputs>] = &[
    point::RECIPE,
    parallel_points::RECIPE,
    range::RECIPE,
    partition_scan::RECIPE,
    table_scan::RECIPE,
    filter::RECIPE,
    projection::RECIPE,
    paging::RECIPE,
    escaped_key::RECIPE,
    compound_key::RECIPE,
    levels::RECIPE,
    reviews::RECIPE,
    indexes::RECIPE,
    access_patterns::RECIPE,
    departures::RECIPE,
    denormalised::RECIPE,
    view::RECIPE,
    heat::RECIPE,
    log_tail::RECIPE,
    follower::RECIPE,
    data_series::RECIPE,
    wide_year::RECIPE,
    table_a_day::RECIPE,
    optimistic_concurrency::RECIPE,
    transaction::RECIPE,
    heterogeneous::RECIPE,
    layout::RECIPE,
    migrate::RECIPE,
];
