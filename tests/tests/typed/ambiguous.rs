//! Tests an entity type of another program whose keys are ambiguous. Every read must recognise the rows of the type and of its index.

use pollster::block_on;
use proptest::prelude::*;
use table_core::{Engine, Entity, EntitySet, Projection, TableEntity, TableStoreExt, schema};
use table_patterns::EntityStore;

/// A binding of a grain. Its keys do not show where one text ends and the next begins. The fields are therefore also properties.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "Bindings",
    set = Bindings,
    allow(ambiguous_partition_key, reason = "the layout of another program"),
    allow(ambiguous_row_key, reason = "the layout of another program")
)]
#[partition_key("of_", tenant, user)]
#[row_key("binding_", grain, name)]
#[index(ByOwner, unique, row_key("owner_", owner))]
struct Binding {
    tenant: String,
    user: String,
    grain: String,
    name: String,
    owner: String,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Bindings {
    Binding(Binding),
    #[other]
    Other(TableEntity),
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Binding)]
struct Owner {
    owner: String,
}

fn binding(grain: &str, name: &str, owner: &str) -> Binding {
    let [tenant, user, grain, name, owner] = ["contoso", "ada", grain, name, owner].map(str::to_owned);
    Binding { tenant, user, grain, name, owner }
}

#[test]
fn rows_with_ambiguous_keys_are_recognised() {
    block_on(async {
        let store = Engine::in_memory();
        let bindings = store.entities::<Binding>().create_if_missing().await.unwrap();
        let all = [binding("a-b", "", "bob"), binding("a", "b", "ada")];
        for one in &all {
            bindings.insert(one).await.unwrap();
        }
        let table = store.table::<Binding>();
        let query = || table.query(Binding::partition("contoso", "ada"));
        assert_eq!(query().collect().await.unwrap(), all);
        let owners = query().project::<Owner>().collect().await.unwrap();
        assert_eq!(owners, all.clone().map(|one| Owner { owner: one.owner }));
        let rows = query().read_as::<Bindings>().collect().await.unwrap();
        let found: Vec<_> = rows.iter().filter(|row| matches!(row, Bindings::Binding(_))).cloned().collect();
        assert_eq!((found, rows.len()), (all.clone().map(Bindings::Binding).to_vec(), 4));
        let by_owner = bindings.get(Binding::by_owner("contoso", "ada", "bob")).await.unwrap().unwrap();
        assert_eq!(*by_owner, all[0]);
        let report = bindings.check().run().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
    });
}

proptest! {
    #[test]
    fn every_key_that_the_type_writes_matches_its_layout(
        parts in prop::array::uniform4("[-_a-cé\u{1F600}]{0,6}"),
    ) {
        let [tenant, user, grain, name] = parts;
        let one = Binding { tenant, user, grain, name, owner: String::new() };
        let key = one.key_of().unwrap();
        prop_assert!(schema::fits(Binding::SCHEMA.partition_key, key.partition_key.as_str()), "{:?}", key);
        prop_assert!(schema::fits(Binding::SCHEMA.row_key, key.row_key.as_str()), "{:?}", key);
    }
}
