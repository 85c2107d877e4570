//! The recipes for the first input, with one file per recipe.

mod access_patterns;
mod archive;
mod blob_value;
mod change_feed;
mod client_join;
mod compound_key;
mod cost_a_month;
mod data_series;
mod denormalised;
mod departures;
mod escaped_key;
mod expiry;
mod filter;
mod follower;
mod heat;
mod heterogeneous;
mod heterogeneous_write;
mod increments;
mod index_elsewhere;
mod index_life;
mod indexes;
mod layout;
mod levels;
mod lists;
mod log_blobs;
mod log_tail;
mod migrate;
mod optimistic_concurrency;
mod paging;
mod parallel_points;
mod partition_scan;
mod point;
mod projection;
mod range;
mod relationships;
mod reviews;
#[cfg(feature = "azure")]
mod scoped;
mod spread_log;
mod table_a_day;
mod table_scan;
mod transaction;
mod unique_index;
mod view;
mod wide_year;

use crate::inputs::Inputs;
use crate::recipe::Recipe;

/// All recipes, starting with the simple ones.
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
    unique_index::RECIPE,
    index_elsewhere::RECIPE,
    index_life::RECIPE,
    lists::RECIPE,
    access_patterns::RECIPE,
    departures::RECIPE,
    relationships::RECIPE,
    client_join::RECIPE,
    denormalised::RECIPE,
    view::RECIPE,
    heat::RECIPE,
    cost_a_month::RECIPE,
    log_tail::RECIPE,
    follower::RECIPE,
    spread_log::RECIPE,
    log_blobs::RECIPE,
    data_series::RECIPE,
    increments::RECIPE,
    wide_year::RECIPE,
    blob_value::RECIPE,
    table_a_day::RECIPE,
    expiry::RECIPE,
    optimistic_concurrency::RECIPE,
    transaction::RECIPE,
    heterogeneous::RECIPE,
    heterogeneous_write::RECIPE,
    archive::RECIPE,
    change_feed::RECIPE,
    layout::RECIPE,
    migrate::RECIPE,
    #[cfg(feature = "azure")]
    scoped::RECIPE,
];
