//! XML bodies of service properties: logging, metrics and CORS rules.

mod check;

use std::fmt::Write;

use crate::xml::{Element, content};

pub use check::PropertiesFault;

/// The properties of a service: logging, metrics and CORS rules.
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
    /// The settings for logging. In a request, a field that is `None` leaves the current settings unchanged. This applies to all fields of this struct.
    pub logging: Option<Logging>,
    /// The hourly metrics settings.
    pub hour_metrics: Option<Metrics>,
    /// The minute metrics settings.
    pub minute_metrics: Option<Metrics>,
    /// The CORS rules. An empty list removes all rules.
    pub cors: Option<Vec<CorsRule>>,
}

/// Settings for request logging.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logging {
    /// `true` if reads are logged.
    pub read: bool,
    /// `true` if writes are logged.
    pub write: bool,
    /// `true` if deletes are logged.
    pub delete: bool,
    /// The number of days after which logs are deleted, or `None` to keep them indefinitely.
    pub retention_days: Option<u32>,
}

/// Settings for service metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// `true` if metrics are collected.
    pub enabled: bool,
    /// `true` if metrics are also collected for each API operation.
    pub include_apis: bool,
    /// The number of days after which metrics are deleted, or `None` to keep them indefinitely.
    pub retention_days: Option<u32>,
}

/// A CORS rule. Lists are comma-separated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsRule {
    /// The allowed origins, such as `https://contoso.com` or `*`.
    pub allowed_origins: String,
    /// The allowed methods, such as `GET,PUT`.
    pub allowed_methods: String,
    /// The allowed request headers.
    pub allowed_headers: String,
    /// The response headers readable by scripts.
    pub exposed_headers: String,
    /// The number of seconds for which a browser may cache a preflight response.
    pub max_age_seconds: u32,
}

impl ServiceProperties {
    /// Reads properties from a service's response. Unknown elements are ignored.
    ///
    /// Returns `None` if the document does not contain service properties, or if it contains an invalid number or Boolean.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        Self::of(&root(text)?)
    }

    /// Reads the properties in a request, and validates them according to the service's rules. Missing elements become `None`.
    ///
    /// # Errors
    /// The first violation found, with the error code used by the service.
    ///
    /// ```
    /// use table_wire::{PropertiesFault, ServiceProperties};
    ///
    /// let request = |inner: &str| {
    ///     ServiceProperties::read_request(&format!("<StorageServiceProperties>{inner}</StorageServiceProperties>"))
    /// };
    /// assert_eq!(request("<Cors/>").unwrap().cors, Some(Vec::new()));
    /// assert_eq!(request("").unwrap().cors, None);
    /// let refused: PropertiesFault = request("<HourMetrics><Version>9.9</Version></HourMetrics>").unwrap_err();
    /// assert_eq!(refused.code(), "InvalidXmlDocument");
    /// ```
    pub fn read_request(text: &str) -> Result<Self, PropertiesFault> {
        let root = root(text).ok_or(PropertiesFault::Document)?;
        check::check(&root)?;
        Self::of(&root).ok_or(PropertiesFault::Document)
    }

    fn of(root: &Element) -> Option<Self> {
        let cors: Option<Option<Vec<_>>> =
            root.child("Cors").map(|cors| cors.each("CorsRule").map(read_rule).collect());
        Some(Self {
            logging: optional(root.child("Logging"), read_logging)?,
            hour_metrics: optional(root.child("HourMetrics"), read_metrics)?,
            minute_metrics: optional(root.child("MinuteMetrics"), read_metrics)?,
            cors: match cors {
                Some(rules) => Some(rules?),
                None => None,
            },
        })
    }

    /// Fills in defaults for missing elements. Every element is then present, as in a service's response.
    #[must_use]
    pub fn complete(self) -> Self {
        Self {
            logging: Some(self.logging.unwrap_or_default()),
            hour_metrics: Some(self.hour_metrics.unwrap_or_default()),
            minute_metrics: Some(self.minute_metrics.unwrap_or_default()),
            cors: Some(self.cors.unwrap_or_default()),
        }
    }

    /// Serializes the properties as a request or response body.
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

