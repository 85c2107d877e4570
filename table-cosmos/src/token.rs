//! Parses Azure SDK continuation tokens, to find a query's container and to detect the end of the query.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value as Json;

use crate::item;

/// The prefix of the Azure SDK's continuation tokens. The rest of a token is base64.
const PREFIX: &str = "c1.";

/// The content of an Azure SDK continuation token.
pub(crate) struct Token(Json);

impl Token {
    /// Parses a token. Returns `None` if it has a different format.
    pub(crate) fn parse(token: &str) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(token.strip_prefix(PREFIX)?).ok()?;
        serde_json::from_slice(&json).ok().map(Self)
    }

    /// Returns `true` if the token marks the end of a query.
    pub(crate) fn is_end(&self) -> bool {
        self.0["root"]["kind"] == "drained"
    }

    /// Returns the number that identifies the query's container, as in [`item::incarnation`].
    pub(crate) fn incarnation(&self) -> Option<u32> {
        item::incarnation_of(self.0["rid"].as_str()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_5_the_end_of_a_query_is_read_from_the_clients_token() {
        let token = |json: &str| Token::parse(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(json))).unwrap();
        let end = token(r#"{"op":"Query","rid":"kuV+AP-3aHw=","root":{"kind":"drained"}}"#);
        assert!(end.is_end());
        assert!(end.incarnation().is_some(), "the last page identifies the container, too");
        let open = token(r#"{"op":"Query","rid":"x","root":{"kind":"request","server_continuation":"7"}}"#);
        assert!(!open.is_end() && open.incarnation().is_none());
        for other in ["anything", "c1.%%", "c1."] {
            assert!(Token::parse(other).is_none(), "{other}");
        }
    }
}
