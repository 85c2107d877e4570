//! Tests the table layouts of stores that find documents by name: packages, tokens, secrets, index rows and ranks.

use pollster::block_on;
use table_core::{Engine, Entity, TableStoreExt};

use super::{both_ways, stored};

/// A `NuGet` package. The keys are the package's identifier and normalised version, both in lower case. Found in `loic-sharma/BaGet`, file
/// `src/BaGet.Azure/Table/TableOperationBuilder.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Packages")]
#[partition_key(folded(lower, id))]
#[row_key(folded(lower, normalized_version))]
struct Package {
    id: String,
    normalized_version: String,
    downloads: i64,
}

#[test]
fn packages_are_found_in_any_case() {
    let of = |version: &str| Package {
        id: "Newtonsoft.Json".to_owned(),
        normalized_version: version.to_owned(),
        downloads: 7,
    };
    both_ways(&of("13.0.1"), ("newtonsoft.json", "13.0.1"));
    both_ways(&of("13.0.2-Beta1"), ("newtonsoft.json", "13.0.2-beta1"));
    block_on(async {
        let packages = stored!(Package, [of("13.0.1"), of("13.0.2-Beta1")]);
        let found = packages.get(Package::key("NEWTONSOFT.JSON", "13.0.2-BETA1")).await.unwrap().unwrap();
        assert_eq!(found.value(), &of("13.0.2-Beta1"));
    });
}

/// A refresh token. The `PartitionKey` consists of the first three characters of the token. Found in
/// `kylesonaty/IdentityServer3.Contrib.Store.AzureTableStorage`, files `AzureTableStorageRefreshTokenStore.cs` and `StringExtensions.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "refreshtokens")]
#[partition_key(first(3, token))]
#[row_key(token)]
struct RefreshToken {
    token: String,
    json: String,
}

/// A secret of a client. The `RowKey` is the four-digit number of the secret. Found in `springcomp/IdentityServer4.TableStorage`, file
/// `src/Azure.TableStores/Entities/ClientSecret.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "ClientSecrets")]
#[partition_key(client_id)]
#[row_key(digits(4, nonnegative, sequence))]
struct ClientSecret {
    #[property(also)]
    client_id: String,
    #[property(also)]
    sequence: i32,
    value: String,
}

#[test]
fn tokens_and_secrets_of_an_identity_server() {
    let token = |token: &str| RefreshToken { token: token.to_owned(), json: "{}".to_owned() };
    both_ways(&token("8d1f0c"), ("8d1", "8d1f0c"));
    both_ways(&token("8d2"), ("8d2", "8d2"));
    let secret =
        |sequence| ClientSecret { client_id: "web".to_owned(), sequence, value: "secret".to_owned() };
    both_ways(&secret(7), ("web", "0007"));
    both_ways(&secret(9_999), ("web", "9999"));
    block_on(async {
        let secrets = stored!(ClientSecret, [secret(10), secret(9)]);
        let all = secrets.query(ClientSecret::partition("web")).collect().await.unwrap();
        assert_eq!(all, [secret(9), secret(10)]);
    });
}

/// An index row. The `PartitionKey` is `{property}|%|{value}`, and the `RowKey` is `{PartitionKey}|%|{RowKey}` of the indexed entity. Found in
/// `timschreiber/TimSchreiber.AzureTableStorage.AutoIndex`, folder `Indexing`, files `Index.cs`, `IndexKey.cs` and `EntityKey.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "UsersIdx")]
#[partition_key(without('|', property), "|%|", value)]
#[row_key(without('|', partition), "|%|", row)]
struct IndexRow {
    property: String,
    value: String,
    partition: String,
    row: String,
}

#[test]
fn index_rows_hold_the_key_of_an_entity() {
    let of = |value: &str, row: &str| IndexRow {
        property: "Email".to_owned(),
        value: value.to_owned(),
        partition: "users".to_owned(),
        row: row.to_owned(),
    };
    both_ways(&of("ada@contoso.com", "u1"), ("Email|%|ada@contoso.com", "users|%|u1"));
    both_ways(&of("a|%|b", "u|2"), ("Email|%|a|%|b", "users|%|u|2"));
    block_on(async {
        let index = stored!(IndexRow, [of("a", "u1"), of("a", "u2"), of("b", "u3")]);
        let found = index.query(IndexRow::partition("Email", "a")).collect().await.unwrap();
        assert_eq!(found, [of("a", "u1"), of("a", "u2")]);
    });
}

/// The rank of a place in a leaderboard. The `RowKey` consists of `9999999999` minus the points, in ten digits, and the place. Found in
/// `Po.SeeReview.Infrastructure`, classes `LeaderboardEntity` and `LeaderboardRepository`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "PoSeeReviewLeaderboard")]
#[partition_key("LEADERBOARD_", region)]
#[row_key(inverted(9_999_999_999, points), "_", place_id)]
struct Rank {
    region: String,
    points: u64,
    place_id: String,
    address: String,
}

#[test]
fn the_highest_rank_is_first() {
    let of = |points, place: &str| Rank {
        region: "US-WA-Seattle".to_owned(),
        points,
        place_id: place.to_owned(),
        address: "1st Avenue".to_owned(),
    };
    // A score of 98.0 is stored as 98.0 × 100,000,000.
    both_ways(&of(9_800_000_000, "ChIJTest123"), ("LEADERBOARD_US-WA-Seattle", "0199999999_ChIJTest123"));
    both_ways(&of(0, "ChIJ_A"), ("LEADERBOARD_US-WA-Seattle", "9999999999_ChIJ_A"));
    block_on(async {
        let ranks = stored!(Rank, [of(8_500_000_000, "b"), of(9_800_000_000, "a"), of(8_500_000_000, "c")]);
        let first = ranks.query(Rank::rows("US-WA-Seattle")).page_size(1).page().await.unwrap();
        assert_eq!(first.items[0].place_id, "a");
        let second = Rank::rows("US-WA-Seattle").points_is(8_500_000_000_u64);
        assert_eq!(ranks.query(second).collect().await.unwrap().len(), 2);
    });
}
