//! Tests that a unit counts its uncommitted writes. It warns of them when it is dropped.

use pollster::block_on;
use table_core::__private::Uncommitted;
use table_core::Entity;
use table_core::embedded::Engine;
use table_core::{Error, Result};

use crate::EntityStore;
use crate::sequence::GaplessSequence;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes")]
#[partition_key(tenant)]
#[row_key("note_", number)]
struct Note {
    tenant: String,
    #[digits(4)]
    number: u32,
}

fn note(number: u32) -> Note {
    Note { tenant: "t".into(), number }
}

#[test]
fn writes_are_uncommitted_until_the_unit_is_committed() -> Result<()> {
    block_on(async {
        let notes = Engine::in_memory().entities::<Note>().create_if_missing().await?;
        let mut unit = notes.unit(Note::partition("t"))?;
        let counted: Uncommitted = unit.uncommitted.clone();
        assert_eq!(counted.operations(), 0);
        unit.insert(&note(1))?.insert(&note(2))?;
        assert_eq!(counted.operations(), 2);
        unit.commit().await?;
        assert_eq!(counted.operations(), 0);
        Ok(())
    })
}

#[test]
fn numbers_of_a_sequence_are_uncommitted_until_the_unit_is_committed() -> Result<()> {
    block_on(async {
        let notes = Engine::in_memory().entities::<Note>().create_if_missing().await?;
        let numbers = GaplessSequence::new(&notes, "note")?;
        let mut unit = notes.unit(Note::partition("t"))?;
        let counted: Uncommitted = unit.uncommitted.clone();
        let _: u32 = numbers.next_in(&mut unit).await?;
        assert_eq!(counted.operations(), 1);
        unit.commit().await?;
        assert_eq!(counted.operations(), 0);
        Ok(())
    })
}

#[test]
fn a_transaction_counts_no_writes_because_it_commits_them_itself() -> Result<()> {
    block_on(async {
        let notes = Engine::in_memory().entities::<Note>().create_if_missing().await?;
        let written = notes.transaction(Note::partition("t"), async |unit| {
            unit.insert(&note(1))?;
            Ok::<_, Error>(unit.uncommitted.operations())
        });
        assert_eq!(written.await?.into_value(), 0);
        Ok(())
    })
}
