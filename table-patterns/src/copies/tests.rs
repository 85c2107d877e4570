//! Tests copies and the entities from which they are copied: the stored layout, concurrent writers, and crashes.

mod backfill_runs;
mod chain;
mod combined;
mod concurrent;
mod deaths;
mod declared;
pub(crate) mod desk;
mod feeds;
mod forged;
mod handle;
mod in_unit;
mod kit;
mod layout;
mod model;
mod mutual;
mod pages;
mod participants;
mod parts;
mod refused;
mod requests;
mod two_relations;
mod verbs;
