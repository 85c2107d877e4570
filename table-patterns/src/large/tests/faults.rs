//! Tests that a failure of any request leaves neither the address of a missing blob in the table nor an unreferenced blob.

use std::collections::BTreeMap;

use proptest::prelude::*;
use table_core::{Error, ErrorCode, Versioned};

use super::*;
use crate::tests::faults::Fault;

#[derive(Clone, Debug)]
enum Step {
    /// Inserts the entity with both of its blobs: a photo and a CV.
    Insert(u32),
    /// Replaces the entity with one that has a photo but no CV.
    Replace(u32),
    /// Sets one of the entity's blobs.
    Set(u32, bool),
    /// Removes one of the entity's blobs.
    Remove(u32, bool),
    Delete(u32),
    /// Reads the entity, and remembers it.
    Read(u32),
    /// Writes the remembered entity through the underlying handle.
    WriteBack(Verb),
    Collect,
    /// Runs the collector after each of three grace periods. It marks an orphan in one run, and removes it in a later one.
    CollectAll,
    /// Advances the clock by the given number of tenths of the grace period.
    Wait(u64),
}

/// A write through the handle that does not change the blobs.
#[derive(Clone, Copy, Debug)]
enum Verb {
    Insert,
    InsertOrReplace,
    InsertOrMerge,
    Replace,
    Merge,
    ReplaceUnderETag,
    /// Replaces the entity under the `ETag` of the current version, which may be newer than the remembered entity.
    ReplaceUnderCurrentETag,
    MergeUnderCurrentETag,
    Bulk,
    Unit,
}

fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![
        1 => Just(Verb::Insert),
        1 => Just(Verb::InsertOrReplace),
        1 => Just(Verb::InsertOrMerge),
        1 => Just(Verb::Replace),
        1 => Just(Verb::Merge),
        1 => Just(Verb::ReplaceUnderETag),
        3 => Just(Verb::ReplaceUnderCurrentETag),
        3 => Just(Verb::MergeUnderCurrentETag),
        1 => Just(Verb::Bulk),
        1 => Just(Verb::Unit),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    // Most steps are about one entity. Otherwise, too few runs would write an address whose blob has been removed.
    let id = || prop_oneof![4 => Just(0_u32), 1 => 1_u32..3];
    prop_oneof![
        3 => id().prop_map(Step::Insert),
        2 => id().prop_map(Step::Replace),
        3 => (id(), any::<bool>()).prop_map(|(id, photo)| Step::Set(id, photo)),
        1 => (id(), any::<bool>()).prop_map(|(id, photo)| Step::Remove(id, photo)),
        2 => id().prop_map(Step::Delete),
        2 => id().prop_map(Step::Read),
        3 => verb().prop_map(Step::WriteBack),
        3 => Just(Step::Collect),
        2 => Just(Step::CollectAll),
        3 => (1_u64..12).prop_map(Step::Wait),
    ]
}

/// The content of an entity: its photo and its CV, each `None` if it is missing. `None` if the entity does not exist.
type Held = Option<[Option<u8>; 2]>;

/// Returns the entity's expected content after a step.
fn after(step: &Step, held: Held, value: u8) -> Held {
    let with = |photo: bool, value| held.map(|[old, cv]| if photo { [value, cv] } else { [old, value] });
    match *step {
        Step::Insert(_) => Some([Some(value), Some(value)]),
        Step::Replace(_) => Some([Some(value), None]),
        Step::Set(_, photo) => with(photo, Some(value)),
        Step::Remove(_, photo) => with(photo, None),
        Step::Delete(_) => None,
        Step::Read(_) | Step::WriteBack(_) | Step::Collect | Step::CollectAll | Step::Wait(_) => held,
    }
}

/// An entity as it was read, and its content.
type Remembered = (Versioned<Employee>, [Option<u8>; 2]);

/// Returns the entity's expected content after a remembered entity has been written.
fn after_write_back(verb: Verb, [photo, cv]: [Option<u8>; 2], held: Held) -> [Option<u8>; 2] {
    match verb {
        Verb::InsertOrMerge | Verb::Merge | Verb::MergeUnderCurrentETag => {
            let [old_photo, old_cv] = held.unwrap_or_default();
            [photo.or(old_photo), cv.or(old_cv)]
        }
        _ => [photo, cv],
    }
}

