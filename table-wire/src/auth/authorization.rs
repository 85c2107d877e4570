//! Server-side parsing and verification of the `Authorization` header (AUTH-1, AUTH-9).

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};
use table_core::{Error, Result};

use super::fault::AuthFault;
use super::{AccountKey, Scheme, SignedParts, parse_http_date};

/// A parsed `Authorization` header: an account name and a signature. `Debug` does not print the signature.
///
/// ```
/// use chrono::DateTime;
/// use http::HeaderMap;
/// use table_wire::auth::{AccountKey, Authorization, Scheme, SignedParts, print_http_date};
///
/// let (key, now) = (AccountKey::new("contoso", "a2V5")?, DateTime::from_timestamp(1_795_161_600, 0).unwrap());
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ms-date", print_http_date(now).parse()?);
/// let parts = SignedParts { method: "GET", path: "/Tables", query: "", headers: &headers, length: 0 };
/// let header = Scheme::TableLite.authorization(&key, parts);
///
/// let authorization = Authorization::read(&header)?;
/// assert_eq!(authorization.account(), "contoso");
/// authorization.verify(Scheme::Table, &[key], parts, now)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Authorization<'a> {
    account: &'a str,
    signature: &'a str,
    lite: bool,
}

impl<'a> Authorization<'a> {
    /// The maximum difference between a request's date and the server's clock (AUTH-9).
    pub const SKEW: Duration = Duration::from_secs(15 * 60);

    /// Parses `SharedKey account:signature` or `SharedKeyLite account:signature`.
    ///
    /// # Errors
    /// `AuthenticationFailed` if the header has a different format. The message does not contain the header.
    pub fn read(header: &'a str) -> Result<Self> {
        let parts = header.split_once(' ').and_then(|(word, rest)| {
            let lite = [Scheme::Table, Scheme::TableLite].into_iter().find(|scheme| scheme.name() == word)?;
            let (account, signature) = rest.trim_start().split_once(':')?;
            Some(Self { account, signature, lite: lite == Scheme::TableLite })
        });
        let legal = |own: &Self| !own.account.is_empty() && !own.signature.is_empty();
        parts.filter(legal).ok_or_else(|| Error::of(AuthFault::Header))
    }

    /// Returns the account name in the header.
    #[must_use]
    pub const fn account(self) -> &'a str {
        self.account
    }

    /// Verifies the signature against the account's keys. `service` is the `SharedKey` scheme of the service. If the header uses `SharedKeyLite`, the
    /// corresponding `SharedKeyLite` scheme is used instead.
    ///
    /// The path is verified exactly as it was sent. A signature over a path with a different encoding, such as `'` instead of `%27`, does not match (AUTH-6).
    ///
    /// A request without a date is accepted only if it is signed with the emulator's well-known key, as in the emulator itself. A date limits how long a signed
    /// request can be replayed. With the well-known key, a replay gains nothing, because anyone can sign a new request (AUTH-30).
    ///
    /// # Errors
    /// `AuthenticationFailed` if the signature matches none of the keys, if the request has no date, or if its date differs from `now` by more than
    /// [`SKEW`](Self::SKEW).
    pub fn verify(
        self,
        service: Scheme,
        keys: &[AccountKey],
        parts: SignedParts<'_>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let scheme = match (service, self.lite) {
            (Scheme::Table | Scheme::TableLite, true) => Scheme::TableLite,
            (Scheme::Table | Scheme::TableLite, false) => Scheme::Table,
            (Scheme::Storage | Scheme::StorageLite, false) => Scheme::Storage,
            (Scheme::Storage | Scheme::StorageLite, true) => Scheme::StorageLite,
        };
        let text = scheme.string_to_sign(parts, self.account);
        let own = keys.iter().filter(|key| key.account() == self.account);
        // Every key is tried, so the timing does not reveal which one matches.
        let matching =
            own.fold(None, |found, key| key.verifies(&text, self.signature).then_some(key).or(found));
        let key = matching.ok_or_else(|| Error::of(AuthFault::Signature))?;
        let sent = parts.date();
        if sent.is_empty() && key.is_public() {
            return Ok(());
        }
        let date = parse_http_date(sent).ok_or_else(|| Error::of(AuthFault::Date))?;
        if now.signed_duration_since(date).abs().to_std().is_ok_and(|skew| skew <= Self::SKEW) {
            return Ok(());
        }
        Err(Error::of(AuthFault::Skew))
    }
}

