//! Converts operations to HTTP requests, each with a method, a path, a condition and a body (IFM-1).

use reqwest::Method;
use table_core::etag::IfMatch;
use table_core::odata::{MetadataLevel, entity_link, write_body};
use table_core::{Operation, OperationKind, Result, TableName};

use crate::ascii;
use crate::http::Request;
use crate::target::Target;

/// A write to one entity. It is sent as a separate request or as a part of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WriteRequest {
    pub(crate) operation: &'static str,
    pub(crate) method: Method,
    /// `true` if a merge is sent as a `POST` with an `X-HTTP-Method` header (REQ-2).
    pub(crate) tunnelled: bool,
    /// The path relative to the endpoint's base URL.
    pub(crate) path: String,
    /// The value of the `If-Match` header. It is `None` for an insert or an upsert, which are sent without the header (UPS-1).
    pub(crate) if_match: Option<String>,
    /// `true` if the response to an insert must not contain the stored entity (INS-3).
    pub(crate) no_content: bool,
    /// The body, or `None` for a delete.
    pub(crate) body: Option<String>,
}

impl WriteRequest {
    pub(crate) fn new(table: &TableName, partition_key: &str, operation: &Operation) -> Result<Self> {
        let row_key = operation.row_key.as_str();
        let entity = || format!("/{}", entity_link(table.as_str(), partition_key, row_key));
        let (method, path) = match &operation.kind {
            OperationKind::Insert(_) => (Method::POST, format!("/{table}")),
            OperationKind::Replace(..) | OperationKind::InsertOrReplace(_) => (Method::PUT, entity()),
            // `PATCH` is equivalent to `MERGE`, which some proxies do not support (MRG-5).
            OperationKind::Merge(..) | OperationKind::InsertOrMerge(_) => (Method::PATCH, entity()),
            OperationKind::Delete(_) => (Method::DELETE, entity()),
            OperationKind::Check(state) => return Err(state.unsupported()),
        };
        let if_match = match &operation.kind {
            OperationKind::Replace(_, condition)
            | OperationKind::Merge(_, condition)
            | OperationKind::Delete(condition) => Some(IfMatch::to_string(condition)),
            _ => None,
        };
        let no_content = matches!(operation.kind, OperationKind::Insert(_));
        // Only an insert has the keys in its body. Every other write has them in the URL (UPD-5).
        let key = no_content.then_some((partition_key, row_key));
        let body = operation.kind.row().map(|row| write_body(key, row.view())).transpose()?;
        let (operation, tunnelled) = (operation.kind.name(), false);
        Ok(Self { operation, method, tunnelled, path, if_match, no_content, body })
    }

    /// Adapts the write to a target.
    ///
    /// Cosmos DB does not support `PATCH`, so a merge is sent as a `POST` with `X-HTTP-Method` (REQ-2), as in the official clients. Azurite corrupts non-ASCII
    /// characters, and ignores an empty body in a batch.
    pub(crate) fn to(self, target: Target) -> Self {
        match target {
            Target::Cosmos if self.method == Method::PATCH => {
                Self { method: Method::POST, tunnelled: true, ..self }
            }
            Target::Emulator => Self { body: self.body.map(ascii::json).map(seen), ..self },
            Target::Service | Target::Cosmos => self,
        }
    }

    /// Converts the write to a separate request.
    pub(crate) fn into_request(self) -> Result<Request> {
        let mut request = Request::new(self.operation, self.method, self.path)
            .acknowledged_by(&[201, 204])
            .fixed("accept", MetadataLevel::Minimal.media_type())
            .fixed("dataserviceversion", "3.0");
        if let Some(condition) = &self.if_match {
            request = request.header("if-match", condition)?;
        }
        if self.tunnelled {
            request = request.fixed("x-http-method", "MERGE");
        }
        if self.no_content {
            request = request.fixed("prefer", "return-no-content");
        }
        Ok(match self.body {
            Some(body) => request.body("application/json", body),
            None => request,
        })
    }
}

/// Replaces an empty JSON object with `{ }` for Azurite. In a batch, Azurite requires a character between the braces.
///
/// Otherwise, Azurite would return 500 for an empty merge. Such a merge changes only an entity's `ETag`.
fn seen(body: String) -> String {
    if body == "{}" { "{ }".to_owned() } else { body }
}

