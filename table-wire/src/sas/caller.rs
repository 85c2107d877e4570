//! Callers of a server, and the token restrictions that apply to them: `sip` (addresses) and `spr` (protocol). The restrictions are validated when a token is
//! signed, and compared with the caller on each use (SAS-1).

use std::net::{IpAddr, Ipv4Addr};

use table_core::{Error, Result};

use super::fault::SasFault;
use super::parameters::Parameters;
use super::permissions::Protocol;

/// The sender of a request that carries a token, as seen by the server.
///
/// ```
/// use std::net::Ipv4Addr;
/// use std::time::Duration;
/// use chrono::Utc;
/// use table_wire::auth::AccountKey;
/// use table_wire::sas::{SasVerifier, Caller, Protocol, TablePermissions, TableSas};
/// use table_core::{ErrorCode, TableName};
///
/// let key = AccountKey::new("contoso", "a2V5")?;
/// let sas = TableSas::table(TableName::new("Employee")?).allow(TablePermissions::READ);
/// let sas = sas.addresses("10.0.0.1-10.0.0.9").protocol(Protocol::Https);
/// let token = sas.valid_for(Utc::now(), Duration::from_secs(60 * 60)).sign(&key)?;
///
/// let authority = SasVerifier::new(key);
/// let from = |last, secure| authority.clone().caller(Caller { address: Ipv4Addr::new(10, 0, 0, last).into(), secure });
/// assert!(from(9, true).verify(&token).is_ok());
/// let elsewhere = from(10, true).verify(&token).unwrap_err();
/// assert_eq!(elsewhere.code(), ErrorCode::AuthorizationSourceIPMismatch);
/// let in_the_clear = from(9, false).verify(&token).unwrap_err();
/// assert_eq!(in_the_clear.code(), ErrorCode::AuthorizationProtocolMismatch);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The IP address of the sender.
    pub address: IpAddr,
    /// `true` if the request arrived over HTTPS.
    pub secure: bool,
}

/// Validates the restrictions of a token. If a caller is set, also checks that the token allows this caller (ASAS-5).
///
/// # Errors
/// - `AuthorizationSourceIPMismatch` or `AuthorizationProtocolMismatch` if the token does not allow the caller.
/// - `InvalidInput` if the addresses or the protocol are invalid, even if no caller is set.
pub(super) fn admit(caller: Option<Caller>, parameters: &Parameters) -> Result<()> {
    let addresses = parameters.find("sip").map(range).transpose()?;
    let protocol = Protocol::read(parameters.get("spr"))?;
    let Some(caller) = caller else { return Ok(()) };
    // An IPv4 caller may have an IPv4-mapped IPv6 address. Other IPv6 addresses are outside every range.
    let within = |(first, last)| match caller.address.to_canonical() {
        IpAddr::V4(address) => (first..=last).contains(&address),
        IpAddr::V6(_) => false,
    };
    if !addresses.is_none_or(within) {
        return Err(Error::of(SasFault::OtherAddress));
    }
    if protocol == Protocol::Https && !caller.secure {
        return Err(Error::of(SasFault::Plain));
    }
    Ok(())
}

/// Validates a token's addresses before signing. An empty string allows every address.
///
/// # Errors
/// `InvalidInput` if the string is neither an IPv4 address nor a range of IPv4 addresses.
pub(super) fn check(addresses: &str) -> Result<()> {
    if addresses.is_empty() { Ok(()) } else { range(addresses).map(drop) }
}

fn range(text: &str) -> Result<(Ipv4Addr, Ipv4Addr)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let bounds = first.parse().ok().zip(last.parse().ok());
    bounds
        .filter(|(first, last)| first <= last)
        .ok_or_else(|| Error::of(SasFault::Addresses(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use table_core::ErrorCode;

    use super::*;

    fn token(sip: &str, spr: &str) -> Parameters {
        let mut parameters = Parameters::default();
        parameters.put("sip", sip);
        parameters.put("spr", spr);
        parameters
    }

    fn admitted(parameters: &Parameters, address: &str, secure: bool) -> std::result::Result<(), ErrorCode> {
        let caller = Caller { address: address.parse().unwrap(), secure };
        admit(Some(caller), parameters).map_err(|error| error.code())
    }

    #[test]
    fn sas_1_and_asas_5_addresses_are_compared_with_the_callers() {
        let elsewhere = Err(ErrorCode::AuthorizationSourceIPMismatch);
        for (sip, address, expected) in [
            ("", "203.0.113.7", Ok(())),
            ("", "2001:db8::1", Ok(())),
            ("10.0.0.1", "10.0.0.1", Ok(())),
            ("10.0.0.1", "10.0.0.2", elsewhere),
            ("10.0.0.1-10.0.1.0", "10.0.0.1", Ok(())),
            ("10.0.0.1-10.0.1.0", "10.0.0.255", Ok(())),
            ("10.0.0.1-10.0.1.0", "10.0.1.0", Ok(())),
            ("10.0.0.1-10.0.1.0", "10.0.1.1", elsewhere),
            ("10.0.0.1-10.0.1.0", "10.0.0.0", elsewhere),
            ("10.0.0.1", "::ffff:10.0.0.1", Ok(())),
            ("10.0.0.1", "2001:db8::1", elsewhere),
            ("nowhere", "10.0.0.1", Err(ErrorCode::InvalidInput)),
        ] {
            assert_eq!(admitted(&token(sip, ""), address, true), expected, "{sip} {address}");
        }
    }

    #[test]
    fn sas_1_and_asas_5_the_protocol_is_compared_with_the_callers() {
        let in_the_clear = Err(ErrorCode::AuthorizationProtocolMismatch);
        for (spr, plain) in [("", Ok(())), ("https,http", Ok(())), ("https", in_the_clear)] {
            assert_eq!(admitted(&token("", spr), "10.0.0.1", true), Ok(()), "{spr}");
            assert_eq!(admitted(&token("", spr), "10.0.0.1", false), plain, "{spr}");
        }
        for parameters in [token("", "http"), token("nowhere", ""), token("", "https\n")] {
            assert_eq!(admitted(&parameters, "10.0.0.1", true), Err(ErrorCode::InvalidInput));
            assert_eq!(admit(None, &parameters).unwrap_err().code(), ErrorCode::InvalidInput);
        }
    }

    #[test]
    fn sas_1_texts_other_than_addresses_are_not_signed() {
        for text in ["", "127.0.0.1", "10.0.0.1-10.0.0.1", "10.0.0.9-10.0.1.0"] {
            assert!(check(text).is_ok(), "{text}");
        }
        for text in
            ["localhost", "10.0.0", "10.0.0.9-10.0.0.1", "10.0.0.1-", "10.0.0.1-2", "::1", "10.0.0.0/8", " "]
        {
            assert_eq!(check(text).unwrap_err().rule(), Some("SAS-1"), "{text}");
        }
    }
}
