//! Declarations for the table Things, inferred from 78 rows, 78 of which match.

use table_patterns::Entity;

/// 75 of 78 rows.
///
/// `number` is inferred from 3 different values; compare it with more rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key(without('-', partition), "-", unpadded(number))]
#[row_key(digits(19, number_2))]
pub struct Row {
    pub partition: String,
    pub number: u32,
    pub number_2: u64,
    #[property("persistenceId")]
    pub persistence_id: String,
    pub seq_nr: i64,
    pub payload: Vec<u8>,
    pub manifest: String,
    pub utc_ticks: i64,
}

/// 3 of 78 rows.
///
/// `number` is inferred from 3 different values; compare it with more rows.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Things")]
#[partition_key(without('-', partition), "-", unpadded(number))]
#[row_key("highestSequenceNr")]
pub struct HighestSequenceNr {
    pub partition: String,
    pub number: u32,
    #[property("highestSequenceNr")]
    pub highest_sequence_nr: i64,
}
