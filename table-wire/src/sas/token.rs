//! Signed tokens. A token is a query string that must be kept secret.

use std::fmt;
use std::str::FromStr;

use table_core::{Error, Result};

use super::fault::SasFault;
use super::parameters::Parameters;

/// A signed SAS token, which authorizes its bearer.
///
/// The type does not implement `Display`, and its `Debug` output omits the signature. Only [`query_string`](Self::query_string) returns the text.
///
/// ```
/// use table_wire::sas::SasToken;
///
/// let token: SasToken = "?sv=2019-02-02&sp=r&se=2030-01-01T00%3A00%3A00Z&tn=Employee&sig=c2VjcmV0".parse()?;
/// assert_eq!(token.table(), Some("Employee"));
/// assert!(!format!("{token:?}").contains("c2VjcmV0"));
/// assert!(token.query_string().ends_with("&sig=c2VjcmV0"));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SasToken(pub(super) Parameters);

impl SasToken {
    /// Returns the query string to append to request URLs (SAS-12). It is a secret.
    #[must_use]
    pub fn query_string(&self) -> String {
        self.0.write()
    }

    /// Returns the token's table name, or `None` for an account SAS.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        self.0.find("tn")
    }

    /// Returns the identifier of the token's stored policy, if any.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        self.0.find("si")
    }
}

impl FromStr for SasToken {
    type Err = Error;

    /// Parses a token's query string.
    ///
    /// # Errors
    /// `InvalidInput` if the text is not a query string with a version, a signature, and either a table or services (SAS-1, ASAS-1).
    fn from_str(text: &str) -> Result<Self> {
        let parameters = Parameters::read(text)?;
        parameters.version()?;
        if parameters.get("sig").is_empty() {
            return Err(Error::of(SasFault::Unsigned));
        }
        if parameters.find("tn").is_some() == parameters.find("ss").is_some() {
            return Err(Error::of(SasFault::Resource));
        }
        Ok(Self(parameters))
    }
}

impl fmt::Debug for SasToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = self.table().map_or("account".to_owned(), |table| format!("table {table:?}"));
        write!(f, "SasToken {{ for: {scope}, expiry: {:?}, sig: *** }}", self.0.get("se"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sas_12_a_token_with_any_names_is_written_as_it_was_read() {
        let token: SasToken = "sv=2019-02-02&tn=Employee&a%3D%26b=c%3D&sig=c2VjcmV0".parse().unwrap();
        assert_eq!(token.query_string().parse::<SasToken>().unwrap(), token);
    }

    #[test]
    fn sas_1_an_invalid_token_is_refused_without_being_shown() {
        for text in [
            "",
            "c2VjcmV0",
            "sv=2019-02-02&tn=Employee",
            "sv=2019-02-02&sig=c2VjcmV0",
            "sv=2019-02-02&ss=t&tn=Employee&sig=c2VjcmV0",
            "sv=2019-02-02&tn=Employee&sig=c2VjcmV0&sig=c2VjcmV0",
            "sv=2019-02-02&tn=Employee&sig=c2VjcmV0%",
            "sv=2012-02-12&tn=Employee&sig=c2VjcmV0",
            "tn=Employee&sig=c2VjcmV0",
        ] {
            let error = text.parse::<SasToken>().unwrap_err();
            assert!(matches!(error.rule(), Some("SAS-1" | "SAS-4")), "{text}");
            assert!(!format!("{error:?}").contains("c2VjcmV0"), "{error}");
        }
    }
}
