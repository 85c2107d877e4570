//! The settings of a service as XML, both ways.

use std::fmt::Write;
use std::num::ParseIntError;

use crate::xml::{self, Record, content};

/// Logging, measurements and CORS rules of a service.
///
/// ```
/// use table_wire::{CorsRule, Logging, Metrics, ServiceProperties};
///
/// let logging = Logging { write: true, retention_days: Some(7), ..Logging::default() };
/// let metrics = Metrics { enabled: true, include_apis: true, retention_days: None };
/// let (origins, methods) = ("https://contoso.com".to_owned(), "GET".to_owned());
/// let rule = CorsRule { allowed_origins: origins, allowed_methods: methods, max_age_seconds: 60, ..CorsRule::default() };
/// let properties = ServiceProperties {
///     logging: Some(logging),
///     hour_metrics: Some(metrics),
///     cors: Some(vec![rule]),
///     ..ServiceProperties::default()
/// };
/// assert_eq!(ServiceProperties::read(&properties.to_xml()), Some(properties));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceProperties {
    /// Which requests are logged; `None` if the service does not say, or shall stay as it is.
    pub logging: Option<Logging>,
    /// The measurements of each hour.
    pub hour_metrics: Option<Metrics>,
    /// The measurements of each minute.
    pub minute_metrics: Option<Metrics>,
    /// Which pages may ask from a browser; `None` leaves the rules as they are, an empty list removes them.
    pub cors: Option<Vec<CorsRule>>,
}

/// Which requests are logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logging {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Deletes.
    pub delete: bool,
    /// After how many days logs are deleted; `None` keeps them.
    pub retention_days: Option<u32>,
}

/// The measurements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Whether anything is.
    pub enabled: bool,
    /// Whether for each operation apart.
    pub include_apis: bool,
    /// After how many days figures are deleted; `None` keeps them.
    pub retention_days: Option<u32>,
}

/// One rule of cross-origin requests; lists are of one line, with commas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsRule {
    /// Whose pages, such as `https://contoso.com` or `*`.
    pub allowed_origins: String,
    /// Which methods, such as `GET,PUT`.
    pub allowed_methods: String,
    /// Which headers a request may have.
    pub allowed_headers: String,
    /// Which headers of an answer a page may see.
    pub exposed_headers: String,
    /// How long a browser may remember, in seconds.
    pub max_age_seconds: u32,
}

impl ServiceProperties {
    /// Reads them; `None` for another document, or for a text where a number or a truth value belongs.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        xml::read(text, "StorageServiceProperties")?.pop()?;
        let logging = all(text, "Logging", read_logging)?.pop();
        let hour_metrics = all(text, "HourMetrics", read_metrics)?.pop();
        let minute_metrics = all(text, "MinuteMetrics", read_metrics)?.pop();
        Some(Self { logging, hour_metrics, minute_metrics, cors: Some(all(text, "CorsRule", read_rule)?) })
    }

    /// The body of a request or an answer.
    #[must_use]
    pub fn to_xml(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceProperties>");
        if let Some(Logging { read, write, delete, retention_days }) = self.logging {
            // Writing to a `String` cannot fail.
            let _ = write!(
                xml,
                "<Logging><Version>1.0</Version><Delete>{delete}</Delete><Read>{read}</Read><Write>{write}</Write>{}</Logging>",
                retention(retention_days),
            );
        }
        for (name, metrics) in [("HourMetrics", &self.hour_metrics), ("MinuteMetrics", &self.minute_metrics)]
        {
            let Some(Metrics { enabled, include_apis, retention_days }) = metrics else { continue };
            let _ = write!(xml, "<{name}><Version>1.0</Version><Enabled>{enabled}</Enabled>");
            if *enabled {
                let _ = write!(xml, "<IncludeAPIs>{include_apis}</IncludeAPIs>");
            }
            let _ = write!(xml, "{}</{name}>", retention(*retention_days));
        }
        if let Some(rules) = &self.cors {
            xml.push_str("<Cors>");
            for rule in rules {
                let _ = write!(
                    xml,
                    "<CorsRule><AllowedOrigins>{}</AllowedOrigins><AllowedMethods>{}</AllowedMethods>\
                     <MaxAgeInSeconds>{}</MaxAgeInSeconds><ExposedHeaders>{}</ExposedHeaders>\
                     <AllowedHeaders>{}</AllowedHeaders></CorsRule>",
                    content(&rule.allowed_origins),
                    content(&rule.allowed_methods),
                    rule.max_age_seconds,
                    content(&rule.exposed_headers),
                    content(&rule.allowed_headers),
                );
            }
            xml.push_str("</Cors>");
        }
        xml.push_str("</StorageServiceProperties>");
        xml
    }
}

