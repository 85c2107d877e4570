//! A fuzz target for complete HTTP requests. A server in the same process answers them without a connection.

use std::time::Duration;

use bytes::Bytes;
use chrono::Utc;
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use pollster::block_on;
use table_core::{Engine, TableName};
use table_server::Account;
use table_server::testing::{Port, answer};
use table_wire::auth::{AccountKey, Scheme, SignedParts, print_http_date};
use table_wire::sas::{TablePermissions, TableSas};

/// The account key, in base64 and in decoded form. No response may contain either.
const SECRETS: [&str; 2] = ["dW5zcGVha2FibGU", "unspeakable"];

fn key() -> AccountKey {
    AccountKey::new("contoso", "dW5zcGVha2FibGU=").unwrap_or_else(|error| panic!("{error}"))
}

/// Creates an account that contains a table, an entity, a queue and a message.
///
/// # Panics
/// Panics if the engine refuses to create them.
#[must_use]
pub fn account() -> Account {
    let account = Account::new(key(), Engine::in_memory());
    for sample in [
        "T+ POST /contoso/Tables\ncontent-type: application/json\n\n{\"TableName\":\"Employee\"}",
        "T+ POST /contoso/Employee\ncontent-type: application/json\n\n{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\",\"Age\":34}",
        "Q+ PUT /contoso/work\n\n",
        "Q+ POST /contoso/work/messages\n\n<QueueMessage><MessageText>archive</MessageText></QueueMessage>",
    ] {
        let status = ask(&account, sample.as_bytes()).map(|response| response.status().as_u16());
        assert!(status.is_some_and(|status| status < 300), "{sample}: {status:?}");
    }
    account
}

/// Sends the request described by `bytes` to an account. Returns `None` if `bytes` does not describe a request.
///
/// The first line consists of the service, the method and the target. The service is `T` for tables or `Q` for queues. It is followed by `+` if the account key
/// signs the request. The headers follow, one per line, then an empty line and the body.
#[must_use]
pub fn ask(account: &Account, bytes: &[u8]) -> Option<Response<Bytes>> {
    let end = bytes.windows(2).position(|two| two == b"\n\n")?;
    let (head, body) = (bytes.get(..end)?, bytes.get(end + 2..)?);
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut words = lines.next()?.splitn(3, |byte| *byte == b' ');
    let port = words.next()?;
    let mut request = Request::new(Bytes::copy_from_slice(body));
    *request.method_mut() = Method::from_bytes(words.next()?).ok()?;
    *request.uri_mut() = Uri::try_from(words.next()?).ok()?;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(line.get(..colon)?).ok()?;
        let value = HeaderValue::from_bytes(line.get(colon + 1..)?.trim_ascii()).ok()?;
        request.headers_mut().append(name, value);
    }
    // An HTTP/1.1 request without a `Host` header is rejected immediately.
    request.headers_mut().entry(http::header::HOST).or_insert(HeaderValue::from_static("127.0.0.1"));
    let (port, scheme) = if port.first() == Some(&b'Q') {
        (Port::Queues, Scheme::Storage)
    } else {
        (Port::Tables, Scheme::Table)
    };
    if bytes.get(1) == Some(&b'+') {
        let date = HeaderValue::try_from(print_http_date(Utc::now())).ok()?;
        request.headers_mut().insert("x-ms-date", date);
        let parts = SignedParts {
            method: request.method().as_str(),
            path: request.uri().path(),
            query: request.uri().query().unwrap_or_default(),
            headers: request.headers(),
            length: request.body().len(),
        };
        let signed = HeaderValue::try_from(scheme.authorization(&key(), parts)).ok()?;
        request.headers_mut().insert("authorization", signed);
    }
    Some(block_on(answer(std::slice::from_ref(account), port, request)))
}

/// Checks the guarantees that apply to every response. Returns `true` if the response reports a success.
///
/// # Panics
/// Panics if a guarantee is violated.
pub fn judge(response: &Response<Bytes>) -> bool {
    let status = response.status().as_u16();
    let named = response.headers().contains_key("x-ms-error-code");
    assert!((200..600).contains(&status), "{status}");
    assert!(status != 500, "an internal error: {:?}", response.body());
    assert!(status < 400 || named, "{status} without a code");
    assert!(response.headers().contains_key("x-ms-request-id"), "an answer without an identifier");
    let text = format!("{:?} {}", response.headers(), String::from_utf8_lossy(response.body()));
    assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "a secret is in {text}");
    status < 400
}

