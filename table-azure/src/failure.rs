//! What failed: a service's refusal or no answer at all, whether another attempt may help, and the error to return.

use table_wire as body;
mod class;
mod code;
mod service;

pub(crate) use body::ErrorBody;
pub(crate) use class::Failure;
pub(crate) use code::error_code;
pub use service::ServiceError;
