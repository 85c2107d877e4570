//! Compiles the declarations written by `infer` for tables of published programs. Tests that every row matching one of them is written back with the same key
//! and properties.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    unreachable_pub,
    missing_docs,
    dead_code,
    clippy::struct_field_names,
    reason = "inferred sources are written for applications"
)]

mod layouts;

use table_core::query::EntityRef;
use table_core::{FromEntity, TableEntity, ToEntity};

#[path = "inferred/akka_journal.rs"]
mod akka_journal;
#[path = "inferred/bot_state.rs"]
mod bot_state;
#[path = "inferred/chunks.rs"]
mod chunks;
#[path = "inferred/diagnostics.rs"]
mod diagnostics;
#[path = "inferred/durable_history.rs"]
mod durable_history;
#[path = "inferred/durable_instances.rs"]
mod durable_instances;
#[path = "inferred/elmah.rs"]
mod elmah;
#[path = "inferred/identity.rs"]
mod identity;
#[path = "inferred/leases.rs"]
mod leases;
#[path = "inferred/logs.rs"]
mod logs;
#[path = "inferred/metrics.rs"]
mod metrics;
#[path = "inferred/orleans_reminders.rs"]
mod orleans_reminders;
#[path = "inferred/orleans_state.rs"]
mod orleans_state;
#[path = "inferred/sagas.rs"]
mod sagas;
#[path = "inferred/serilog.rs"]
mod serilog;
#[path = "inferred/streams.rs"]
mod streams;
#[path = "inferred/subscriptions.rs"]
mod subscriptions;
#[path = "inferred/telemetry.rs"]
mod telemetry;
#[path = "inferred/wad_logs.rs"]
mod wad_logs;

/// Returns the number of rows a type can read and then write back with the same key and properties.
fn explained<T: FromEntity + ToEntity>(rows: &[TableEntity]) -> usize {
    let is_same = |entity: &&TableEntity| {
        let (key, encoded) = (entity.key(), entity.to_row().unwrap());
        let read =
            T::from_entity(EntityRef::new(key.partition_key.as_str(), key.row_key.as_str(), encoded.view()));
        read.is_ok_and(|read| {
            let (new_key, new_row) = (read.entity_key().unwrap(), read.entity_row().unwrap());
            let again =
                EntityRef::new(new_key.partition_key.as_str(), new_key.row_key.as_str(), new_row.view());
            let again = TableEntity::from_entity(again).unwrap();
            new_key == *key
                && again.len() == entity.len()
                && entity.iter().all(|(name, value)| again.get(name) == Some(value))
        })
    };
    rows.iter().filter(is_same).count()
}

#[test]
fn streams_are_read_and_written_again() {
    let rows = layouts::streams();
    assert_eq!(explained::<streams::SsSe>(&rows) + explained::<streams::SsHead>(&rows), rows.len());
}

#[test]
fn diagnostics_are_read_and_written_again() {
    let rows = layouts::diagnostics();
    assert_eq!(explained::<diagnostics::DeploymentWebWebIn>(&rows), rows.len());
}

#[test]
fn logs_are_read_and_written_again() {
    let rows = layouts::logs();
    assert_eq!(explained::<logs::Row>(&rows), rows.len());
}

#[test]
fn metrics_are_read_and_written_again() {
    let rows = layouts::metrics();
    assert_eq!(explained::<metrics::Row>(&rows), rows.len());
}

#[test]
fn identities_are_read_and_written_again() {
    let rows = layouts::identity();
    assert_eq!(explained::<identity::User>(&rows) + explained::<identity::Email>(&rows), rows.len());
}

#[test]
fn sagas_are_read_and_written_again() {
    let rows = layouts::sagas();
    assert_eq!(explained::<sagas::Saga>(&rows) + explained::<sagas::SagaIndex>(&rows), rows.len());
}

#[test]
fn leases_are_read_and_written_again() {
    let rows = layouts::leases();
    assert_eq!(explained::<leases::HubControl>(&rows), rows.len());
}

#[test]
fn chunks_are_read_and_written_again() {
    let rows = layouts::chunks();
    assert_eq!(explained::<chunks::State>(&rows), rows.len());
}

#[test]
fn tables_of_other_published_programs_are_read_and_written_again() {
    use layouts::published;
    for (name, rows, explain) in [
        ("bot_state", published::bot_state(), explained::<bot_state::Users> as fn(&[TableEntity]) -> usize),
        ("durable_instances", published::durable_instances(), explained::<durable_instances::Row>),
        ("elmah", published::elmah(), explained::<elmah::Row>),
        ("orleans_reminders", published::orleans_reminders(), explained::<orleans_reminders::GrainReference>),
        ("orleans_state", published::orleans_state(), explained::<orleans_state::ContosoOrdersCartGrain>),
        ("subscriptions", published::subscriptions(), explained::<subscriptions::Row>),
        ("telemetry", published::telemetry(), explained::<telemetry::Row>),
        ("wad_logs", published::wad_logs(), explained::<wad_logs::Row>),
    ] {
        assert_eq!(explain(&rows), rows.len(), "{name}");
    }
    let rows = published::serilog();
    let found = explained::<serilog::InformationOrder>(&rows) + explained::<serilog::WarningOrder>(&rows);
    assert_eq!(found, rows.len(), "serilog");
}

/// Tests that rows with the same RowKey in each partition form a separate kind.
#[test]
fn journals_and_histories_are_read_and_written_again() {
    let rows = layouts::published::akka_journal();
    let found = explained::<akka_journal::Row>(&rows) + explained::<akka_journal::HighestSequenceNr>(&rows);
    assert_eq!(found, rows.len());
    let rows = layouts::published::durable_history();
    let found = explained::<durable_history::Row>(&rows) + explained::<durable_history::Sentinel>(&rows);
    assert_eq!(found, rows.len());
}