impl fmt::Debug for Authorization<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authorization {{ account: {:?}, lite: {}, signature: *** }}", self.account, self.lite)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use table_core::ErrorCode;

    use super::*;
    use crate::auth::{EMULATOR_ACCOUNT, EMULATOR_KEY, print_http_date};

    const NOW: i64 = 1_795_161_600;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(NOW + seconds, 0).unwrap()
    }

    fn key(account: &str, key: &str) -> AccountKey {
        AccountKey::new(account, key).unwrap()
    }

    fn headers() -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-date", print_http_date(at(0)).parse().unwrap());
        headers
    }

    fn parts(headers: &HeaderMap) -> SignedParts<'_> {
        SignedParts { method: "GET", path: "/Employee()", query: "$top=1&comp=acl", headers, length: 0 }
    }

    #[test]
    fn auth_1_2_3_and_20_each_form_is_verified_by_either_key() {
        let headers = headers();
        let keys = [key("contoso", "a2V5"), key("contoso", "b3RoZXI=")];
        for (scheme, service) in [
            (Scheme::Table, Scheme::Table),
            (Scheme::TableLite, Scheme::Table),
            (Scheme::Storage, Scheme::Storage),
            // The blob and queue services also support `SharedKeyLite` (AUTH-24).
            (Scheme::StorageLite, Scheme::Storage),
        ] {
            for own in &keys {
                let header = scheme.authorization(own, parts(&headers));
                let read = Authorization::read(&header).unwrap();
                read.verify(service, &keys, parts(&headers), at(0)).unwrap();
                assert!(!format!("{read:?}").contains(read.signature));
                for altered in [
                    SignedParts { path: "/Other()", ..parts(&headers) },
                    SignedParts { query: "$top=1&comp=stats", ..parts(&headers) },
                ] {
                    let refused = read.verify(service, &keys, altered, at(0)).unwrap_err();
                    assert_eq!(
                        (refused.code(), refused.rule()),
                        (ErrorCode::AuthenticationFailed, Some("AUTH-1"))
                    );
                }
                let others = [key("contoso", "c2VjcmV0"), key("fabrikam", "a2V5")];
                assert!(read.verify(service, &others, parts(&headers), at(0)).is_err());
                assert!(read.verify(service, &[], parts(&headers), at(0)).is_err());
            }
        }
        // The table and storage services have different `SharedKeyLite` schemes.
        let lite = Scheme::TableLite.authorization(&keys[0], parts(&headers));
        let lite = Authorization::read(&lite).unwrap();
        assert_eq!(
            lite.verify(Scheme::Storage, &keys, parts(&headers), at(0)).unwrap_err().rule(),
            Some("AUTH-1")
        );
    }

    #[test]
    fn auth_9_a_request_is_valid_for_fifteen_minutes() {
        let (headers, keys) = (headers(), [key("contoso", "a2V5")]);
        let header = Scheme::Table.authorization(&keys[0], parts(&headers));
        let read = Authorization::read(&header).unwrap();
        for (seconds, accepted) in [(0, true), (900, true), (-900, true), (901, false), (-901, false)] {
            let verified = read.verify(Scheme::Table, &keys, parts(&headers), at(seconds));
            assert_eq!(verified.is_ok(), accepted, "{seconds}");
            assert!(verified.err().is_none_or(|error| error.rule() == Some("AUTH-9")));
        }
        let without = HeaderMap::new();
        let header = Scheme::Table.authorization(&keys[0], parts(&without));
        let undated =
            Authorization::read(&header).unwrap().verify(Scheme::Table, &keys, parts(&without), at(0));
        assert_eq!(undated.unwrap_err().rule(), Some("AUTH-9"));
    }

    /// Tests that a request without a date is accepted only if it is signed with the emulator's well-known key. Azurite's own tests send such requests.
    #[test]
    fn auth_9_and_30_only_the_public_key_needs_no_date() {
        let undated = HeaderMap::new();
        for (account, text, accepted) in [
            (EMULATOR_ACCOUNT, EMULATOR_KEY, true),
            (EMULATOR_ACCOUNT, "a2V5", false),
            ("contoso", "a2V5", false),
        ] {
            let keys = [key(account, text)];
            for (scheme, service) in [(Scheme::Table, Scheme::Table), (Scheme::StorageLite, Scheme::Storage)]
            {
                let header = scheme.authorization(&keys[0], parts(&undated));
                let verified =
                    Authorization::read(&header).unwrap().verify(service, &keys, parts(&undated), at(0));
                assert_eq!(verified.is_ok(), accepted, "{account} {text}");
            }
        }
        // An outdated request is rejected regardless of the key.
        let (headers, keys) = (headers(), [key(EMULATOR_ACCOUNT, EMULATOR_KEY)]);
        let header = Scheme::Table.authorization(&keys[0], parts(&headers));
        let read = Authorization::read(&header).unwrap();
        assert!(read.verify(Scheme::Table, &keys, parts(&headers), at(901)).is_err());
    }

    /// Tests that a path is accepted in any encoding, as long as the signature covers it as sent (AUTH-6).
    #[test]
    fn auth_6_a_signature_covers_the_spelling_that_was_sent() {
        let (headers, keys) = (headers(), [key("contoso", "a2V5")]);
        let spellings = [
            "/Employee(PartitionKey='O''Neil',RowKey='a b')",
            "/Employee(PartitionKey='O''Neil',RowKey='a%20b')",
            "/Employee(PartitionKey=%27O%27%27Neil%27,RowKey=%27a%20b%27)",
            "/Employee(PartitionKey%3D%27O%27%27Neil%27%2CRowKey%3D%27a%20b%27)",
            "/Employee%28PartitionKey%3d%27O%27%27Neil%27%2cRowKey%3d%27a%20b%27%29",
        ];
        for (service, short) in [(Scheme::Table, Scheme::TableLite), (Scheme::Storage, Scheme::StorageLite)] {
            for scheme in [service, short] {
                for (signed, sent) in
                    spellings.iter().flat_map(|signed| spellings.map(|sent| (*signed, sent)))
                {
                    let with = |path| SignedParts { path, ..parts(&headers) };
                    let header = scheme.authorization(&keys[0], with(signed));
                    let read = Authorization::read(&header).unwrap();
                    let verified = read.verify(service, &keys, with(sent), at(0));
                    assert_eq!(verified.is_ok(), signed == sent, "{signed} {sent}");
                }
            }
        }
    }

    #[test]
    fn auth_1_another_header_is_refused_without_being_repeated() {
        for header in [
            "",
            "Bearer c2VjcmV0",
            "SharedKey",
            "SharedKey contoso",
            "SharedKey :c2VjcmV0",
            "sharedkey a:c2VjcmV0",
            "SharedKey a:",
        ] {
            let refused = Authorization::read(header).unwrap_err();
            assert_eq!((refused.code(), refused.rule()), (ErrorCode::AuthenticationFailed, Some("AUTH-1")));
            assert!(!refused.to_string().contains("c2VjcmV0"), "{refused}");
        }
    }
}
