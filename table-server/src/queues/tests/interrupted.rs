//! Tests that a queue creation interrupted by a crash or an error can be repeated.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use table_core::embedded::FaultInjection;

use super::model::Model;
use super::*;
use crate::settings::Settings;

/// Copies the files in an engine's folder. In the copy, the journal contains only zeros from offset `cut` on, as after a power failure. Returns `false` if
/// these bytes were already zero.
fn cut(from: &Path, to: &Path, cut: usize) -> bool {
    let mut is_cut = false;
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // `SYNCED` would state that the lost bytes were durable.
        if ["LOCK", "SYNCED", "RESERVE"].contains(&name.as_str()) {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        if name.ends_with(".journal") {
            let rest = bytes.get_mut(cut..).unwrap_or_default();
            is_cut |= rest.iter().any(|byte| *byte != 0);
            rest.fill(0);
        }
        std::fs::write(to.join(name), bytes).unwrap();
    }
    is_cut
}

#[tokio::test]
async fn que_3_a_creation_with_metadata_can_be_repeated_after_a_crash_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let metadata = BTreeMap::from([("x-ms-meta-owner".to_owned(), "ada".to_owned())]);
    let model = Model { account: Model::open(folder.path()).await, metadata, policies: Vec::new() };
    assert_eq!(model.answer("PUT", "work", &model.headers(), "").await.status, 201);
    let mut statuses = Vec::new();
    for at in (64..).step_by(16) {
        let mut is_cut = false;
        for is_repeated in [false, true] {
            let copy = tempfile::tempdir().unwrap();
            is_cut = cut(folder.path(), copy.path(), at);
            let metadata = model.metadata.clone();
            let mut again = Model { account: Model::open(copy.path()).await, metadata, policies: Vec::new() };
            if is_repeated {
                let status = again.answer("PUT", "work", &again.headers(), "").await.status;
                assert!([201, 204].contains(&status), "cut at byte {at}: {status}");
                statuses.push(status);
            } else if again.account.engine.list_queues("", 1).unwrap().is_empty() {
                continue;
            }
            again.check("a creation").await;
            again.create_by_the_program().await;
            again.metadata.clear();
            again.check("a creation by the program").await;
        }
        if !is_cut {
            break;
        }
    }
    assert!(statuses.first() == Some(&201) && statuses.last() == Some(&204), "{statuses:?}");
}

/// Tests a creation that failed because the metadata could not be stored again with its queue. The repeated creation stores it.
#[tokio::test]
async fn acl_4_a_repeated_creation_makes_the_queue_the_owner_of_its_metadata() {
    let queue = QueueName::new("work").unwrap();
    for (value, status) in [("ada", 204), ("grace", 409)] {
        let folder = tempfile::tempdir().unwrap();
        let metadata = BTreeMap::from([("x-ms-meta-owner".to_owned(), "ada".to_owned())]);
        let mut model = Model { account: Model::open(folder.path()).await, metadata, policies: Vec::new() };
        let (engine, settings) = (&model.account.engine, &model.account.settings);
        let text = r#"{"owner":"ada"}"#.to_owned();
        settings.set_for_next_queue(&queue, Some(text)).await.unwrap();
        engine.create_queue(&queue).await.unwrap();
        let again = model.answer("PUT", "work", &[("x-ms-meta-owner", value)], "").await.status;
        assert_eq!(again, status);
        model.check("a repeated creation").await;
        model.create_by_the_program().await;
        model.metadata.clear();
        model.check("a creation by the program").await;
    }
}

/// Tests a creation that fails before or after the metadata is stored, and a later creation of the queue by the embedding program.
#[tokio::test]
async fn acl_4_a_refused_creation_leaves_no_metadata_to_the_next_queue() {
    let queue = QueueName::new("work").unwrap();
    for busy in 1..=3 {
        let faults = FaultInjection { busy_every: NonZeroU32::new(busy), ..FaultInjection::default() };
        let engine = Engine::builder().faults(faults).in_memory();
        let account = Account::emulator(engine.clone()).unwrap();
        let metadata = BTreeMap::from([("x-ms-meta-owner".to_owned(), "ada".to_owned())]);
        let model = Model { account, metadata, policies: Vec::new() };
        let status = model.answer("PUT", "work", &model.headers(), "").await.status;
        assert_eq!(status, if busy < 3 { 503 } else { 201 });
        let engine = engine.without_fault_injection();
        let created = engine.create_queue(&queue).await.unwrap();
        assert_eq!(created, status == 503);
        let settings = Settings::of(&engine, model.account.authority.clone());
        for _ in 0..2 {
            assert_eq!(settings.get(Kind::QueueMetadata, "work").is_some(), !created, "{busy}");
            settings.load().await.unwrap();
        }
        // A rejected request does not change the settings of an existing queue.
        settings.set(Kind::QueuePolicies, "work", Some("policies".to_owned())).await.unwrap();
        for _ in 0..3 {
            model.answer("PUT", "work", &[], "").await;
            assert!(settings.get(Kind::QueuePolicies, "work").is_some(), "{busy}");
        }
    }
}