/// Parses a service properties document and returns its root element.
fn root(text: &str) -> Option<Element> {
    Element::of_request(text).filter(|root| root.name() == "StorageServiceProperties")
}

/// Reads an optional element. Returns `Some(None)` if the element is missing, and `None` if it is invalid.
#[expect(clippy::option_option, reason = "a missing element is valid")]
fn optional<T>(element: Option<&Element>, read: fn(&Element) -> Option<T>) -> Option<Option<T>> {
    match element {
        Some(element) => read(element).map(Some),
        None => Some(None),
    }
}

/// Reads a Boolean child element. Returns `Some(false)` if the element is missing, and `None` if its value is invalid.
fn flag(element: &Element, name: &str) -> Option<bool> {
    element.text_of(name).map_or(Some(false), boolean)
}

fn boolean(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Returns the number of days in the retention policy. Returns `Some(None)` if the policy is missing or disabled, and `None` if it is invalid.
#[expect(clippy::option_option, reason = "a disabled policy is valid")]
fn days(element: &Element) -> Option<Option<u32>> {
    let Some(policy) = element.child("RetentionPolicy") else { return Some(None) };
    if !flag(policy, "Enabled")? {
        return Some(None);
    }
    policy.text_of("Days")?.trim().parse().ok().map(Some)
}

fn read_logging(element: &Element) -> Option<Logging> {
    let flag = |name| flag(element, name);
    Some(Logging {
        read: flag("Read")?,
        write: flag("Write")?,
        delete: flag("Delete")?,
        retention_days: days(element)?,
    })
}

fn read_metrics(element: &Element) -> Option<Metrics> {
    let enabled = flag(element, "Enabled")?;
    let include_apis = enabled && flag(element, "IncludeAPIs")?;
    Some(Metrics { enabled, include_apis, retention_days: days(element)? })
}

fn read_rule(rule: &Element) -> Option<CorsRule> {
    let text = |name: &str| rule.text_of(name).unwrap_or_default().to_owned();
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
        fn metrics()(enabled: bool, include: bool, retention_days in prop::option::of(1..=365_u32)) -> Metrics {
            Metrics { enabled, include_apis: enabled && include, retention_days }
        }
    }

    prop_compose! {
        fn rule()(
            allowed_origins in "[a-z*:/.&<]{1,9}",
            allowed_methods in "(GET|PUT|POST)(,(HEAD|MERGE|DELETE))?",
            allowed_headers in "[a-z*-]{0,9}",
            exposed_headers in "[a-z*-]{0,9}",
            max_age_seconds in 0..=i32::MAX.cast_unsigned(),
        ) -> CorsRule {
            CorsRule { allowed_origins, allowed_methods, allowed_headers, exposed_headers, max_age_seconds }
        }
    }

    proptest! {
        #[test]
        fn written_properties_are_read_back(
            (read_, write, delete) in any::<(bool, bool, bool)>(),
            retention_days in prop::option::of(1..=365_u32),
            (hour, minute) in (metrics(), prop::option::of(metrics())),
            rules in prop::collection::vec(rule(), 0..4),
        ) {
            let properties = ServiceProperties {
                logging: Some(Logging { read: read_, write, delete, retention_days }),
                hour_metrics: Some(hour),
                minute_metrics: minute,
                cors: Some(rules),
            };
            let xml = properties.to_xml();
            prop_assert_eq!(ServiceProperties::read_request(&xml), Ok(properties.clone()));
            prop_assert_eq!(ServiceProperties::read(&xml), Some(properties));
        }
    }

    /// Tests that a new account's properties have every element, because the Azure SDK for Python reads all of them.
    #[test]
    fn complete_properties_have_every_element() {
        let xml = ServiceProperties::default().complete().to_xml();
        for element in
            ["<Logging><Version>1.0<", "<HourMetrics><Version>1.0<", "<MinuteMetrics>", "<Cors></Cors>"]
        {
            assert!(xml.contains(element), "{xml}");
        }
    }

    #[test]
    fn other_documents_are_refused() {
        for text in [
            "",
            "<html/>",
            "<StorageServiceProperties><Logging><Read>maybe</Read></Logging></StorageServiceProperties>",
        ] {
            assert_eq!(ServiceProperties::read(text), None, "{text}");
        }
    }
}
