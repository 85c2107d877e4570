//! Tests table layouts with encoded strings: Base64, and names in which some characters are replaced with a colon and a code.
//! The latter need a custom key part.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::key::codec::{Alphabet, DerivedPart, Form, laws};
use table_core::{Engine, Entity, Result, TableStoreExt};

use super::{both_ways, instant, stored};

/// A subscription in `NServiceBus`. The `PartitionKey` is the message type with its version. The `RowKey` is the subscriber's address in Base64. Found in
/// `Particular/NServiceBus.Persistence.AzureTable`, file `src/NServiceBus.Persistence.AzureTable/Subscriptions/AzureSubscriptionStorage.cs`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Subscription")]
#[partition_key(message)]
#[row_key(base64(address))]
struct Subscription {
    message: String,
    address: String,
    endpoint_name: String,
}

/// An application error logged by ELMAH. The `PartitionKey` is the application name in Base64, with `_` in place of `/`. The `RowKey` consists of inverted
/// ticks, and newer errors therefore sort first. Found in `MisinformedDNA/Elmah.AzureTableStorage`, files `src/Elmah.AzureTableStorage/AzureHelper.cs` and
/// `ElmahEntity.cs`. `ExceptionUrl` in `gevans6/PA3Final` encodes a URL in the same way.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Elmah")]
#[partition_key(base64(application_name))]
#[row_key(desc(at))]
struct ApplicationError {
    #[property(also)]
    application_name: String,
    at: DateTime<Utc>,
    message: String,
}

#[test]
fn names_in_base64_are_read_back() {
    let of = |message: &str, address: &str| Subscription {
        message: message.to_owned(),
        address: address.to_owned(),
        endpoint_name: "Sales".to_owned(),
    };
    let subscription = of("Shop.Placed, Version=1.0.0.0", "Samples.Azure.StoragePersistence.Server@RETINA");
    let row_key = "U2FtcGxlcy5BenVyZS5TdG9yYWdlUGVyc2lzdGVuY2UuU2VydmVyQFJFVElOQQ==";
    both_ways(&subscription, ("Shop.Placed, Version=1.0.0.0", row_key));
    both_ways(
        &of("Shop.Paid, Version=2.0.0.0", "Shop.Sales"),
        ("Shop.Paid, Version=2.0.0.0", "U2hvcC5TYWxlcw=="),
    );
    let error = |application: &str, at: &str| ApplicationError {
        application_name: application.to_owned(),
        at: instant(at),
        message: "failed".to_owned(),
    };
    let first = error("/LM/W3SVC/1/ROOT", "2024-02-28T09:05:07Z");
    both_ways(&first, ("L0xNL1czU1ZDLzEvUk9PVA==", "2516931896929999999"));
    both_ways(&error("é?", "2024-02-28T09:05:07.250Z"), ("w6k_", "2516931896927499999"));
    block_on(async {
        let last = error("/LM/W3SVC/1/ROOT", "2024-02-28T10:00:00Z");
        let errors =
            stored!(ApplicationError, [first.clone(), last.clone(), error("shop", "2024-02-28T10:00:00Z")]);
        let found = errors.query(ApplicationError::partition("/LM/W3SVC/1/ROOT")).collect().await.unwrap();
        assert_eq!(found, [last, first], "the newest first");
    });
}

/// A codec that writes a name in lower case. Any character other than an ASCII letter or digit becomes `:` and two hexadecimal digits, or `::` and four.
enum FunctionName {}

impl DerivedPart<String> for FunctionName {
    const NAME: &'static str = "function_name";
    const FORM: Form = Form {
        min: 0,
        max: 512,
        ordered: false,
        alphabet: Alphabet::of("0123456789abcdefghijklmnopqrstuvwxyz:ABCDEF"),
    };

    fn encode(name: &String, out: &mut String) -> Result<()> {
        for unit in name.encode_utf16() {
            let _ = match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii_alphanumeric() => {
                    out.write_char(char::from(byte.to_ascii_lowercase()))
                }
                Ok(byte) => write!(out, ":{byte:02X}"),
                Err(_) => write!(out, "::{unit:04X}"),
            };
        }
        Ok(())
    }
}

/// A codec that writes host names in the same way as function names.
type HostName = FunctionName;

/// A function on any host. The `PartitionKey` is the same for all functions, and the `RowKey` is `{host}-{function}`. Found in
/// `Azure/azure-webjobs-sdk`, folder `src/Microsoft.Azure.WebJobs.Logging`, files `Entities/FunctionDefinitionEntity.cs` and
/// `Internal/TableScheme.cs`, function `NormalizeFunctionName`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "AzureWebJobsHostLogscommon",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key("FD2")]
#[row_key(derived(HostName, host), "-", derived(FunctionName, original_name))]
struct FunctionDefinition {
    host: String,
    original_name: String,
}

#[test]
fn functions_are_found_in_any_case() {
    let names = ["", "OnOrder", "on-order", "on_order", "Größe", "価格", "a:b"].map(str::to_owned);
    assert_eq!(laws::check_derived::<FunctionName, String>(&names), Ok(()));
    let of = |host: &str, function: &str| FunctionDefinition {
        host: host.to_owned(),
        original_name: function.to_owned(),
    };
    both_ways(&of("Shop-Prod", "OnOrder"), ("FD2", "shop:2Dprod-onorder"));
    both_ways(&of("shop", "Größe_価"), ("FD2", "shop-gr:F6:DFe:5F::4FA1"));
    block_on(async {
        let functions = stored!(FunctionDefinition, [of("Shop-Prod", "OnOrder"), of("shop", "OnOrder")]);
        let of_host = FunctionDefinition::rows().host_is("SHOP-PROD".to_owned());
        let found = functions.query(of_host).collect().await.unwrap();
        assert_eq!(found, [of("Shop-Prod", "OnOrder")]);
    });
}
