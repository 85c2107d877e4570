//! A table whose entities are numbered by a sequence.

use std::ops::Range;

use table_core::{Engine, ErrorCode};
use table_patterns::sequence::GaplessSequence;
use table_patterns::{Entity, EntityStore as _};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Numbered", crate = table_patterns)]
#[partition_key(team)]
#[row_key("id_", id)]
struct Numbered {
    team: String,
    #[digits(4)]
    id: u32,
    name: String,
}

/// Inserts entities numbered by the sequence. Returns 1 if the sequence issues a number that an existing entity already has.
pub(super) async fn visit(engine: &Engine, ids: Range<u32>, prefix: &str) -> u64 {
    let entities = engine.entities::<Numbered>().create_if_missing().await.unwrap();
    let numbers = GaplessSequence::new(&entities, "number").unwrap();
    // In a transfer, the source and the target must have different next numbers.
    let count = if prefix == "n" { 2 * ids.len() } else { ids.len() };
    let next = async || {
        let insert = numbers.next(Numbered::partition("a"), |id: u32, unit| {
            unit.insert(&Numbered { team: "a".to_owned(), id, name: format!("{prefix}{id}") }).map(drop)
        });
        insert.await
    };
    for _ in 0..count {
        next().await.unwrap();
    }
    match next().await {
        Ok(_) => 0,
        Err(error) if error.code() == ErrorCode::EntityAlreadyExists => 1,
        Err(error) => panic!("{error}"),
    }
}
