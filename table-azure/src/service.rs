//! Service settings and statistics (REQ-1).

use chrono::{DateTime, Utc};
use reqwest::Method;
use table_core::{Error, ErrorCode, Result};
use table_wire::ServiceProperties;

use crate::auth::parse_http_date;
use crate::client::AzureTables;
use crate::http::Request;
use crate::target::Target;
use crate::xml::Element;

/// The replication state of an account's secondary (CON-2).
///
/// ```
/// use table_azure::ServiceStats;
///
/// /// Returns `true` if the secondary has every write that was acknowledged before `at`.
/// fn has_come(stats: &ServiceStats, at: chrono::DateTime<chrono::Utc>) -> bool {
///     stats.last_sync_time.is_some_and(|last| last >= at)
/// }
/// let stats = ServiceStats { status: "bootstrap".to_owned(), last_sync_time: None };
/// assert!(!has_come(&stats, chrono::DateTime::UNIX_EPOCH));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceStats {
    /// The replication status: `live`, `bootstrap` or `unavailable`.
    pub status: String,
    /// All writes acknowledged before this time have been replicated to the secondary. `None` if the secondary cannot be read.
    pub last_sync_time: Option<DateTime<Utc>>,
}

impl AzureTables {
    /// Returns the replication state of the secondary. The request is sent to the secondary itself.
    ///
    /// # Errors
    /// - `Unsupported` for Cosmos DB (COS-7).
    /// - `InvalidInput` if no secondary endpoint is configured and none can be derived.
    /// - An authorization error if the account has no readable secondary.
    ///
    /// ```no_run
    /// # async fn run() -> table_core::Result<()> {
    /// let tables = table_azure::AzureTables::from_connection_string("UseDevelopmentStorage=true")?;
    /// println!("all writes before {:?} are on both sides", tables.service_stats().await?.last_sync_time);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn service_stats(&self) -> Result<ServiceStats> {
        const OPERATION: &str = "get service stats";
        if self.target() == Target::Cosmos {
            let message = "Cosmos DB has no service stats; see its metrics";
            return Err(Error::new(ErrorCode::Unsupported, message).with_rule("COS-7"));
        }
        let pipeline = self.pipeline().at(self.secondary()?)?;
        self.run(|_| async move {
            let request = of_service(OPERATION, Method::GET, "stats");
            let answer = pipeline.send(&request).await.map_err(|failure| failure.into_error(true))?;
            let text = std::str::from_utf8(&answer.body).ok();
            let stats = text.and_then(Element::read);
            let stats = stats.as_ref().and_then(|stats| stats.child("GeoReplication"));
            let stats = stats.ok_or_else(|| malformed(OPERATION))?;
            let text = |name: &str| stats.text_of(name).unwrap_or_default();
            let last_sync_time = parse_http_date(text("LastSyncTime"));
            Ok(ServiceStats { status: text("Status").to_owned(), last_sync_time })
        })
        .await
    }

    /// Returns the service properties: the logging, metrics and CORS settings.
    ///
    /// # Errors
    /// Any error from the service. `InternalError` if the response is invalid.
    pub async fn service_properties(&self) -> Result<ServiceProperties> {
        const OPERATION: &str = "get service properties";
        self.run(|client| async move {
            let request = of_service(OPERATION, Method::GET, "properties");
            let answer =
                client.pipeline().send(&request).await.map_err(|failure| failure.into_error(true))?;
            let properties = std::str::from_utf8(&answer.body).ok().and_then(ServiceProperties::read);
            properties.ok_or_else(|| malformed(OPERATION))
        })
        .await
    }

    /// Replaces the service properties.
    ///
    /// # Errors
    /// Any error from the service, for example if `properties` has more than five CORS rules.
    pub async fn set_service_properties(&self, properties: &ServiceProperties) -> Result<()> {
        let request = of_service("set service properties", Method::PUT, "properties")
            .acknowledged_by(&[202])
            .body("application/xml", properties.to_xml());
        self.run(|client| async move {
            let sent = client.pipeline().send(&request).await;
            sent.map(|_| ()).map_err(|failure| failure.into_error(false))
        })
        .await
    }
}

fn of_service(operation: &'static str, method: Method, component: &str) -> Request {
    Request::new(operation, method, "/")
        .fixed("accept", "application/xml")
        .query("restype", "service")
        .query("comp", component)
}

fn malformed(operation: &str) -> Error {
    Error::new(ErrorCode::InternalError, format!("{operation}: invalid response"))
}