/// The failure of one request. The requests of a step to one store are numbered.
#[derive(Clone, Copy, Debug)]
enum Failure {
    /// The request has no effect.
    Refused,
    /// The request takes effect, but its response is lost.
    Lost,
    /// The request takes effect, but the response contains no `ETag`. The blob store responds as usual.
    Unversioned,
}

fn failure() -> impl Strategy<Value = Failure> {
    prop_oneof![Just(Failure::Refused), Just(Failure::Lost), Just(Failure::Unversioned)]
}

/// Generates the number of the failing request. Low numbers are preferred, because a step sends only a few requests to the tables.
fn number() -> impl Strategy<Value = usize> {
    prop_oneof![0_usize..2, 0_usize..12]
}

impl Scene {
    fn fail(&self, number: usize, failure: Failure, is_in_blobs: bool) {
        match (is_in_blobs, failure) {
            (true, Failure::Unversioned) => {}
            (true, _) => self.blobs.fail_at(number, matches!(failure, Failure::Lost)),
            (false, _) => self.tables.script(move |_, at| match failure {
                _ if at != number => Fault::None,
                Failure::Refused => Fault::Before(ErrorCode::ServerBusy),
                Failure::Lost => Fault::After(ErrorCode::OperationTimedOut),
                Failure::Unversioned => Fault::Unversioned,
            }),
        }
    }

    fn take(&self, step: &Step, value: u8) -> Option<(u32, Result<()>)> {
        let employees = &self.employees;
        let blob = |photo| if photo { PHOTO } else { CV };
        let new = |photo| blob(photo).content(content(value, 20));
        let key = |id| Employee::key("Sales", id);
        match *step {
            Step::Insert(id) => {
                Some((id, block_on(employees.insert(ada(id), [new(true), new(false)])).map(drop)))
            }
            Step::Replace(id) => {
                Some((id, block_on(employees.replace(ada(id), IfMatch::Any, [new(true)])).map(drop)))
            }
            Step::Set(id, photo) => Some((id, block_on(employees.set(key(id), [new(photo)])).map(drop))),
            Step::Remove(id, photo) => Some((id, block_on(employees.remove(key(id), blob(photo))).map(drop))),
            Step::Delete(id) => Some((id, block_on(employees.table().delete(key(id), IfMatch::Any)))),
            Step::Read(_) | Step::WriteBack(_) => None,
            Step::Collect => {
                let _ = block_on(employees.collect_orphans());
                None
            }
            Step::CollectAll => {
                for _ in 0..3 {
                    self.now.fetch_add(GRACE, Ordering::SeqCst);
                    let _ = block_on(employees.collect_orphans());
                }
                None
            }
            Step::Wait(tenths) => {
                self.now.fetch_add(tenths * GRACE / 10, Ordering::SeqCst);
                None
            }
        }
    }

    /// Writes a remembered entity through the underlying handle.
    fn write_back(&self, verb: Verb, old: &Versioned<Employee>) -> Result<()> {
        let handle = self.employees.entities();
        let current_etag = || async {
            let current = handle.get(Employee::key("Sales", old.id)).await?;
            Ok::<_, Error>(current.map_or_else(|| old.etag().clone(), |current| current.etag().clone()))
        };
        block_on(async {
            match verb {
                Verb::Insert => handle.insert(old).await.map(drop),
                Verb::InsertOrReplace => handle.insert_or_replace(old).await.map(drop),
                Verb::InsertOrMerge => handle.insert_or_merge(old).await.map(drop),
                Verb::Replace => handle.replace(old, IfMatch::Any).await.map(drop),
                Verb::Merge => handle.merge(old, IfMatch::Any).await.map(drop),
                Verb::ReplaceUnderETag => handle.replace(old, old.etag().clone()).await.map(drop),
                Verb::ReplaceUnderCurrentETag => handle.replace(old, current_etag().await?).await.map(drop),
                Verb::MergeUnderCurrentETag => handle.merge(old, current_etag().await?).await.map(drop),
                Verb::Bulk => {
                    let written = handle.bulk().insert_or_replace_all([old.value().clone()]).await;
                    written.map(drop).map_err(|failed| failed.source)
                }
                Verb::Unit => {
                    let mut unit = handle.unit(Employee::partition("Sales"))?;
                    unit.insert(old.value())?;
                    unit.commit().await.map(drop)
                }
            }
        })
    }