fn retention(days: Option<u32>) -> String {
    let inner = days.map_or_else(
        || "<Enabled>false</Enabled>".to_owned(),
        |days| format!("<Enabled>true</Enabled><Days>{days}</Days>"),
    );
    format!("<RetentionPolicy>{inner}</RetentionPolicy>")
}

/// All records of a name; `None` if one of them cannot be read.
fn all<T>(text: &str, name: &str, read: fn(&Record) -> Option<T>) -> Option<Vec<T>> {
    xml::read(text, name)?.iter().map(read).collect()
}

fn truth(record: &Record, name: &str) -> Option<bool> {
    record.get(name).map_or(Some(false), |text| text.trim().parse().ok())
}

/// Days stand there only where the policy is in force.
fn days(record: &Record) -> Result<Option<u32>, ParseIntError> {
    record.get("Days").map(|text| text.trim().parse()).transpose()
}

fn read_logging(record: &Record) -> Option<Logging> {
    let truth = |name| truth(record, name);
    let retention_days = days(record).ok()?;
    Some(Logging { read: truth("Read")?, write: truth("Write")?, delete: truth("Delete")?, retention_days })
}

fn read_metrics(record: &Record) -> Option<Metrics> {
    // The policy has an `Enabled` too; the first one is that of the metrics.
    let (enabled, include_apis) = (truth(record, "Enabled")?, truth(record, "IncludeAPIs")?);
    Some(Metrics { enabled, include_apis, retention_days: days(record).ok()? })
}

fn read_rule(record: &Record) -> Option<CorsRule> {
    let text = |name: &str| record.get(name).cloned().unwrap_or_default();
    Some(CorsRule {
        allowed_origins: text("AllowedOrigins"),
        allowed_methods: text("AllowedMethods"),
        allowed_headers: text("AllowedHeaders"),
        exposed_headers: text("ExposedHeaders"),
        max_age_seconds: text("MaxAgeInSeconds").trim().parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn metrics()(enabled: bool, include: bool, retention_days: Option<u32>) -> Metrics {
            Metrics { enabled, include_apis: enabled && include, retention_days }
        }
    }

    prop_compose! {
        fn rule()(
            allowed_origins in "[a-z*:/.,&<]{0,9}",
            allowed_methods in "[A-Z,]{0,9}",
            allowed_headers in "[a-z*-]{0,9}",
            exposed_headers in "[a-z*-]{0,9}",
            max_age_seconds: u32,
        ) -> CorsRule {
            CorsRule { allowed_origins, allowed_methods, allowed_headers, exposed_headers, max_age_seconds }
        }
    }

    proptest! {
        #[test]
        fn settings_come_back_as_they_were_written(
            (read_, write, delete, retention_days) in any::<(bool, bool, bool, Option<u32>)>(),
            (hour, minute) in (metrics(), prop::option::of(metrics())),
            rules in prop::collection::vec(rule(), 0..4),
        ) {
            let properties = ServiceProperties {
                logging: Some(Logging { read: read_, write, delete, retention_days }),
                hour_metrics: Some(hour),
                minute_metrics: minute,
                cors: Some(rules),
            };
            prop_assert_eq!(ServiceProperties::read(&properties.to_xml()), Some(properties));
        }
    }

    #[test]
    fn what_is_none_is_none() {
        for text in [
            "",
            "<html/>",
            "<StorageServiceProperties><Logging><Read>maybe</Read></Logging></StorageServiceProperties>",
        ] {
            assert_eq!(ServiceProperties::read(text), None, "{text}");
        }
    }
}
