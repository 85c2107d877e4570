//! Tests holders with a feed in a different partition than their source: a transaction updates as many of them as fit.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::queue::QueueName;
use table_core::selection::{Point, Selection};
use table_core::{Entity, PartitionKey};

use crate::EntityStore;
use crate::copies::{CopyRelation, OnDelete};
use crate::feed::Cursor;
use crate::outbox::Outbox;
use crate::tests::faults::{Call, FaultyStore};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Owners", copied_by(Owned))]
#[partition_key(id)]
#[row_key("owner")]
struct Owner {
    id: u32,
    name: String,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Houses", feed, copies_from(Owned))]
#[partition_key(street)]
#[row_key("house_", number)]
struct House {
    street: String,
    #[digits(4)]
    number: u32,
    owner: Option<i32>,
    owner_name: Option<String>,
}

struct Owned;

impl CopyRelation for Owned {
    type Source = Owner;
    type Holder = House;
    type Copied = String;
    const NAME: &'static str = "owner";
    const ON_DELETE: OnDelete = OnDelete::Clear;

    fn reference(house: &House) -> Option<Selection<Owner, Point>> {
        Some(Owner::key(u32::try_from(house.owner?).ok()?))
    }

    fn copied(owner: &Owner) -> String {
        owner.name.clone()
    }

    fn set(house: &mut House, name: String) {
        house.owner_name = Some(name);
    }

    fn clear(house: &mut House) {
        (house.owner, house.owner_name) = (None, None);
    }
}

#[test]
fn holders_with_a_feed_are_settled_by_full_transactions() {
    let store = FaultyStore::new(Engine::in_memory());
    let outbox = Outbox::new(store.clone(), Engine::in_memory(), QueueName::new("copies").unwrap());
    block_on(async {
        outbox.create_queues().await?;
        let owners = store.entities_with_outbox::<Owner, _>(outbox.clone()).create_if_missing().await?;
        let houses = store.entities_with_outbox::<House, _>(outbox).create_if_missing().await?;
        owners.insert(&Owner { id: 7, name: "Ada".into() }).await?;
        for number in 0..120 {
            houses.insert(&House { street: "Main".into(), number, owner: Some(7), owner_name: None }).await?;
        }
        owners.update(Owner::key(7), |owner| owner.name = "Eve".into()).await?;
        let (table, street) = (houses.table().name()?, PartitionKey::new("Main")?);
        let before = houses.feed().read(table, &street, &Cursor::default(), 1_000).await?.len();
        store.heal();
        owners.settle_copies(Owner::key(7)).await?;
        let submits = store.calls().iter().filter(|call| **call == Call::Submit).count();
        assert_eq!(submits, 2, "100 operations each");

        let found = houses.query(House::rows("Main")).collect().await?;
        assert!(found.iter().all(|house| house.owner_name.as_deref() == Some("Eve")));
        let after = houses.feed().read(table, &street, &Cursor::default(), 1_000).await?.len();
        assert_eq!((found.len(), after - before), (120, 120));
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
