//! Tests of the time to live of containers and items. The emulator does not implement expiry, so the tests check request bodies, and inject container
//! properties as the service returns them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value as Json, json};
use table_core::query::{KeyRange, Query};
use table_core::{Entity, ErrorCode, TableName, TableStore, TableStoreExt};
use table_cosmos::emulator::{Delivery, Emulator, Network, Request};
use table_cosmos::{CosmosTables, Difference, Mapping, Options, TimeToLive};

use crate::runtime;

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Sessions")]
#[partition_key(user)]
#[row_key(id)]
struct Session {
    user: String,
    id: String,
    expires_in: Option<i32>,
}

/// A mock network that records the properties of new containers, and adds a time to live to the properties of existing containers.
struct Expiring {
    account: Emulator,
    default_ttl: Option<i32>,
    created: Mutex<Vec<Json>>,
}

impl Expiring {
    fn new(default_ttl: Option<i32>) -> Arc<Self> {
        Arc::new(Self { account: Emulator::new(false).unwrap(), default_ttl, created: Mutex::default() })
    }

    async fn open(self: &Arc<Self>, options: Options) -> CosmosTables {
        self.account.open_over(options, self.clone()).await.unwrap()
    }
}

impl Network for Expiring {
    fn deliver(&self, request: Request) -> Delivery {
        let (account, default_ttl) = (self.account.clone(), self.default_ttl);
        let is_query = request.header("x-ms-documentdb-isquery").is_some();
        if request.method == "POST" && request.target.ends_with("/colls") && !is_query {
            let body: Json = serde_json::from_slice(&request.body).unwrap();
            assert_eq!(body["id"], "Sessions");
            self.created.lock().unwrap_or_else(PoisonError::into_inner).push(body);
        }
        let is_description = request.method == "GET" && request.target.ends_with("/colls/Sessions");
        Box::pin(async move {
            let mut answer = account.receive(&request).await?;
            if is_description && answer.status == 200 {
                let mut described: Json = serde_json::from_slice(&answer.body).unwrap();
                if let Some(seconds) = default_ttl {
                    described["defaultTtl"] = seconds.into();
                }
                answer.body = described.to_string().into_bytes();
            }
            Ok(answer)
        })
    }
}

impl fmt::Debug for Expiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Expiring")
    }
}

fn per_item() -> Options {
    Options::new().mapping_of::<Session>(Mapping::standard(1).time_to_live("ExpiresIn")).unwrap()
}

#[test]
fn hpk_43_a_new_container_has_the_time_to_live_of_the_options() {
    runtime().block_on(async {
        let hour = Options::new().time_to_live("sessions", TimeToLive::Seconds(3_600));
        let cases = [
            (Options::new(), Json::Null),
            (hour.clone(), 3_600.into()),
            (Options::new().time_to_live("Sessions", TimeToLive::PerItem), (-1).into()),
            (Options::new().time_to_live("Sessions", TimeToLive::Seconds(0)), 1.into()),
            // If a property contains an item's time to live, the container must allow items to expire.
            (per_item(), (-1).into()),
            (per_item().time_to_live("Sessions", TimeToLive::Seconds(60)), 60.into()),
        ];
        for (options, expected) in cases {
            let network = Expiring::new(None);
            network
                .open(options.clone())
                .await
                .create_table(&TableName::new("Sessions").unwrap())
                .await
                .unwrap();
            let created = network.created.lock().unwrap_or_else(PoisonError::into_inner);
            assert_eq!(created[0]["defaultTtl"], expected, "{options:?}");
        }
        let template = hour.bicep(&[TableName::new("Sessions").unwrap()]).unwrap();
        assert!(template.contains("defaultTtl: 3600"), "{template}");
    });
}

