//! Tests of requests to the Table service, without network connections.

mod pages;
mod parts;
mod writes;

use std::net::Ipv4Addr;
use std::time::Duration;

use chrono::Utc;
use http::Request;
use table_core::Engine;
use table_wire::sas::{Caller, Lifetime, TablePermissions, TableSas};

use super::*;
use crate::service::Service;

fn get(target: &str) -> Exchange {
    let (path, _) = target.split_once('?').unwrap();
    let request = Request::get(format!("/devstoreaccount1/{target}")).body(()).unwrap();
    let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
    Exchange { path: path.to_owned(), ..Exchange::new(Service::Tables, request.into_parts().0, caller) }
}

/// Tests continuation tokens that come from a different query or are made up by a client.
#[tokio::test]
async fn page_7_and_sas_8_a_token_does_not_change_whether_a_query_is_refused() {
    let account = Account::emulator(Engine::in_memory()).unwrap();
    for name in ["Employee", "Other"] {
        account.engine.create_table(&TableName::new(name).unwrap()).await.unwrap();
    }
    let token = |permissions| {
        let lifetime = Lifetime::valid_for(Utc::now(), Duration::from_secs(3_600));
        let sas = TableSas::table(TableName::new("Employee").unwrap()).allow(permissions).lifetime(lifetime);
        let caller = Caller { address: Ipv4Addr::LOCALHOST.into(), secure: false };
        let authority = account.authority.clone().caller(caller);
        Access::Token(Box::new((authority, sas.sign(&account.key).unwrap())))
    };
    let (reader, adder) = (token(TablePermissions::READ), token(TablePermissions::ADD));
    for (access, table, expected) in [
        (&Access::Key, "Employee", Ok(200)),
        (&Access::Key, "Missing", Err(404)),
        (&reader, "Employee", Ok(200)),
        (&reader, "Other", Err(403)),
        (&reader, "Missing", Err(403)),
        (&adder, "Employee", Err(403)),
    ] {
        for filter in
            ["", "PartitionKey%20lt%20'm'", "PartitionKey%20eq%20'm'%20and%20RowKey%20eq%20'm'", "false"]
        {
            // The tokens contain the keys `a`, `m` and `z`.
            for (partition, row) in
                [("", ""), ("YQ--", "YQ--"), ("bQ--", "bQ--"), ("eg--", "eg--"), ("bQ--", "eg--")]
            {
                let token = if partition.is_empty() {
                    String::new()
                } else {
                    format!("&NextPartitionKey=1!4!{partition}&NextRowKey=1!4!{row}")
                };
                let target = format!("{table}()?$filter={filter}{token}");
                let answer = answer(&account, access, &get(&target)).await;
                let status = answer.map(|answer| answer.status).map_err(|refusal| refusal.status);
                assert_eq!(status, expected, "{target}");
            }
        }
    }
}
