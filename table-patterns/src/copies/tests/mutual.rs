//! Tests two entities in one partition that copy from each other.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::{Entity, Result};

use crate::copies::{CopyRelation, OnDelete};
use crate::entities::Entities;
use crate::outbox::Outbox;
use crate::tests::faults::{Call, Fault, FaultyStore};
use crate::work::Worker;

/// A person, with a copy of the mentor's name. Two people may be each other's mentors.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", copied_by(Mentor), copies_from(Mentor))]
#[partition_key(team)]
#[row_key("person_", id)]
struct Person {
    team: String,
    #[digits(2)]
    id: u32,
    name: String,
    mentor: Option<u32>,
    mentor_name: Option<String>,
}

struct Mentor;

impl CopyRelation for Mentor {
    type Source = Person;
    type Holder = Person;
    type Copied = String;
    const NAME: &'static str = "mentor";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(person: &Person) -> Option<Selection<Person, Point>> {
        person.mentor.map(key)
    }

    fn copied(mentor: &Person) -> String {
        mentor.name.clone()
    }

    fn set(person: &mut Person, name: String) {
        person.mentor_name = Some(name);
    }

    fn clear(person: &mut Person) {
        (person.mentor, person.mentor_name) = (None, None);
    }
}

fn key(id: u32) -> Selection<Person, Point> {
    Person::key("sales", id)
}

fn person(id: u32, name: &str, mentor: Option<u32>) -> Person {
    Person { team: "sales".into(), id, name: name.into(), mentor, mentor_name: None }
}

type Store = FaultyStore<Engine>;
type People = Entities<Person, Store, Outbox<Store, Engine>>;

async fn people() -> Result<(Store, Outbox<Store, Engine>, People)> {
    let engine = Engine::in_memory();
    let store = FaultyStore::new(engine.clone());
    let outbox = Outbox::new(store.clone(), engine, QueueName::new("copies")?);
    outbox.create_queues().await?;
    let people = Entities::<Person, _, _>::from(outbox.clone()).create_if_missing().await?;
    people.insert(&person(1, "Ada", None)).await?;
    people.insert(&person(2, "Grace", Some(1))).await?;
    Ok((store, outbox, people))
}

/// Performs all pending work, then checks each person's copied name.
async fn check(outbox: &Outbox<Store, Engine>, people: &People, names: [(&str, &str); 2]) -> Result<()> {
    Worker::new(outbox.clone()).with_index_handler(people).run_until_idle().await?;
    for (id, (name, mentor)) in (1..).zip(names) {
        let found = people.get(key(id)).await?.unwrap();
        assert_eq!((found.name.as_str(), found.mentor_name.as_deref()), (name, Some(mentor)), "{id}");
    }
    Ok(())
}

#[test]
fn pat_den_2_a_write_that_makes_two_entities_sources_of_each_other_is_one_transaction() {
    block_on(async {
        let (store, outbox, people) = people().await?;
        let before = store.calls().len();
        let change = |ada: &mut Person| (ada.name, ada.mentor) = ("Countess".into(), Some(2));
        people.update(key(1), change).await?;
        let grace = people.get(key(2)).await?.unwrap();
        assert_eq!(grace.mentor_name.as_deref(), Some("Countess"), "in the same transaction");
        assert!(store.calls().len() - before < 20);
        check(&outbox, &people, [("Countess", "Grace"), ("Grace", "Countess")]).await
    })
    .unwrap();
}

#[test]
fn pat_den_2_other_verbs_and_units_make_two_entities_sources_of_each_other() {
    block_on(async {
        let (_, outbox, people) = people().await?;
        people.insert_or_replace(&person(1, "Countess", Some(2))).await?;
        check(&outbox, &people, [("Countess", "Grace"), ("Grace", "Countess")]).await?;

        let (_, outbox, people) = self::people().await?;
        let ada = people.get(key(1)).await?.unwrap();
        let mut unit = people.unit(Person::partition("sales"))?;
        unit.replace(&ada, &person(1, "Countess", Some(2)))?;
        unit.commit().await?;
        check(&outbox, &people, [("Countess", "Grace"), ("Grace", "Countess")]).await?;

        let (_, outbox, people) = self::people().await?;
        let (ada, grace) = (people.get(key(1)).await?.unwrap(), people.get(key(2)).await?.unwrap());
        let mut unit = people.unit(Person::partition("sales"))?;
        unit.replace(&ada, &person(1, "Countess", Some(2)))?;
        unit.replace(&grace, &person(2, "Admiral", Some(1)))?;
        unit.commit().await?;
        check(&outbox, &people, [("Countess", "Admiral"), ("Admiral", "Countess")]).await
    })
    .unwrap();
}

/// Tests a person read as a source and again as a holder, changed by another writer between the two reads.
#[test]
fn pat_den_2_a_source_that_changes_while_it_becomes_a_holder_is_read_again() {
    block_on(async {
        let (store, outbox, people) = people().await?;
        let mut other = Some(people.clone());
        store.script(move |call, _| match other.take_if(|_| call == Call::Query) {
            Some(other) => Fault::Meanwhile(Box::new(move || {
                block_on(other.update(key(2), |grace| grace.name = "Admiral".into())).unwrap();
            })),
            None => Fault::None,
        });
        people.update(key(1), |ada| (ada.name, ada.mentor) = ("Countess".into(), Some(2))).await?;
        check(&outbox, &people, [("Countess", "Admiral"), ("Admiral", "Countess")]).await
    })
    .unwrap();
}
