//! Layouts with codecs of their own: strings in Base64, and names in which the numbers of characters follow colons.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use pollster::block_on;
use table_core::key::codec::{Alphabet, DerivedPart, Form, KeyCodec, laws};
use table_core::{Engine, Entity, Error, ErrorCode, Result, TableStoreExt};

use super::{both_ways, instant, stored};

const SEXTETS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_";

/// The UTF-8 of a string in Base64 with padding. `/` is written as `_`, because keys cannot contain it.
enum Base64 {}

impl KeyCodec<String> for Base64 {
    const NAME: &'static str = "base64";
    const FORM: Form = Form {
        min: 0,
        max: 512,
        ordered: false,
        alphabet: Alphabet::of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+_="),
    };

    fn encode(value: &String, out: &mut String) -> Result<()> {
        if value.len().div_ceil(3) * 4 > Self::FORM.max {
            return Err(Error::new(ErrorCode::KeyEncoding, format!("{value:?} is too long for a key")));
        }
        for group in value.as_bytes().chunks(3) {
            let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
            let sextets = (0..=group.len()).map(|at| bits >> (18 - 6 * at) & 63);
            out.extend(sextets.filter_map(|sextet| SEXTETS.chars().nth(sextet as usize)));
            out.extend(std::iter::repeat_n('=', 3 - group.len()));
        }
        Ok(())
    }

    fn decode(text: &str) -> Result<String> {
        let sextets = (0_u32..).zip(SEXTETS.chars());
        let sextet =
            |character| sextets.clone().find(|(_, other)| *other == character).map(|(number, _)| number);
        let sextets: Option<Vec<u32>> = text.trim_end_matches('=').chars().map(sextet).collect();
        let bytes = sextets.unwrap_or_default().chunks(4).flat_map(bytes_of).collect();
        let value = String::from_utf8(bytes).unwrap_or_default();
        let mut written = String::new();
        Self::encode(&value, &mut written)?;
        let other = || Error::new(ErrorCode::EntityMismatch, format!("'{text}' is not a string in Base64"));
        (written == text).then_some(value).ok_or_else(other)
    }
}

/// Returns the bytes of at most four characters.
fn bytes_of(sextets: &[u32]) -> impl Iterator<Item = u8> + use<> {
    let bits = (0..4).fold(0, |bits, at| bits << 6 | sextets.get(at).copied().unwrap_or(0));
    bits.to_be_bytes().into_iter().skip(1).take(sextets.len().saturating_sub(1))
}

/// Subscriptions of `NServiceBus`: the message with its version, and the address in Base64 (`Particular/NServiceBus.Persistence.AzureTable`,
/// `src/NServiceBus.Persistence.AzureTable/Subscriptions/AzureSubscriptionStorage.cs`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Subscription")]
#[partition_key(message)]
#[row_key(codec(Base64, address))]
struct Subscription {
    message: String,
    address: String,
    endpoint_name: String,
}

/// Errors of an application: its name in Base64 with `_` for `/`, and inverted ticks (`MisinformedDNA/Elmah.AzureTableStorage`,
/// `src/Elmah.AzureTableStorage/AzureHelper.cs`, `ElmahEntity.cs`; `ExceptionUrl` of `gevans6/PA3Final` has the same form of a URL).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Elmah")]
#[partition_key(codec(Base64, application_name))]
#[row_key(desc(at))]
struct ApplicationError {
    #[property(also)]
    application_name: String,
    at: DateTime<Utc>,
    message: String,
}

#[test]
fn names_in_base64_are_read_back() {
    let names = ["", "a", "ab", "abc", "é?", "~~~", "web@host", "/LM/W3SVC/1/ROOT"].map(str::to_owned);
    assert_eq!(laws::check::<Base64, String>(&names), Ok(()));
    for wrong in ["YQ", "YQ=", "YR==", "Y/==", "w6k/", "====", "YWJj=", "//8="] {
        assert!(Base64::decode(wrong).is_err(), "{wrong}");
    }
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

/// A name in lower case. Characters except letters and digits of ASCII are written as `:` and two hexadecimal digits, or as `::` and four.
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

/// The functions of all hosts, in one partition: `{host}-{function}` (`Azure/azure-webjobs-sdk`,
/// `src/Microsoft.Azure.WebJobs.Logging/Entities/FunctionDefinitionEntity.cs`, `Internal/TableScheme.cs`, `NormalizeFunctionName`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(
    table = "AzureWebJobsHostLogscommon",
    allow(hot_partition, reason = "the layout of another program")
)]
#[partition_key("FD2")]
#[row_key(derived(FunctionName, host), "-", derived(FunctionName, original_name))]
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
