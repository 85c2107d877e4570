//! Checks a SAS (shared access signature), and reports why the service might reject it.

use chrono::{DateTime, NaiveDate, Utc};

use crate::doctor::Step;

/// Checks whether a SAS is valid at a given time.
pub(super) fn examine(signature: &str, is_https: bool, now: DateTime<Utc>) -> Step {
    const NAME: &str = "signature";
    let field = |name: &str| {
        let mut fields = signature.trim_start_matches('?').split('&').filter_map(|pair| pair.split_once('='));
        fields.find(|(found, _)| *found == name).map(|(_, value)| decoded(value))
    };
    let renew = "create a new signature";
    if field("sig").is_none_or(|text| text.is_empty()) {
        return Step::failed(NAME, "the signature has no `sig`", "copy the complete text");
    }
    if field("spr").is_some_and(|protocols| protocols == "https") && !is_https {
        return Step::failed(NAME, "the signature allows HTTPS only", "begin the URL with `https://`");
    }
    match field("se").as_deref().map(instant) {
        Some(Some(end)) if end <= now => {
            return Step::failed(NAME, format!("the signature expired at {end}; now it is {now}"), renew);
        }
        Some(None) => return Step::failed(NAME, "its expiry `se` cannot be read", renew),
        _ => {}
    }
    match field("st").filter(|start| !start.is_empty()).as_deref().map(instant) {
        Some(Some(start)) if start > now => {
            let help = "wait, or check the clock of this machine";
            return Step::failed(
                NAME,
                format!("the signature is valid from {start} on; now it is {now}"),
                help,
            );
        }
        Some(None) => return Step::failed(NAME, "its start `st` cannot be read", renew),
        _ => {}
    }
    let allows = field("sp").unwrap_or_default();
    let table = field("tn").map(|name| format!(", of table {name} only")).unwrap_or_default();
    let end = field("se").map(|end| format!(", until {end}")).unwrap_or_default();
    Step::passed(NAME, format!("permissions `{allows}`{table}{end}"))
}

/// Parses a time in any format allowed in a SAS.
fn instant(text: &str) -> Option<DateTime<Utc>> {
    let date = || Some(text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?.and_utc());
    let minutes = || Some(chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%MZ").ok()?.and_utc());
    text.parse().ok().or_else(minutes).or_else(date)
}

/// Decodes percent-encoded text.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let digits =
            behind.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = behind.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_examined_for_every_reason_to_refuse_it() {
        let now = "2026-11-25T12:00:00Z".parse().unwrap();
        for (signature, is_https, fact) in [
            ("sv=1&sig=x&se=2026-11-24T00%3A00%3A00Z&sp=r", true, "expired at 2026-11-24"),
            ("sv=1&sig=x&se=2026-11-25", true, "expired at 2026-11-25"),
            ("sv=1&sig=x&se=soon", true, "its expiry `se` cannot be read"),
            ("sv=1&sig=x&st=now&se=2027-01-01", true, "its start `st` cannot be read"),
            ("sv=1&sig=x&st=2026-12-01&se=2027-01-01", true, "valid from 2026-12-01"),
            ("sv=1&sig=x&spr=https", false, "allows HTTPS only"),
            ("sv=1&sig=", true, "has no `sig`"),
        ] {
            let step = examine(signature, is_https, now);
            assert!(!step.is_passed() && step.fact.contains(fact), "{signature}: {step}");
        }
        let step = examine("?sv=1&sig=x&se=2027-01-01T00:00Z&sp=raud&tn=Company", true, now);
        assert!(step.is_passed());
        assert_eq!(step.fact, "permissions `raud`, of table Company only, until 2027-01-01T00:00Z");
    }
}
