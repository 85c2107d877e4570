//! A web API over a table, as an example. It handles page cursors, versions, repeated requests and ambiguous outcomes.

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use table_patterns::{Continuation, ETag, Engine, Entity, Error, IfMatch, Table, TableStoreExt, Versioned};

#[derive(Entity, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[entity(table = "Orders")]
#[partition_key(customer)]
#[row_key(number)]
struct Order {
    customer: String,
    #[digits(8)]
    number: u32,
    total_cents: i64,
}

/// The body of a request. The keys of the order are in the path of the request.
#[derive(Deserialize)]
struct Body {
    total_cents: i64,
}

#[derive(Deserialize)]
struct Cursor {
    after: Option<String>,
}

#[derive(Serialize)]
struct Listing {
    orders: Vec<Versioned<Order>>,
    /// The cursor for the next page. It is absent on the last page.
    next: Option<String>,
}

type Orders = Table<Order, Engine>;

/// An error from the store, which is converted to an HTTP response.
struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let error = self.0;
        let status = if error.is_ambiguous() || error.is_throttled() {
            StatusCode::SERVICE_UNAVAILABLE // the client repeats the same request
        } else if error.is_not_found() {
            StatusCode::NOT_FOUND
        } else if error.is_precondition_failed() {
            StatusCode::PRECONDITION_FAILED
        } else if error.is_already_exists() {
            StatusCode::CONFLICT
        } else if error.is_invalid_input() {
            StatusCode::BAD_REQUEST
        } else {
            StatusCode::INTERNAL_SERVER_ERROR
        };
        (status, error.code().as_str().to_owned()).into_response() // the text may name keys, and is not sent
    }
}

/// Returns an `ETag` header that contains an ETag from the store.
fn etag(etag: &ETag) -> [(header::HeaderName, String); 1] {
    [(header::ETAG, etag.to_string())]
}

/// Returns a page of 50 orders (`GET /customers/ada/orders?after=…`).
async fn list(
    State(orders): State<Orders>,
    Path(customer): Path<String>,
    Query(cursor): Query<Cursor>,
) -> Result<Json<Listing>, Failure> {
    let query = orders.query(Order::partition(&customer)).page_size(50);
    let page = match cursor.after {
        None => query.page().await?,
        Some(after) => query.page_from(&after.parse::<Continuation>()?).await?,
    };
    let next = page.continuation.map(|next| next.to_string());
    Ok(Json(Listing { orders: page.items, next }))
}

/// Returns one order with its ETag (`GET /customers/ada/orders/42`).
async fn read(
    State(orders): State<Orders>,
    Path((customer, number)): Path<(String, u32)>,
) -> Result<Response, Failure> {
    match orders.get(Order::key(&customer, number)).await? {
        None => Ok(StatusCode::NOT_FOUND.into_response()),
        Some(found) => Ok((etag(found.etag()), Json(found)).into_response()),
    }
}

