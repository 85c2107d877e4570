//! Tests the table layout of function runs recorded by an Azure Functions host.

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::query::QueryClass;
use table_core::{Engine, Entity, TableStoreExt};

use super::{both_ways, instant};

/// A run of a function. All runs are in the partition `R2`. The `RowKey` is `{host}-{function}-{ticks:D20}-{salt}` with inverted ticks, and newer runs
/// therefore sort first (`Microsoft.Azure.WebJobs.Logging`, class `RecentPerFuncEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "AzureWebJobsHostLogs202402",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key("R2")]
#[row_key(host, "-", function, "-0", desc(start_time), "-", salt)]
struct RecentRun {
    #[without('-')]
    host: String,
    #[without('-')]
    function: String,
    #[property(also)]
    start_time: DateTime<Utc>,
    #[unpadded]
    salt: i32,
    function_name: String,
}

#[test]
fn the_runs_of_azure_functions() {
    let of = |at: &str, salt| RecentRun {
        host: "shop".to_owned(),
        function: "onorder".to_owned(),
        start_time: instant(at),
        salt,
        function_name: "OnOrder".to_owned(),
    };
    let run = of("2024-02-28T09:05:07Z", -94);
    both_ways(&run, ("R2", "shop-onorder-02516931896929999999--94"));
    block_on(async {
        let runs = Engine::in_memory().table::<RecentRun>().create_if_missing().await.unwrap();
        for (at, salt) in
            [("2024-02-28T09:05:07Z", 7), ("2024-02-28T09:05:00Z", 7), ("2024-02-28T10:00:00Z", -1)]
        {
            runs.insert(&of(at, salt)).await.unwrap();
        }
        let of_function = || RecentRun::rows().host_is("shop").function_is("onorder");
        let newest = runs.query(of_function()).page_size(1).page().await.unwrap();
        assert_eq!(newest.items[0].salt, -1);
        let minute = instant("2024-02-28T09:05:00Z")..instant("2024-02-28T09:06:00Z");
        let query = runs.query(of_function().start_time(minute));
        assert_eq!(query.plan().unwrap().class, QueryClass::Range);
        let found = query.collect().await.unwrap();
        assert_eq!(found, [of("2024-02-28T09:05:07Z", 7), of("2024-02-28T09:05:00Z", 7)]);
    });
}