#[cfg(test)]
mod tests {
    use table_core::row::RowWriter;
    use table_core::{ETag, RowKey, ValueRef};

    use super::*;

    fn request(kind: OperationKind) -> WriteRequest {
        let operation = Operation { row_key: RowKey::new("a b+c%").unwrap(), kind };
        WriteRequest::new(&TableName::new("Employee").unwrap(), "O'Neil & co", &operation).unwrap()
    }

    #[test]
    fn ifm_1_ups_1_mrg_5_and_upd_5_the_six_writes() {
        let mut row = RowWriter::new();
        row.property("Age", ValueRef::Int32(1));
        let row = row.finish();
        let etag = ETag::parse("W/\"datetime'2020-10-02T22%3A48%3A03.9197632Z'\"").unwrap();
        let entity = "/Employee(PartitionKey='O%27%27Neil%20%26%20co',RowKey='a%20b%2Bc%25')"; // EX-26
        for (kind, method, if_match) in [
            (OperationKind::Replace(row.clone(), IfMatch::Any), "PUT", Some("*".to_owned())),
            (OperationKind::Replace(row.clone(), (&etag).into()), "PUT", Some(etag.to_string())),
            (OperationKind::InsertOrReplace(row.clone()), "PUT", None),
            (OperationKind::Merge(row.clone(), IfMatch::Any), "PATCH", Some("*".to_owned())),
            (OperationKind::InsertOrMerge(row.clone()), "PATCH", None),
        ] {
            let found = request(kind);
            assert_eq!((found.method.as_str(), found.path.as_str()), (method, entity));
            assert_eq!((found.if_match, found.body.as_deref()), (if_match, Some(r#"{"Age":1}"#)));
            assert!(!found.no_content);
        }
        let delete = request(OperationKind::Delete(IfMatch::Any));
        assert_eq!((delete.method.as_str(), delete.path.as_str(), delete.body), ("DELETE", entity, None));
        assert_eq!(delete.if_match.as_deref(), Some("*")); // DEL-1
        let insert = request(OperationKind::Insert(row));
        assert_eq!((insert.method.as_str(), insert.path.as_str()), ("POST", "/Employee"));
        assert_eq!((insert.if_match, insert.no_content), (None, true)); // INS-6
        let body = r#"{"PartitionKey":"O'Neil & co","RowKey":"a b+c%","Age":1}"#;
        assert_eq!(insert.body.as_deref(), Some(body));
    }

    #[test]
    fn req_2_a_merge_is_tunnelled_only_to_cosmos() {
        let merge = || request(OperationKind::Merge(RowWriter::new().finish(), IfMatch::Any));
        assert_eq!(merge().to(Target::Service), merge());
        let tunnelled = merge().to(Target::Cosmos);
        assert_eq!((tunnelled.method.as_str(), tunnelled.tunnelled), ("POST", true));
        let sent = tunnelled.into_request().unwrap();
        assert_eq!(
            (sent.method.as_str(), sent.headers["x-http-method"].to_str().unwrap()),
            ("POST", "MERGE")
        );
        let insert = || request(OperationKind::Insert(RowWriter::new().finish()));
        assert_eq!(insert().to(Target::Cosmos), insert());
    }

    #[test]
    fn mrg_3_an_empty_merge_is_sent_to_emulators_with_a_space() {
        let merge = request(OperationKind::Merge(RowWriter::new().finish(), IfMatch::Any));
        assert_eq!(merge.body.as_deref(), Some("{}"));
        assert_eq!(merge.clone().to(Target::Service), merge);
        assert_eq!(merge.to(Target::Emulator).body.as_deref(), Some("{ }"));
    }

    #[test]
    fn type_10_an_emulator_is_sent_only_ascii() {
        let mut row = RowWriter::new();
        row.property("Name", ValueRef::String("Zoë 𝄞"));
        let merge = request(OperationKind::Merge(row.finish(), IfMatch::Any));
        assert_eq!(merge.clone().to(Target::Service), merge);
        let sent = merge.to(Target::Emulator).body;
        assert_eq!(sent.as_deref(), Some(r#"{"Name":"Zo\u00eb \ud834\udd1e"}"#));
    }
}
