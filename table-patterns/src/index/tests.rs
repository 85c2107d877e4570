//! Tests of indexes: comparisons with models, concurrent writers, faults, and the stored layouts.

mod apart;
mod backfill;
mod backfill_faults;
mod backfill_releases;
mod bad_rows;
mod concurrent;
mod disturbed;
mod faults;
mod kit;
mod layout;
mod life;
mod list_blobs;
mod list_faults;
mod list_keys;
mod list_model;
mod list_releases;
mod list_rules;
mod malformed;
mod model;
mod old;
mod owners;
mod people;
mod relay;
mod remote;
mod repair;
mod values;
