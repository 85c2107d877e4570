//! Tests that a queue's metadata and policies agree with a simple model, in which they change only when a request sets them or the queue is deleted.

use std::collections::BTreeMap;
use std::path::Path;

use table_core::QueueStore;
use table_core::queue::PutMessage;

use super::*;
use crate::answer::Answer;

const MESSAGE: &str = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";

/// An account with an engine in a folder, and the expected settings of the queue `work`.
pub(super) struct Model {
    pub(super) account: Account,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) policies: Vec<String>,
}

impl Model {
    pub(super) async fn open(path: &Path) -> Account {
        let account = Account::emulator(Engine::open(path).unwrap()).unwrap();
        account.load().await.unwrap();
        account
    }

    pub(super) async fn answer(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let exchange = verified(method, target, headers, body);
        answer(&self.account, &Access::Key, &exchange)
            .await
            .unwrap_or_else(|refusal| Answer::refused(refusal, &exchange))
    }

    /// Checks the responses to all requests that return the queue's settings.
    pub(super) async fn check(&self, step: &str) {
        let answer = self.answer("GET", "work?comp=metadata", &[], "").await;
        let metadata: BTreeMap<_, _> = answer.metadata.into_iter().collect();
        assert_eq!(metadata, self.metadata, "after {step}");
        let policies = self.answer("GET", "work?comp=acl", &[], "").await.body;
        assert_eq!(policies.matches("<Id>").count(), self.policies.len(), "after {step}: {policies}");
        assert!(self.policies.iter().all(|id| policies.contains(&format!("<Id>{id}</Id>"))), "after {step}");
        let list = self.answer("GET", "?comp=list&include=metadata", &[], "").await.body;
        let listed = self.metadata.iter().all(|(name, value)| {
            let name = name.trim_start_matches("x-ms-meta-");
            list.contains(&format!("<{name}>{value}</{name}>"))
        });
        assert!(listed, "after {step}: {list}");
    }

    /// Deletes and creates the queue directly through the engine, so the server is not notified.
    pub(super) async fn create_by_the_program(&self) {
        let queue = QueueName::new("work").unwrap();
        self.account.engine.delete_queue(&queue).await.unwrap();
        assert!(self.account.engine.create_queue(&queue).await.unwrap());
    }

    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        self.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }
}

/// Returns a pseudo-random number generator. Its argument is the upper bound of the next number.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 1_000_003).unwrap() % below
    }
}

#[tokio::test]
async fn que_3_and_acl_4_only_a_deletion_or_a_new_setting_changes_the_settings_of_a_queue() {
    let queue = QueueName::new("work").unwrap();
    for seed in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let mut number = numbers(seed);
        let account = Model::open(folder.path()).await;
        let mut model = Model { account, metadata: BTreeMap::new(), policies: Vec::new() };
        assert_eq!(model.answer("PUT", "work", &[], "").await.status, 201);
        for n in 0..60 {
            let engine = model.account.engine.clone();
            let step = [
                "set metadata",
                "set policies",
                "put",
                "receive",
                "peek",
                "clear",
                "clear by the program",
                "create",
                "create with other metadata",
                "delete and create",
                "delete and create with metadata",
                "delete and create by the program",
                "checkpoint",
                "restart",
            ][number(14)];
            match step {
                "set metadata" => {
                    model.metadata = BTreeMap::from([("x-ms-meta-owner".to_owned(), format!("ada{n}"))]);
                    let set = model.answer("PUT", "work?comp=metadata", &model.headers(), "").await;
                    assert_eq!(set.status, 204);
                }
                "set policies" => {
                    model.policies = vec![format!("senders{n}")];
                    let text = format!(
                        "<SignedIdentifiers><SignedIdentifier><Id>senders{n}</Id><AccessPolicy><Permission>a</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
                    );
                    assert_eq!(model.answer("PUT", "work?comp=acl", &[], &text).await.status, 204);
                }
                "put" => assert_eq!(model.answer("POST", "work/messages", &[], MESSAGE).await.status, 201),
                "receive" => {
                    assert_eq!(model.answer("GET", "work/messages", &[], "").await.status, 200);
                }
                "peek" => {
                    assert_eq!(model.answer("GET", "work/messages?peekonly=true", &[], "").await.status, 200);
                }
                "clear" => assert_eq!(model.answer("DELETE", "work/messages", &[], "").await.status, 204),
                "clear by the program" => {
                    engine.put(&queue, PutMessage::new("a")).await.unwrap();
                    engine.clear(&queue).await.unwrap();
                }
                "create" => {
                    assert_eq!(model.answer("PUT", "work", &model.headers(), "").await.status, 204);
                }
                "create with other metadata" => {
                    let other = model.answer("PUT", "work", &[("x-ms-meta-other", "b")], "").await;
                    assert_eq!(other.status, 409);
                }
                "checkpoint" => engine.checkpoint().await.unwrap(),
                "restart" => {
                    let Model { account, metadata, policies } = model;
                    engine.close().await.unwrap();
                    drop(account);
                    model = Model { account: Model::open(folder.path()).await, metadata, policies };
                }
                by => {
                    (model.metadata, model.policies) = (BTreeMap::new(), Vec::new());
                    if by.ends_with("program") {
                        model.create_by_the_program().await;
                    } else {
                        if by.ends_with("metadata") {
                            model.metadata.insert("x-ms-meta-owner".to_owned(), format!("ada{n}"));
                        }
                        assert_eq!(model.answer("DELETE", "work", &[], "").await.status, 204);
                        assert_eq!(model.answer("PUT", "work", &model.headers(), "").await.status, 201);
                    }
                }
            }
            model.check(step).await;
        }
    }
}
