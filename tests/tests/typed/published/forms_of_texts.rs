//! Tests published table layouts whose keys contain strings in lossy formats: hashes, and strings in which characters are replaced.

use pollster::block_on;
use table_core::{Engine, Entity, ErrorCode, TableStoreExt};

use super::{both_ways, stored};

/// A follower of a website. The `PartitionKey` is the host in the actor URI of the follower, and the `RowKey` is the MD5 hash of that URI (class
/// `ActivityPubDotNet.Core.Storage.Follower`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "followers")]
#[partition_key(host)]
#[row_key(hash(md5, 32, actor_uri))]
struct Follower {
    host: String,
    actor_uri: String,
}

/// A text whose sentiment is analysed. The `RowKey` is the MD5 hash of the text in capitals (class `R3DD17.TextBlob`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Texts")]
#[partition_key(symbol)]
#[row_key(hash(md5, 32, upper, raw_text))]
struct TextBlob {
    symbol: String,
    raw_text: String,
    sentiment: String,
}

#[test]
fn rows_by_md5_in_both_cases() {
    let of = |actor: &str| Follower { host: "hachyderm.io".to_owned(), actor_uri: actor.to_owned() };
    let follower = of("https://hachyderm.io/users/mapache");
    both_ways(&follower, ("hachyderm.io", "694a88b9ba7116daef36f095e5639773"));
    let text =
        TextBlob { symbol: "GME".to_owned(), raw_text: "to the moon".to_owned(), sentiment: String::new() };
    both_ways(&text, ("GME", "1A0138C412301285CB3DEA00B42C241A"));
    block_on(async {
        let followers = stored!(Follower, [follower.clone(), of("https://hachyderm.io/users/ada")]);
        let found =
            followers.get(Follower::key("hachyderm.io", "https://hachyderm.io/users/mapache")).await.unwrap();
        assert_eq!(found.unwrap().value(), &follower);
        assert_eq!(followers.query(Follower::partition("hachyderm.io")).collect().await.unwrap().len(), 2);
        let texts = stored!(TextBlob, [text.clone()]);
        assert_eq!(texts.get(TextBlob::key("GME", "to the moon")).await.unwrap().unwrap().value(), &text);
    });
}

/// Readings distributed over partitions by the CRC-32 (RFC 1952, section 8) of the sensor's name. We found no published program with such a key. `cbf43926` is
/// the check value for `123456789` in catalogues of CRC algorithms.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Readings")]
#[partition_key(hash(crc32, 8, sensor))]
#[row_key(sensor)]
struct Reading {
    sensor: String,
    value: f64,
}

#[test]
fn partitions_by_crc32() {
    let of = |sensor: &str| Reading { sensor: sensor.to_owned(), value: 0.5 };
    both_ways(&of("123456789"), ("cbf43926", "123456789"));
    block_on(async {
        let readings = stored!(Reading, [of("123456789"), of("1"), of("2"), of("3")]);
        let found = readings.get(Reading::key("123456789")).await.unwrap().unwrap();
        assert_eq!(found.value(), &of("123456789"));
        let mut shares = 0;
        for share in 0..4 {
            shares +=
                readings.query(Reading::partitions_by_sensor_share(share, 4)).collect().await.unwrap().len();
        }
        assert_eq!(shares, 4, "each row is in one share");
    });
}

/// The state of an Orleans grain. The `PartitionKey` is `{service}_{grain}`, with `_` in place of characters that a key cannot contain (functions
/// `AzureTableUtils.SanitizeTableProperty` and `AzureTableGrainStorage.GetKeyString`). The properties `Data`, `Data1`, … contain 64 KiB each.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansGrainState")]
#[partition_key(
    without('_', service),
    "_",
    replaced('/', '_', replaced('\\', '_', replaced('#', '_', replaced('?', '_', grain))))
)]
#[row_key(replaced('/', '_', replaced('\\', '_', replaced('#', '_', replaced('?', '_', state)))))]
struct GrainState {
    service: String,
    grain: String,
    state: String,
    #[property(chunks)]
    data: Vec<u8>,
}

#[test]
fn characters_that_were_replaced_and_a_value_in_chunks() {
    let of = |grain: &str| GrainState {
        service: "shop".to_owned(),
        grain: grain.to_owned(),
        state: "Cart#2".to_owned(),
        data: vec![7; 70_000],
    };
    let state = of("cart/7?a#b\\c");
    both_ways(&state, ("shop_cart_7_a_b_c", "Cart_2"));
    block_on(async {
        let states = stored!(GrainState, [state.clone()]);
        let key = || GrainState::key("shop", "cart/7?a#b\\c", "Cart#2");
        assert_eq!(states.get(key()).await.unwrap().unwrap().value(), &state);
        // Two grains have the same key. The second is rejected, and a read of the second never returns the first.
        let taken = states.insert(&of("cart_7?a#b_c")).await.unwrap_err();
        assert_eq!(taken.code(), ErrorCode::EntityAlreadyExists);
        let bag = states.store().untyped("OrleansGrainState").unwrap();
        let stored = bag
            .get(&table_core::EntityKey::new("shop_cart_7_a_b_c", "Cart_2").unwrap())
            .await
            .unwrap()
            .unwrap();
        assert!(stored.get("Data1").is_some());
    });
}