/// Sends a request to a new account. The result therefore does not depend on earlier inputs.
pub(super) fn request(bytes: &[u8]) -> bool {
    ask(&account(), bytes).as_ref().is_some_and(judge)
}

/// Returns sample requests of every kind. All of them succeed.
///
/// # Panics
/// Panics if a signature cannot be created.
#[must_use]
pub fn samples() -> Vec<Vec<u8>> {
    let table = TableName::new("Employee").unwrap_or_else(|error| panic!("{error}"));
    let sas = TableSas::table(table).allow(TablePermissions::READ);
    let sas = sas.valid_for(Utc::now(), Duration::from_secs(24 * 60 * 60)).sign(&key());
    let sas = sas.unwrap_or_else(|error| panic!("{error}")).query_string();
    let batch = "T+ POST /contoso/$batch\ncontent-type: multipart/mixed; boundary=batch_7\n\n\
        --batch_7\r\nContent-Type: multipart/mixed; boundary=changeset_7\r\n\r\n\
        --changeset_7\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
        POST http://localhost/contoso/Employee HTTP/1.1\r\nContent-Type: application/json\r\n\r\n\
        {\"PartitionKey\":\"Sales\",\"RowKey\":\"3\"}\r\n--changeset_7--\r\n--batch_7--\r\n";
    let mut samples: Vec<String> = [
        "T+ GET /contoso/Tables?$filter=TableName%20ge%20'A'&$top=3\naccept: application/json;odata=fullmetadata\n\n",
        "T+ POST /contoso/Tables\nprefer: return-no-content\n\n{\"TableName\":\"Orders\"}",
        "T+ DELETE /contoso/Tables('Employee')\n\n",
        "T+ GET /contoso/Employee(PartitionKey='Sales',RowKey='1')?$select=Age\n\n",
        "T+ GET /contoso/Employee()?$filter=Age%20gt%2030%20and%20not%20(Name%20eq%20'O''Neil')&$select=Age,Name&$top=5\n\n",
        "T+ GET /contoso/Employee()?$filter=PartitionKey%20eq%20'Sales'%20and%20RowKey%20ge%20'0'\naccept: */*\n\n",
        "T+ POST /contoso/Employee\nprefer: return-content\n\n{\"PartitionKey\":\"Sales\",\"RowKey\":\"2\",\"Id@odata.type\":\"Edm.Int64\",\"Id\":\"5\"}",
        "T+ PUT /contoso/Employee(PartitionKey='Sales',RowKey='1')\n\n{\"Age\":35}",
        "T+ POST /contoso/Employee(PartitionKey='Sales',RowKey='1')\nx-http-method: MERGE\nif-match: *\n\n{\"Age\":35}",
        "T+ DELETE /contoso/Employee(PartitionKey='Sales',RowKey='1')\nif-match: *\n\n",
        batch,
        "T+ PUT /contoso/Employee?comp=acl\n\n<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>",
        "T+ GET /contoso/Employee?comp=acl\n\n",
        "T+ GET /contoso/?restype=service&comp=properties\n\n",
        "T+ PUT /contoso/?restype=service&comp=properties\n\n<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read><Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging></StorageServiceProperties>",
        "Q+ PUT /contoso/orders\n\n",
        "Q+ POST /contoso/work/messages?visibilitytimeout=5&messagettl=-1\n\n<QueueMessage><MessageText>&lt;a&gt;</MessageText></QueueMessage>",
        "Q+ GET /contoso/work/messages?numofmessages=2&visibilitytimeout=30\n\n",
        "Q+ GET /contoso/work/messages?peekonly=true\n\n",
        "Q+ DELETE /contoso/work/messages\n\n",
        "Q+ GET /contoso/work?comp=metadata\n\n",
    ]
    .map(str::to_owned)
    .into();
    samples.push(format!("T- GET /contoso/Employee(PartitionKey='Sales',RowKey='1')?{sas}\n\n"));
    samples.into_iter().map(String::into_bytes).collect()
}