#[test]
fn hpk_43_a_container_that_expires_is_opened_if_the_options_say_so() {
    runtime().block_on(async {
        let (none, per_item, hour) = (TimeToLive::Off, TimeToLive::PerItem, TimeToLive::Seconds(3_600));
        // The container's time to live, the requested time to live, and whether a difference is reported. `None` if the container is rejected.
        let cases = [
            (None, none, Some(false)),
            (Some(3_600), none, None),
            (Some(-1), none, None),
            (Some(3_600), hour, Some(false)),
            (Some(60), hour, Some(true)),
            (Some(-1), hour, Some(true)),
            (None, hour, Some(true)),
            (Some(-1), per_item, Some(false)),
            (None, per_item, Some(true)),
        ];
        for (default_ttl, asked, expected) in cases {
            let network = Expiring::new(default_ttl);
            let table = TableName::new("Sessions").unwrap();
            network.account.create(&table, 1, 1, None).unwrap();
            let store = network.open(Options::new().time_to_live("Sessions", asked)).await;
            let opened = store.query(&table, &Query::new(KeyRange::ALL), None).await;
            let Some(expected) = expected else {
                let error = opened.unwrap_err();
                assert_eq!(
                    (error.code(), error.rule()),
                    (ErrorCode::SchemaMismatch, Some("HPK-43")),
                    "{error}"
                );
                assert!(error.to_string().contains("Options::time_to_live"), "{error}");
                continue;
            };
            opened.unwrap();
            let differences = store.differences(&table).await.unwrap();
            let found = differences.iter().find(|found| matches!(found, Difference::TimeToLive { .. }));
            assert_eq!(found.is_some(), expected, "{default_ttl:?}, {asked:?}: {differences:?}");
        }
    });
}

#[test]
fn an_item_has_the_time_to_live_of_its_last_write() {
    runtime().block_on(async {
        let network = Expiring::new(Some(-1));
        let table = TableName::new("Sessions").unwrap();
        network.account.create(&table, 1, 1, None).unwrap();
        let store = network.open(per_item()).await;
        let sessions = store.table::<Session>();
        let stored = async || {
            let headers = [("x-ms-documentdb-partitionkey".to_owned(), r#"["ada"]"#.to_owned())];
            let target = "/dbs/tables/colls/Sessions/docs/s1";
            let answer = network.account.exchange("GET", target, headers, Vec::new()).await.unwrap();
            serde_json::from_slice::<Json>(&answer.body).unwrap()
        };
        let key = || Session::key("ada", "s1");
        let session = |expires_in| Session { user: "ada".to_owned(), id: "s1".to_owned(), expires_in };
        for expires_in in [Some(60), None, Some(-1), Some(i32::MAX)] {
            sessions.insert_or_replace(&session(expires_in)).await.unwrap();
            let item = stored().await;
            assert_eq!(item["ttl"], expires_in.map_or(Json::Null, Json::from), "{item}");
            assert_eq!(item["p"], json!({}), "{item}");
            assert_eq!(sessions.get(key()).await.unwrap().unwrap().expires_in, expires_in);
        }
        sessions.update(key(), |session| session.expires_in = Some(5)).await.unwrap();
        assert_eq!(stored().await["ttl"], 5);
        for expires_in in [0, -2] {
            let error = sessions.insert_or_replace(&session(Some(expires_in))).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidInput, "{error}");
        }
        assert_eq!(stored().await["ttl"], 5, "a refused write changes nothing");
    });
}

#[test]
fn wire_6_a_property_that_becomes_the_time_to_live_keeps_its_stored_value() {
    runtime().block_on(async {
        let network = Expiring::new(Some(-1));
        let table = TableName::new("Sessions").unwrap();
        network.account.create(&table, 1, 1, None).unwrap();
        let earlier = network.account.open(Options::new()).await.unwrap();
        let session =
            |id: &str, expires_in| Session { user: "ada".to_owned(), id: id.to_owned(), expires_in };
        for (id, expires_in) in [("s1", Some(60)), ("s2", None), ("s3", Some(0))] {
            earlier.table::<Session>().insert(&session(id, expires_in)).await.unwrap();
        }
        let store = network.open(per_item()).await;
        let sessions = store.table::<Session>();
        assert_eq!(sessions.get(Session::key("ada", "s1")).await.unwrap().unwrap().expires_in, Some(60));
        let all = sessions.query(Session::partition("ada")).collect().await.unwrap();
        let found: Vec<_> = all.iter().map(|session| session.expires_in).collect();
        assert_eq!(found, [Some(60), None, Some(0)]);
        sessions.update(Session::key("ada", "s3"), |session| session.expires_in = Some(5)).await.unwrap();
        let short = sessions.query(Session::partition("ada")).filter(Session::EXPIRES_IN.le(5));
        assert_eq!(short.collect().await.unwrap().len(), 1);
    });
}