/// Creates an order, or changes it if `If-Match` is given (`PUT /customers/ada/orders/42`). Idempotent.
async fn write(
    State(orders): State<Orders>,
    Path((customer, number)): Path<(String, u32)>,
    headers: HeaderMap,
    Json(body): Json<Body>,
) -> Result<Response, Failure> {
    let order = Order { customer, number, total_cents: body.total_cents };
    let mut conditions = headers.get_all(header::IF_MATCH).iter();
    let condition = conditions.next();
    let outcome = match condition {
        None => orders.insert(&order).await,
        Some(_) if conditions.next().is_some() => return Ok(StatusCode::BAD_REQUEST.into_response()),
        Some(version) => {
            // A condition that is not valid UTF-8 matches no version. It is never ignored.
            let version = IfMatch::parse(&String::from_utf8_lossy(version.as_bytes()))?;
            orders.replace(&order, version).await
        }
    };
    match outcome {
        Ok(version) if condition.is_none() => Ok((StatusCode::CREATED, etag(&version)).into_response()),
        Ok(version) => Ok((StatusCode::NO_CONTENT, etag(&version)).into_response()),
        // If the response to a request was lost, its retry finds the order as the first attempt wrote it.
        Err(error) if error.is_already_exists() || error.is_precondition_failed() => {
            match orders.get(Order::key(&order.customer, number)).await? {
                Some(found) if *found.value() == order => {
                    Ok((StatusCode::OK, etag(found.etag())).into_response())
                }
                _ => Err(error.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn app(orders: Orders) -> Router {
    Router::new()
        .route("/customers/{customer}/orders", get(list))
        .route("/customers/{customer}/orders/{number}", get(read).put(write))
        .with_state(orders)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let orders = Engine::in_memory().table::<Order>().create_if_missing().await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app(orders)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::body::Body as Bytes;
    use axum::http::{HeaderValue, Request};
    use tower::ServiceExt;

    use super::*;

    async fn send(app: &Router, request: Request<Bytes>) -> (StatusCode, HeaderMap, String) {
        let response = app.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (head.status, head.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    fn get(path: &str) -> Request<Bytes> {
        Request::get(path).body(Bytes::empty()).unwrap()
    }

    fn put(number: u32, cents: i64, version: Option<&str>) -> Request<Bytes> {
        let mut request = Request::put(format!("/customers/ada/orders/{number}"))
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(version) = version {
            request = request.header(header::IF_MATCH, version);
        }
        request.body(Bytes::from(format!(r#"{{"total_cents":{cents}}}"#))).unwrap()
    }

    #[tokio::test]
    async fn an_order_is_created_changed_and_listed() {
        let orders = Engine::in_memory().table::<Order>().create_if_missing().await.unwrap();
        let app = app(orders);

        let (status, headers, _) = send(&app, put(1, 500, None)).await;
        assert_eq!(status, StatusCode::CREATED);
        let first = headers[header::ETAG].to_str().unwrap().to_owned();
        assert_eq!(send(&app, put(1, 500, None)).await.0, StatusCode::OK); // repeated
        assert_eq!(send(&app, put(1, 700, None)).await.0, StatusCode::CONFLICT);

        assert_eq!(send(&app, put(1, 600, Some(&first))).await.0, StatusCode::NO_CONTENT);
        assert_eq!(send(&app, put(1, 600, Some(&first))).await.0, StatusCode::OK); // repeated
        let late = send(&app, put(1, 900, Some(&first))).await;
        assert_eq!(late.0, StatusCode::PRECONDITION_FAILED);
        assert_eq!(send(&app, put(1, 601, Some("*"))).await.0, StatusCode::NO_CONTENT);

        for number in 2..=120 {
            assert_eq!(send(&app, put(number, 1, None)).await.0, StatusCode::CREATED);
        }
        let (mut path, mut seen) = ("/customers/ada/orders".to_owned(), 0);
        loop {
            let (status, _, body) = send(&app, get(&path)).await;
            assert_eq!(status, StatusCode::OK, "{body}");
            let page: serde_json::Value = serde_json::from_str(&body).unwrap();
            seen += page["orders"].as_array().unwrap().len();
            let Some(next) = page["next"].as_str() else { break };
            path = format!("/customers/ada/orders?after={next}");
        }
        assert_eq!(seen, 120);
    }

    #[tokio::test]
    async fn a_change_under_any_condition_creates_no_order() {
        let orders = Engine::in_memory().table::<Order>().create_if_missing().await.unwrap();
        let app = app(orders);
        let mut twice = put(1, 1, Some("*"));
        twice.headers_mut().append(header::IF_MATCH, "*".parse().unwrap());
        let mut latin = put(1, 1, None);
        latin.headers_mut().insert(header::IF_MATCH, HeaderValue::from_bytes(b"W/\"\xE9\"").unwrap());
        for (request, status) in [
            (put(1, 1, Some("*")), StatusCode::NOT_FOUND),
            (put(1, 1, Some("x")), StatusCode::BAD_REQUEST),
            (twice, StatusCode::BAD_REQUEST),
            (latin, StatusCode::NOT_FOUND),
        ] {
            assert_eq!(send(&app, request).await.0, status);
        }
        assert_eq!(send(&app, get("/customers/ada/orders/1")).await.0, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn a_cursor_of_another_customer_is_refused() {
        let orders = Engine::in_memory().table::<Order>().create_if_missing().await.unwrap();
        let app = app(orders);
        for number in 1..=60 {
            send(&app, put(number, 1, None)).await;
        }
        let (_, _, body) = send(&app, get("/customers/ada/orders")).await;
        let page: serde_json::Value = serde_json::from_str(&body).unwrap();
        let path = format!("/customers/bob/orders?after={}", page["next"].as_str().unwrap());
        assert_eq!(send(&app, get(&path)).await.0, StatusCode::BAD_REQUEST);
    }
}