    /// Reads an entity and the complete content of its blobs.
    fn held(&self, id: u32) -> Result<Held> {
        if block_on(self.employees.table().get(Employee::key("Sales", id)))?.is_none() {
            return Ok(None);
        }
        let first = |blob| Ok::<_, Error>(self.read_blob(id, blob)?.map(|bytes| bytes[0]));
        Ok(Some([first(PHOTO)?, first(CV)?]))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Tests that failing requests to the table or the blob store do no damage. No entity may ever refer to a missing blob, and each acknowledged value must be
    /// readable. At the end, only the blobs in use may exist. Blobs are therefore written before entities and removed after them (BLB-12).
    #[test]
    fn pat_large_2_no_failure_leaves_a_dangling_name_or_an_orphan(
        steps in prop::collection::vec((step(), prop::option::weighted(0.4, (number(), failure(), any::<bool>()))), 1..30),
    ) {
        let scene = scene();
        // The possible states of each entity. A lost response leaves several possible states.
        let mut model: BTreeMap<u32, Vec<Held>> = (0..3).map(|id| (id, vec![None])).collect();
        let mut remembered: Option<Remembered> = None;
        for (value, (step, fault)) in (1_u8..).zip(steps) {
            if let Step::Read(id) = step {
                let found = block_on(scene.employees.table().get(Employee::key("Sales", id))).unwrap();
                remembered = found.zip(scene.held(id).unwrap());
            }
            if let Some((number, failure, is_in_blobs)) = fault {
                scene.fail(number, failure, is_in_blobs);
            }
            let done = match (&step, &remembered) {
                (Step::WriteBack(verb), Some((old, _))) => Some((old.id, scene.write_back(*verb, old))),
                _ => scene.take(&step, value),
            };
            scene.tables.heal();
            scene.blobs.heal();
            if let Some((id, done)) = done {
                let held = model.get_mut(&id).unwrap();
                let made: Vec<Held> = held.iter().map(|held| match (&step, &remembered) {
                    (Step::WriteBack(verb), Some((_, content))) => Some(after_write_back(*verb, *content, *held)),
                    _ => after(&step, *held, value),
                }).collect();
                match done {
                    Ok(()) => *held = made,
                    Err(error) if error.is_ambiguous() => held.extend(made),
                    Err(_) => {}
                }
            }
            for (id, held) in &model {
                let found = scene.held(*id).unwrap();
                prop_assert!(held.contains(&found), "{} holds {:?} and not {:?}", id, found, held);
            }
        }
        scene.collect_all();
        let named: usize = (0..3).filter_map(|id| scene.held(id).unwrap()).map(|held| held.iter().flatten().count()).sum();
        prop_assert_eq!(scene.blobs.names().len(), named);
    }
}

/// Tests a service that acknowledges writes without their `ETag`s. The entity has been written, so its blobs must be kept even though the caller gets an error.
#[test]
fn pat_large_2_an_acknowledged_write_without_an_etag_keeps_its_blobs() {
    for step in [Step::Insert(1), Step::Replace(1), Step::Set(1, true)] {
        let scene = scene();
        if !matches!(step, Step::Insert(_)) {
            scene.take(&Step::Insert(1), 1).unwrap().1.unwrap();
        }
        scene.tables.script(|_, _| Fault::Unversioned);
        let (_, done) = scene.take(&step, 2).unwrap();
        scene.tables.heal();
        assert_eq!(scene.held(1).unwrap(), after(&step, Some([Some(1); 2]), 2), "{step:?}");
        let error = done.unwrap_err();
        let cause = error.last_response().and_then(Error::rule);
        assert!(error.is_ambiguous() && cause == Some("ETAG-3"), "{step:?}: {error}");
    }
}
