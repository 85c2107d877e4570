//! The services a client can connect to, and their capabilities: Azure Table Storage, Cosmos DB for Table, and emulators (COS, AZ rules).

use table_core::limits::{Limits, TABLE_NAME_MAX, TransactionMeasure};
use table_core::store::Capabilities;
use table_core::{Error, ErrorCode, Operation, Result};

use crate::endpoint::Endpoint;

/// The kind of service at an endpoint. By default, it is derived from the endpoint.
///
/// ```
/// use table_azure::{AzureTables, Credential, Target};
///
/// let key = Credential::shared_key("contoso", "a2V5")?;
/// let tables = AzureTables::new("https://contoso.table.cosmos.azure.com", key)?;
/// assert_eq!(tables.target(), Target::Cosmos);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// Azure Table Storage, the reference for all rules.
    Service,
    /// Cosmos DB for Table. It returns unordered results, and its limits for keys and batches are smaller (COS rules).
    ///
    /// Its table names are case-sensitive. Two spellings of a name therefore refer to two tables, although their [`TableName`](table_core::TableName)s are
    /// equal (COS-3).
    Cosmos,
    /// Azurite, which behaves like the service except for the deviations in the AZ rules.
    Emulator,
}

/// The maximum size of the headers and delimiters of one operation in a batch, in bytes. It includes the operation's share of the outer delimiters.
const PART_BYTES: usize = 448;
/// The maximum length of a RowKey on Cosmos DB, in bytes (COS-2).
const COSMOS_ROW_KEY_BYTES: usize = 255;
/// The maximum size of a batch on Cosmos DB, in bytes (COS-2). The documentation says "2 MB". This value is its smallest possible meaning.
const COSMOS_BATCH_BYTES: usize = 2_000_000;
/// The property names that Cosmos DB reserves (COS-4).
const COSMOS_RESERVED: [&str; 4] = ["id", "rid", "etag", "ResourceId"];

impl Target {
    /// Returns the kind of service for an endpoint. A path-style endpoint belongs to an emulator (ACC-2). The host name identifies Cosmos DB (ACC-3).
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        if endpoint.is_path_style() || endpoint.is_emulator() {
            Self::Emulator
        } else if endpoint.host().contains(".cosmos.") || endpoint.host().contains(".cosmosdb.") {
            Self::Cosmos
        } else {
            Self::Service
        }
    }

    /// Returns the capabilities of this kind of service.
    ///
    /// The client does not reject keys of 513 to 1,024 code units, because the server decides whether to accept them (ENG-1). Azurite rejects such keys, so its
    /// limit is lower (AZ-7).
    ///
    /// The size of a transaction is the size of its request body. Each URL in the body begins with the base URL, which has `base_bytes` bytes (EGT-3).
    pub(crate) fn capabilities(self, base_bytes: usize) -> Capabilities {
        let mut limits = if self == Self::Emulator { Limits::PORTABLE } else { Limits::WIDE };
        limits.measure = TransactionMeasure::Body {
            per_operation: PART_BYTES + TABLE_NAME_MAX + base_bytes,
            ascii: self == Self::Emulator,
        };
        let mut capabilities = Capabilities::service(limits);
        capabilities.looks_ahead = true;
        if self == Self::Cosmos {
            capabilities.ordered = false; // COS-1
            capabilities.top = i32::MAX.unsigned_abs() as usize; // COS-6
            capabilities.limits.transaction_bytes = COSMOS_BATCH_BYTES;
        }
        capabilities
    }

    /// Returns the scope for which bearer tokens are requested (AUTH-12).
    pub(crate) const fn scope(self) -> &'static str {
        match self {
            Self::Service | Self::Emulator => "https://storage.azure.com/.default",
            Self::Cosmos => "https://cosmos.azure.com/.default",
        }
    }

    /// Checks an operation against limits that the capabilities cannot express (COS-2, COS-4).
    pub(crate) fn check(self, operation: &Operation) -> Result<()> {
        if self != Self::Cosmos {
            return Ok(());
        }
        let bytes = operation.row_key.as_str().len();
        if bytes > COSMOS_ROW_KEY_BYTES {
            let message = format!(
                "the RowKey has {bytes} bytes, Cosmos DB allows {COSMOS_ROW_KEY_BYTES}; shorten it or move a part into the PartitionKey"
            );
            return Err(Error::new(ErrorCode::PropertyValueTooLarge, message).with_rule("COS-2"));
        }
        let Some(row) = operation.kind.row() else { return Ok(()) };
        for property in row.view().properties() {
            let name = property?.name;
            if COSMOS_RESERVED.contains(&name) {
                let message = format!("property name `{name}` is reserved by Cosmos DB; choose another name");
                return Err(Error::new(ErrorCode::PropertyNameInvalid, message).with_rule("COS-4"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use table_core::row::RowWriter;
    use table_core::{OperationKind, RowKey, ValueRef};

    use super::*;

    fn insert(row_key: &str, name: &str) -> Operation {
        let mut row = RowWriter::new();
        row.property(name, ValueRef::Int32(1));
        Operation { row_key: RowKey::new(row_key).unwrap(), kind: OperationKind::Insert(row.finish()) }
    }

    #[test]
    fn acc_1_to_3_the_endpoint_determines_the_target() {
        for (endpoint, target) in [
            ("https://a.table.core.windows.net", Target::Service),
            ("https://a.table.cosmos.azure.com:443", Target::Cosmos),
            ("http://127.0.0.1:10002/devstoreaccount1", Target::Emulator),
            ("http://azurite:10002/devstoreaccount1", Target::Emulator),
        ] {
            assert_eq!(Target::of(&Endpoint::new(endpoint).unwrap()), target, "{endpoint}");
        }
    }

    #[test]
    fn eng_1_and_az_7_only_the_service_accepts_long_keys() {
        let key_units = |target: Target| target.capabilities(0).limits.key_units;
        assert_eq!((key_units(Target::Emulator), key_units(Target::Service)), (512, 1_024));
    }

    #[test]
    fn cos_1_2_and_6_are_capabilities() {
        let (service, cosmos) = (Target::Service.capabilities(0), Target::Cosmos.capabilities(0));
        assert!(service.looks_ahead && cosmos.looks_ahead);
        assert_eq!((service.ordered, service.top), (true, 1_000));
        assert!(!cosmos.ordered && cosmos.top > 1_000);
        assert_eq!(cosmos.limits.transaction_bytes, 2_000_000);
    }

    #[test]
    fn cos_2_and_4_are_refused_before_anything_is_sent() {
        let rule = |operation| Target::Cosmos.check(&operation).err().and_then(|error| error.rule());
        assert_eq!(rule(insert(&"é".repeat(127), "P")), None);
        assert_eq!(rule(insert(&"é".repeat(128), "P")), Some("COS-2"));
        for name in COSMOS_RESERVED {
            assert_eq!(rule(insert("1", name)), Some("COS-4"));
            assert!(Target::Service.check(&insert("1", name)).is_ok());
        }
        assert_eq!(rule(insert("1", "Id")), None);
    }
}
