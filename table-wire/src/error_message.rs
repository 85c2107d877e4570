//! The messages that the services return for their error codes.

/// Returns the service's message for an error code, or `None` if the service defines none.
///
/// Some clients compare messages with these texts. For example, `azure-data-tables` recognizes an invalid table name by the message.
///
/// ```
/// use table_wire::error_message;
///
/// assert_eq!(error_message("TableAlreadyExists"), Some("The table specified already exists."));
/// assert_eq!(error_message("Other"), None);
/// ```
#[must_use]
pub fn error_message(code: &str) -> Option<&'static str> {
    let found = SENTENCES.binary_search_by_key(&code, |(code, _)| code).ok()?;
    SENTENCES.get(found).map(|(_, sentence)| *sentence)
}

/// Error codes and their messages, sorted by code.
const SENTENCES: &[(&str, &str)] = &[
    ("AccountIsDisabled", "The specified account is disabled."),
    ("AtomFormatNotSupported", "Atom format is not supported."),
    (
        "AuthenticationFailed",
        "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the \
         signature.",
    ),
    ("AuthorizationFailure", "This request is not authorized to perform this operation."),
    (
        "AuthorizationPermissionMismatch",
        "This request is not authorized to perform this operation using this permission.",
    ),
    (
        "AuthorizationProtocolMismatch",
        "This request is not authorized to perform this operation using this protocol.",
    ),
    (
        "AuthorizationResourceTypeMismatch",
        "This request is not authorized to perform this operation using this resource type.",
    ),
    (
        "AuthorizationServiceMismatch",
        "This request is not authorized to perform this operation using this service.",
    ),
    (
        "AuthorizationSourceIPMismatch",
        "This request is not authorized to perform this operation using this source IP.",
    ),
    ("CommandsInBatchActOnDifferentPartitions", "All commands in a batch must operate on same entity group."),
    ("ConditionNotMet", "The condition specified using HTTP conditional header(s) is not met."),
    ("CorsPreflightFailure", "CORS not enabled or no matching rule found for this request."),
    ("DuplicatePropertiesSpecified", "A property is specified more than one time."),
    ("EntityAlreadyExists", "The specified entity already exists."),
    ("EntityNotFound", "The specified entity does not exist."),
    ("EntityTooLarge", "The entity is larger than the maximum allowed size (1MB)."),
    (
        "HostInformationNotPresent",
        "The required host information is not present in the request. You must send a non-empty Host header or include the absolute \
         URI in the request line.",
    ),
    ("InternalError", "The server encountered an internal error. Please retry the request."),
    (
        "InvalidAuthenticationInfo",
        "The authentication information was not provided in the correct format. Verify the value of Authorization header.",
    ),
    (
        "InvalidDuplicateRow",
        "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request.",
    ),
    ("InvalidHeaderValue", "The value for one of the HTTP headers is not in the correct format."),
    ("InvalidInput", "One of the request inputs is not valid."),
    ("InvalidMetadata", "The metadata specified is invalid. It has characters that are not permitted."),
    (
        "InvalidQueryParameterValue",
        "Value for one of the query parameters specified in the request URI is invalid.",
    ),
    ("InvalidResourceName", "The specified resource name contains invalid characters."),
    ("InvalidUri", "The requested URI does not represent any resource on the server."),
    ("InvalidValueType", "The value specified is invalid."),
    ("InvalidXmlDocument", "XML specified is not syntactically valid."),
    ("InvalidXmlNodeValue", "The value for one of the XML nodes is not in the correct format."),
    ("JsonFormatNotSupported", "JSON format is not supported."),
    ("MediaTypeNotSupported", "None of the provided media types are supported."),
    ("MessageNotFound", "The specified message does not exist."),
    ("MetadataTooLarge", "The size of the specified metadata exceeds the maximum size permitted."),
    ("MethodNotAllowed", "The requested method is not allowed on the specified resource."),
    ("MissingRequiredHeader", "An HTTP header that's mandatory for this request is not specified."),
    (
        "MissingRequiredQueryParameter",
        "A query parameter that's mandatory for this request is not specified.",
    ),
    ("NotImplemented", "The requested operation is not implemented on the specified resource."),
    ("OperationTimedOut", "The operation could not be completed within the permitted time."),
    ("OutOfRangeInput", "One of the request inputs is out of range."),
    (
        "OutOfRangeQueryParameterValue",
        "One of the query parameters specified in the request URI is outside the permissible range.",
    ),
    ("PopReceiptMismatch", "The specified pop receipt did not match the pop receipt for a dequeued message."),
    ("PropertiesNeedValue", "The values are not specified for all properties in the entity."),
    ("PropertyNameInvalid", "The property name is invalid."),
    ("PropertyNameTooLong", "The property name exceeds the maximum allowed length (255)."),
    (
        "PropertyValueTooLarge",
        "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the \
         maximum number of characters should be 32K or less.",
    ),
    ("QueueAlreadyExists", "The specified queue already exists."),
    ("QueueBeingDeleted", "The specified queue is being deleted."),
    ("QueueNotFound", "The specified queue does not exist."),
    ("RequestBodyTooLarge", "The request body is too large and exceeds the maximum permissible limit."),
    ("ResourceNotFound", "The specified resource does not exist."),
    ("ServerBusy", "The server is busy."),
    ("TableAlreadyExists", "The table specified already exists."),
    ("TableBeingDeleted", "The specified table is being deleted. Try operation later."),
    ("TableNotFound", "The table specified does not exist."),
    (
        "TooManyProperties",
        "The entity contains more properties than allowed. Each entity can include up to 252 properties to store data. Each entity \
         also has 3 system properties.",
    ),
    ("UnsupportedHeader", "One of the HTTP headers specified in the request is not supported."),
    ("UnsupportedHttpVerb", "The resource doesn't support specified Http Verb."),
    ("UpdateConditionNotSatisfied", "The update condition specified in the request was not satisfied."),
    ("WriteOperationNotSupportedOnSecondary", "Write operations are not allowed."),
    ("XMethodIncorrectCount", "More than one X-HTTP-Method is specified."),
    ("XMethodIncorrectValue", "The specified X-HTTP-Method is invalid."),
    ("XMethodNotUsingPost", "The request uses X-HTTP-Method with an HTTP verb other than POST."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found() {
        assert!(SENTENCES.is_sorted());
        assert!(
            SENTENCES.iter().all(|(code, text)| error_message(code) == Some(*text) && text.ends_with('.'))
        );
    }
}
