//! Request rejections, with the same status, code and text as in the service. The status of an [`ErrorCode`] is [`ErrorCode::status`]; server-only codes are in
//! this file.

use std::borrow::Cow;

use chrono::Utc;
use table_core::{Error, ErrorCode};
use table_wire::{NewError, error_message};

use crate::service::Service;

/// The rejection of a request.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    /// The service's message for the code. If the service has none, this is the help text.
    pub(crate) message: Cow<'static, str>,
    /// The cause of the rejection, and how to solve the problem. This text may be empty.
    pub(crate) help: String,
    /// The rejected operation's index in its batch.
    pub(crate) index: Option<usize>,
    /// `true` if the request was rejected before the service processed it. In that case, the response body is XML (ERR-2).
    pub(crate) is_early: bool,
    /// `true` if the connection must be closed after the response, for example because the end of the request is uncertain.
    pub(crate) closes: bool,
    /// The internal failure that caused the rejection, if any. It is logged but not sent, because its text may contain file names.
    pub(crate) internal: Option<Error>,
}

impl Refusal {
    /// Creates a rejection with the service's message for the code, followed by `help`.
    pub(crate) fn new(status: u16, code: &'static str, help: impl Into<String>) -> Self {
        let help = help.into();
        let (message, help) = match error_message(code) {
            Some(sentence) => (sentence.into(), help),
            None => (help.into(), String::new()),
        };
        Self { status, code, message, help, index: None, is_early: false, closes: false, internal: None }
    }

    pub(crate) fn input(help: impl Into<String>) -> Self {
        Self::new(400, "InvalidInput", help)
    }

    /// Rejects a body that is not the XML document required by the operation.
    pub(crate) fn xml(help: impl Into<String>) -> Self {
        Self::new(400, "InvalidXmlDocument", help)
    }

    pub(crate) fn unsupported(help: impl Into<String>) -> Self {
        Self::new(501, "NotImplemented", help)
    }

    /// Rejects a path that does not name a resource.
    pub(crate) fn nowhere() -> Self {
        Self::new(400, "InvalidUri", "")
    }

    /// Rejects a method not supported by the resource. The error code depends on the service.
    pub(crate) fn method(service: Service) -> Self {
        Self::new(
            405,
            if service == Service::Tables { "MethodNotAllowed" } else { "UnsupportedHttpVerb" },
            "",
        )
    }

    /// Returns the error for the response body.
    pub(crate) fn error<'a>(&'a self, request_id: &'a str) -> NewError<'a> {
        NewError {
            code: self.code,
            message: &self.message,
            help: &self.help,
            index: self.index,
            request_id,
            time: Utc::now(),
        }
    }

    /// Adds the operation's index in its batch, unless an index is already set.
    pub(crate) fn at(self, index: usize) -> Self {
        Self { index: self.index.or(Some(index)), ..self }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let (code, index) = (error.code(), error.operation());
        let is_internal = code.status() == 500;
        if is_internal {
            let message = match code {
                ErrorCode::DiskFull => "The disk of the server is full: reads work, writes fail.",
                _ => error_message("InternalError").unwrap_or_default(),
            };
            let refusal = Self::new(code.status(), code.as_str(), "");
            return Self { index, message: message.into(), internal: Some(error), ..refusal };
        }
        let help = error.message().replace(['\r', '\n'], " ");
        let refusal = Self { index, ..Self::new(code.status(), code.as_str(), help) };
        let message = match (code, error.rule()) {
            (ErrorCode::OutOfRangeInput, Some("TBL-4" | "QUE-2")) => {
                "The specified resource name length is not within the permissible limits."
            }
            (ErrorCode::InvalidInput, Some("EGT-2")) => {
                "The batch request operation exceeds the maximum 100 changes per change set."
            }
            _ => return refusal,
        };
        Self { message: message.into(), ..refusal }
    }
}

#[cfg(test)]
mod tests {
    use table_core::{EntityKey, TableName};

    use super::*;

    /// Tests that invalid table names are rejected with the service's messages, which the `azure-data-tables` client recognises.
    #[test]
    fn tbl_4_names_are_refused_with_the_messages_of_the_service() {
        let refused = |name: &str| Refusal::from(TableName::new(name).unwrap_err());
        let characters = refused("my-table");
        assert!(characters.message.contains("The specified resource name contains invalid characters"));
        assert!(
            characters.help.contains("my-table") && !characters.help.contains("TBL-4"),
            "{}",
            characters.help
        );
        let length = refused("ab");
        assert!(
            length
                .message
                .contains("The specified resource name length is not within the permissible limits")
        );
        let key = Refusal::from(EntityKey::new("a#", "b").unwrap_err());
        assert!(!key.help.contains("OutOfRangeInput"), "the code is not repeated: {}", key.help);
    }

    #[test]
    fn an_internal_failure_is_only_in_the_log() {
        let refusal = Refusal::from(Error::new(ErrorCode::Io, "cannot write /var/lib/tables/journal"));
        assert!(!format!("{}{}", refusal.message, refusal.help).contains("journal"));
        assert!(refusal.internal.is_some());
        assert!(Refusal::from(Error::new(ErrorCode::ServerBusy, "busy")).internal.is_none());
    }
}
