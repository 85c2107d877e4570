//! Validation of the service properties in a request. It follows the service's rules.

use crate::xml::Element;

use super::boolean;

/// The maximum number of CORS rules per service.
const RULES: usize = 5;
/// The maximum total size of all CORS rules, in bytes, without the element names.
const RULE_BYTES: usize = 2 << 10;
/// The maximum number of origins, and of headers per header list, in a CORS rule.
const ITEMS: usize = 64;
/// The maximum length of an origin or a header in bytes.
const ITEM: usize = 256;
/// The longest retention period in days.
const DAYS: u32 = 365;
/// The HTTP methods allowed in a CORS rule.
const METHODS: [&str; 8] = ["DELETE", "GET", "HEAD", "MERGE", "OPTIONS", "PATCH", "POST", "PUT"];
const RULE: [&str; 5] =
    ["AllowedOrigins", "AllowedMethods", "MaxAgeInSeconds", "ExposedHeaders", "AllowedHeaders"];

/// An error in the service properties of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PropertiesFault {
    /// The body is not a document of service properties.
    #[error("the body is not a `StorageServiceProperties` document")]
    Document,
    /// An element is unknown or appears twice.
    #[error("`{0}` is unknown here, or occurs twice")]
    Unexpected(String),
    /// A required element is missing.
    #[error("`{inside}` needs `{missing}`")]
    Missing {
        /// The name of the incomplete element.
        inside: String,
        /// The missing child element.
        missing: &'static str,
    },
    /// An element has an invalid value.
    #[error("`{name}` must be {expected}")]
    Value {
        /// The name of the element with the invalid value.
        name: &'static str,
        /// A human-readable description of the valid values.
        expected: &'static str,
    },
    /// The CORS rules exceed the limits of the service.
    #[error("a service has at most {RULES} CORS rules, of {RULE_BYTES} bytes together")]
    Rules,
}

impl PropertiesFault {
    /// Returns the service's code for this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Value { .. } => "InvalidXmlNodeValue",
            _ => "InvalidXmlDocument",
        }
    }
}

type Checked = Result<(), PropertiesFault>;

pub(super) fn check(root: &Element) -> Checked {
    only(root, &["Logging", "HourMetrics", "MinuteMetrics", "Metrics", "Cors", "DefaultServiceVersion"])?;
    for part in root.children() {
        match part.name() {
            "Logging" => logging(part)?,
            "Cors" => cors(part)?,
            "DefaultServiceVersion" => {}
            _ => metrics(part)?,
        }
    }
    Ok(())
}

fn logging(element: &Element) -> Checked {
    all(element, &["Version", "Delete", "Read", "Write", "RetentionPolicy"])?;
    version(element)?;
    for name in ["Delete", "Read", "Write"] {
        flag(element, name)?;
    }
    retention(element)
}

fn metrics(element: &Element) -> Checked {
    only(element, &["Version", "Enabled", "IncludeAPIs", "RetentionPolicy"])?;
    version(element)?;
    has(element, "Enabled")?;
    if flag(element, "Enabled")? {
        has(element, "IncludeAPIs")?;
    }
    if element.child("IncludeAPIs").is_some() {
        flag(element, "IncludeAPIs")?;
    }
    has(element, "RetentionPolicy")?;
    retention(element)
}

/// Checks the `Version` element. For an unknown version, the service returns `InvalidXmlDocument`, as for a missing one (see azure-cli issue 13232).
fn version(element: &Element) -> Checked {
    let known = element.text_of("Version").is_some_and(|version| version.trim() == "1.0");
    let missing = "<Version>1.0</Version>";
    if known { Ok(()) } else { Err(PropertiesFault::Missing { inside: element.name().to_owned(), missing }) }
}

fn retention(element: &Element) -> Checked {
    let Some(policy) = element.child("RetentionPolicy") else { return Ok(()) };
    only(policy, &["Enabled", "Days"])?;
    has(policy, "Enabled")?;
    if !flag(policy, "Enabled")? {
        return Ok(());
    }
    has(policy, "Days")?;
    let days = policy.text_of("Days").and_then(|days| days.trim().parse().ok());
    if days.is_some_and(|days: u32| (1..=DAYS).contains(&days)) {
        return Ok(());
    }
    Err(PropertiesFault::Value { name: "Days", expected: "1 to 365" })
}

fn cors(element: &Element) -> Checked {
    if let Some(other) = element.children().iter().find(|child| child.name() != "CorsRule") {
        return Err(PropertiesFault::Unexpected(other.name().to_owned()));
    }
    for rule in element.children() {
        all(rule, &RULE)?;
        cors_rule(rule)?;
    }
    let bytes =
        |rule: &Element| -> usize { rule.children().iter().filter_map(Element::text).map(str::len).sum() };
    if element.children().len() > RULES || element.children().iter().map(bytes).sum::<usize>() > RULE_BYTES {
        return Err(PropertiesFault::Rules);
    }
    Ok(())
}

fn cors_rule(rule: &Element) -> Checked {
    let items = |name: &str| {
        let list = rule.text_of(name).unwrap_or_default();
        list.split(',').map(str::trim).filter(|item| !item.is_empty())
    };
    for name in ["AllowedOrigins", "ExposedHeaders", "AllowedHeaders"] {
        if items(name).count() > ITEMS || items(name).any(|item| item.len() > ITEM) {
            return Err(PropertiesFault::Value { name, expected: "at most 64 items of 256 characters" });
        }
    }
    if items("AllowedOrigins").next().is_none() {
        return Err(PropertiesFault::Value { name: "AllowedOrigins", expected: "a list of origins, or `*`" });
    }
    if items("AllowedMethods").next().is_none()
        || items("AllowedMethods").any(|method| !METHODS.contains(&method))
    {
        return Err(PropertiesFault::Value { name: "AllowedMethods", expected: "a list of HTTP methods" });
    }
    let age = rule.text_of("MaxAgeInSeconds").and_then(|age| age.trim().parse::<i32>().ok());
    if age.is_none_or(|age| age < 0) {
        return Err(PropertiesFault::Value { name: "MaxAgeInSeconds", expected: "a number of seconds" });
    }
    Ok(())
}

