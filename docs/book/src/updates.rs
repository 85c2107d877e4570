//! Tests the statements on the page about writing that concern the requests sent by `update` and the properties it keeps.

use table_advice::meter::Meter;
use table_patterns::{BlockOn, Engine, Entity, EntityStore, Result, TableStoreExt};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes")]
#[partition_key(owner)]
#[row_key(id)]
struct Note {
    owner: String,
    #[digits(4)]
    id: u16,
    title: String,
    text: Option<String>,
}

/// The entity as declared by a program that knows only some of its properties.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes")]
#[partition_key(owner)]
#[row_key(id)]
struct Heading {
    owner: String,
    #[digits(4)]
    id: u16,
    title: Option<String>,
}

/// The entity with all of its properties, each of which is optional.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes")]
#[partition_key(owner)]
#[row_key(id)]
struct Stored {
    owner: String,
    #[digits(4)]
    id: u16,
    title: Option<String>,
    text: Option<String>,
}

fn note() -> Note {
    Note { owner: "ada".into(), id: 1, title: "tea".into(), text: Some("green".into()) }
}

async fn check_requests() -> Result<()> {
    let meter = Meter::new(Engine::in_memory());
    let table = meter.table::<Note>().create_if_missing().await?;
    let entities = meter.entities::<Note>();
    table.insert(&note()).await?;
    let requests = || meter.take().requests;
    requests();

    let found = table.update(Note::key("ada", 1), |note| note.title = "Tea".into()).await?;
    assert_eq!(requests(), 2, "a key: the entity is read");
    let found = table.update(&found, |note| note.title = "Teas".into()).await?;
    assert_eq!(requests(), 1);
    let found = entities.update(&found, |note| note.title = "tea".into()).await?;
    assert_eq!(requests(), 1);
    let found = table.update(&found, |note| note.text = None).await?;
    assert_eq!(requests(), 2, "a property is removed");
    let found = table.update(&found, |note| note.text = Some("black".into())).await?;
    requests();
    entities.update(&found, |note| note.text = None).await?;
    assert_eq!(requests(), 2, "a property is removed");
    Ok(())
}

async fn check_properties() -> Result<()> {
    let store = Engine::in_memory();
    let notes = store.table::<Note>().create_if_missing().await?;
    let titles = store.table::<Heading>();
    for change in [Some("Tea".to_owned()), None] {
        notes.insert_or_replace(&note()).await?;
        titles.update(Heading::key("ada", 1), |title| title.title.clone_from(&change)).await?;
        let stored = store.table::<Stored>().get(Stored::key("ada", 1)).await?.expect("inserted above");
        assert_eq!((stored.title.as_ref(), stored.text.as_deref()), (change.as_ref(), Some("green")));
    }
    Ok(())
}

#[test]
fn update_of_an_entity_that_was_read_sends_one_request_unless_it_removes_a_property() {
    check_requests().block_on().unwrap();
}

#[test]
fn update_keeps_properties_that_the_struct_does_not_declare() {
    check_properties().block_on().unwrap();
}
