//! Tests reads through an index that the stored schema declares differently. Its rows belong to another release.

use pollster::block_on;
use table_core::embedded::Engine;
use table_core::{ErrorCode, TableStoreExt};

use super::{AGE, backfill, later, narrow, old, one, opened, state, wider};
use crate::EntityStore;
use crate::index::IndexState;

#[test]
fn evo_22_an_index_of_another_release_is_not_read() {
    block_on(async {
        let store = Engine::in_memory();
        let people = store.table::<old::Person>().create_if_missing().await?;
        people
            .insert(&old::Person { department: "sales".into(), id: 1, age: AGE, mail: String::new() })
            .await?;
        let people = opened::<one::Person, _>(&store).await?;
        let other = opened::<later::Person, _>(&store).await?;
        backfill::<later::PersonByAge, _>(&other).await?;
        for people in [&people, &store.entities::<one::Person>()] {
            let error = people.query(one::Person::by_age("sales", AGE)).collect().await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::IndexNotReady);
            assert!(error.to_string().contains("differently"), "{error}");
            assert_eq!(state(people).await?, IndexState::Building);
            let error = people.query(one::Person::by_age("sales", AGE)).collect().await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::IndexNotReady, "after its states were read");
        }
        assert_eq!(other.query(later::Person::by_age("sales", AGE)).collect().await?.len(), 1);
        // This release's backfill is refused, although its index is not pending.
        let error = backfill::<one::PersonByAge, _>(&people).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SchemaMismatch);

        let people = opened::<one::Person, _>(&store).await?;
        backfill::<one::PersonByAge, _>(&people).await?;
        assert_eq!(people.query(one::Person::by_age("sales", AGE)).collect().await?.len(), 1);
        assert_eq!(state(&other).await?, IndexState::Building);
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}

#[test]
fn evo_23_an_index_with_more_properties_is_read_and_one_with_fewer_is_not() {
    block_on(async {
        let store = Engine::in_memory();
        let few = opened::<narrow::Person, _>(&store).await?;
        let many = opened::<wider::Person, _>(&store).await?;
        backfill::<wider::PersonByAge, _>(&many).await?;
        assert_eq!((state(&few).await?, state(&many).await?), (IndexState::Ready, IndexState::Ready));
        let few = opened::<narrow::Person, _>(&store).await?;
        assert_eq!((state(&few).await?, state(&many).await?), (IndexState::Ready, IndexState::Building));
        Ok::<_, table_core::Error>(())
    })
    .unwrap();
}
