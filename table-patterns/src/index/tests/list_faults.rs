//! Tests list blobs with faults at each request to the table or the blob store, and with conflicts at each step. No list may ever be lost or incomplete.

use pollster::block_on;
use table_core::etag::IfMatch;
use table_core::{Entity, Result, Versioned};

use super::disturbed::Fault;
use super::people::{
    DEPARTMENTS, Employee, Model, People, Scene, assert_lists, jones, person, scene, settle_all,
};

const NAMES: [&str; 2] = ["Jones", "Cao"];

/// Creates lists in entities. They move to blobs, change there, and are removed. Errors are ignored.
async fn program(people: &People) {
    for id in 0..3 {
        let _ = people.insert(&jones(id)).await;
        let _ = settle_all(people).await;
    }
    let _ = people.insert(&person("Marketing", 7, "Jones")).await;
    let _ = people.update(Employee::key("Sales", 1), |now| now.last_name = "Cao".to_owned()).await;
    let _ = settle_all(people).await;
    for id in 0..2 {
        let _ = people.delete(Employee::key("Sales", id), IfMatch::Any).await;
    }
    let _ = settle_all(people).await;
}

/// Settles the pending changes. Asserts that the lists then agree with the entities, and that exactly the referenced blobs exist.
async fn recovered(scene: &Scene, what: &str) -> Result<()> {
    scene.store.live();
    scene.blobs.heal();
    // Lists in the entities' partition need no recovery, because each list is written in its entity's transaction.
    let mut model = Model::new();
    for department in DEPARTMENTS {
        let left = scene.people.query(Employee::partition(department)).collect().await?;
        model.extend(left.into_iter().map(|person| (person.key_of().unwrap(), person)));
    }
    for name in NAMES {
        for department in DEPARTMENTS {
            let found = scene.people.get_by_index(Employee::by_last_name(department, name)).await?;
            let is_it = |person: &&Employee| person.last_name == name && person.department == department;
            let wanted: Vec<_> = model.values().filter(is_it).collect();
            assert_eq!(found.iter().map(Versioned::value).collect::<Vec<_>>(), wanted, "{what}");
        }
        // The list may be stale, but a referenced blob is never missing.
        scene.people.keys_of(Employee::namesakes(name)).await?;
    }
    settle_all(&scene.people).await?;
    assert_lists(&scene.people, &model, &NAMES).await?;
    scene.collect_all().await?;
    assert_eq!(scene.blobs.names(), scene.named().await?, "{what}: nothing dangles, nothing stays");
    assert_lists(&scene.people, &model, &NAMES).await
}

#[test]
fn pat_ix_4_a_failure_of_any_blob_request_loses_nothing() {
    for beyond in [0, 1] {
        for lost in [false, true] {
            for at in 0.. {
                let calls = block_on(async {
                    let scene = scene(beyond).await?;
                    scene.blobs.fail_at(at, lost);
                    program(&scene.people).await;
                    let calls = scene.blobs.calls();
                    recovered(&scene, &format!("beyond {beyond}, blob request {at}, lost {lost}")).await?;
                    Ok::<_, table_core::Error>(calls)
                })
                .unwrap();
                if calls <= at {
                    break;
                }
            }
        }
    }
}

#[test]
fn pat_ix_4_a_crash_at_any_table_write_loses_nothing() {
    for beyond in [0, 1] {
        for fault in [Fault::Before, Fault::After] {
            for at in 0.. {
                let submits = block_on(async {
                    let scene = scene(beyond).await?;
                    scene.store.die_at(at, fault);
                    let ((), _, submits) = scene.store.count(program(&scene.people)).await;
                    recovered(&scene, &format!("beyond {beyond}, {fault:?} {at}")).await?;
                    Ok::<_, table_core::Error>(submits)
                })
                .unwrap();
                if submits <= at {
                    break;
                }
            }
        }
    }
}

/// Tests a writer that is overtaken between its read and its write: a concurrent writer moves the list to a blob, changes it or removes it. The first writer
/// must detect this.
#[test]
fn pat_ix_4_an_overtaken_move_starts_again_and_leaves_no_blob() {
    for beyond in [0, 1, usize::MAX] {
        for theirs in [0, 1, usize::MAX] {
            block_on(async {
                let scene = scene(beyond).await?;
                scene.people.insert(&jones(1)).await?;
                let other = scene.other(theirs).await?;
                scene.store.before_submit(move |_| {
                    // Both writers record changes in one partition, so their records need different numbers.
                    for _ in 0..100 {
                        other.outbox.record_number();
                    }
                    block_on(other.insert(&jones(2))).unwrap();
                    block_on(other.delete(Employee::key("Sales", 1), IfMatch::Any)).unwrap();
                });
                scene.people.insert(&jones(3)).await?;
                settle_all(&scene.people).await?;
                let model: Model = [jones(2), jones(3)].map(|one| (one.key_of().unwrap(), one)).into();
                assert_lists(&scene.people, &model, &NAMES).await?;
                scene.collect_all().await?;
                assert_eq!(scene.blobs.names(), scene.named().await?);
                Ok::<(), table_core::Error>(())
            })
            .unwrap();
        }
    }
}

/// Tests that a settlement does not undo a later settlement that has overtaken it, even if the list is in a blob.
#[test]
fn pat_ix_4_an_overtaken_settlement_starts_again() {
    block_on(async {
        let scene = scene(0).await?;
        scene.people.insert(&jones(1)).await?;
        let change = super::people::recorded(&scene.people).await?.remove(0);
        let other = scene.other(0).await?;
        scene.store.before_submit(move |_| {
            block_on(async {
                settle_all(&other).await.unwrap();
                for _ in 0..100 {
                    other.outbox.record_number();
                }
                other
                    .update(Employee::key("Sales", 1), |now| now.last_name = "Cao".to_owned())
                    .await
                    .unwrap();
                settle_all(&other).await.unwrap();
            });
        });
        scene.people.settle(&change).await?;
        let model: Model = [person("Sales", 1, "Cao")].map(|one| (one.key_of().unwrap(), one)).into();
        assert_lists(&scene.people, &model, &NAMES).await
    })
    .unwrap();
}