/// Checks that every child element has one of the given names, and that no name occurs twice.
fn only(element: &Element, names: &[&str]) -> Checked {
    for (index, child) in element.children().iter().enumerate() {
        let again = element.children().iter().take(index).any(|earlier| earlier.name() == child.name());
        if again || !names.contains(&child.name()) {
            return Err(PropertiesFault::Unexpected(child.name().to_owned()));
        }
    }
    Ok(())
}

/// Checks that the element's children have exactly the given names, each once.
fn all(element: &Element, names: &[&'static str]) -> Checked {
    only(element, names)?;
    names.iter().try_for_each(|name| has(element, name))
}

fn has(element: &Element, name: &'static str) -> Checked {
    match element.child(name) {
        Some(_) => Ok(()),
        None => Err(PropertiesFault::Missing { inside: element.name().to_owned(), missing: name }),
    }
}

fn flag(element: &Element, name: &'static str) -> Result<bool, PropertiesFault> {
    let read = element.text_of(name).and_then(boolean);
    read.ok_or(PropertiesFault::Value { name, expected: "`true` or `false`" })
}

#[cfg(test)]
mod tests {
    use crate::ServiceProperties;

    const RETENTION: &str = "<RetentionPolicy><Enabled>true</Enabled><Days>5</Days></RetentionPolicy>";

    fn code(inner: &str) -> &'static str {
        let text =
            format!("<?xml version='1.0'?><StorageServiceProperties>{inner}</StorageServiceProperties>");
        ServiceProperties::read_request(&text).map_or_else(|fault| fault.code(), |_| "accepted")
    }

    fn rule(change: &str, to: &str) -> String {
        let rule = "<CorsRule><AllowedOrigins>http://a</AllowedOrigins><AllowedMethods>GET, PUT</AllowedMethods>\
                    <MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders/><AllowedHeaders>x-*</AllowedHeaders></CorsRule>";
        rule.replace(change, to)
    }

    #[test]
    fn metrics_and_logging_are_checked() {
        let metrics =
            |inner: &str| code(&format!("<HourMetrics><Version>1.0</Version>{inner}</HourMetrics>"));
        let on = "<Enabled>true</Enabled><IncludeAPIs>false</IncludeAPIs>";
        let keep =
            |days: &str| format!("{on}<RetentionPolicy><Enabled>true</Enabled>{days}</RetentionPolicy>");
        for (inner, expected) in [
            (format!("{on}{RETENTION}"), "accepted"),
            (format!("<Enabled>false</Enabled>{RETENTION}"), "accepted"),
            (format!("<Enabled>true</Enabled>{RETENTION}"), "InvalidXmlDocument"),
            (on.to_owned(), "InvalidXmlDocument"),
            (format!("{on}<RetentionPolicy/>"), "InvalidXmlDocument"),
            (keep(""), "InvalidXmlDocument"),
            (keep("<Days>0</Days>"), "InvalidXmlNodeValue"),
            (keep("<Days>366</Days>"), "InvalidXmlNodeValue"),
            (keep("<Days>365</Days>"), "accepted"),
            (format!("{on}{RETENTION}<Other/>"), "InvalidXmlDocument"),
            (format!("{on}{on}{RETENTION}"), "InvalidXmlDocument"),
            (format!("<Enabled>maybe</Enabled>{RETENTION}"), "InvalidXmlNodeValue"),
        ] {
            assert_eq!(metrics(&inner), expected, "{inner}");
        }
        let logging = |version: &str, rest: &str| {
            code(&format!(
                "<Logging><Version>{version}</Version><Delete>true</Delete><Read>true</Read>{rest}{RETENTION}</Logging>"
            ))
        };
        assert_eq!(logging("1.0", "<Write>true</Write>"), "accepted");
        assert_eq!(logging("1.0", ""), "InvalidXmlDocument");
        for version in ["2.0", "9.9", ""] {
            assert_eq!(logging(version, "<Write>true</Write>"), "InvalidXmlDocument", "{version}");
        }
        assert_eq!(code("<Foo>1</Foo>"), "InvalidXmlDocument");
    }

    #[test]
    fn cors_rules_are_checked() {
        let cors = |rules: &str| code(&format!("<Cors>{rules}</Cors>"));
        assert_eq!(cors(""), "accepted");
        assert_eq!(cors(&rule("", "")), "accepted");
        for missing in [
            "<AllowedHeaders>x-*</AllowedHeaders>",
            "<ExposedHeaders/>",
            "<MaxAgeInSeconds>5</MaxAgeInSeconds>",
        ] {
            assert_eq!(cors(&rule(missing, "")), "InvalidXmlDocument", "{missing}");
        }
        for (change, to) in [
            (">5<", ">-1<"),
            (">5<", "><"),
            ("GET, PUT", "GET, FETCH"),
            ("GET, PUT", ""),
            (">http://a<", "><"),
        ] {
            assert_eq!(cors(&rule(change, to)), "InvalidXmlNodeValue", "{to}");
        }
        assert_eq!(cors(&rule("", "").repeat(5)), "accepted");
        assert_eq!(cors(&rule("", "").repeat(6)), "InvalidXmlDocument");
        assert_eq!(cors(&rule("http://a", &"http://a,".repeat(65))), "InvalidXmlNodeValue");
        assert_eq!(cors("<Rule/>"), "InvalidXmlDocument");
    }
}
