//! Signs and sends HTTP requests to all services, and retries them if this is safe.

mod answer;
mod failure;
mod fault;
mod pipeline;
mod request;
mod runtime;
mod tls;
mod tokens;
mod transport;

pub(crate) use answer::Answer;
pub(crate) use failure::Failure;
pub(crate) use pipeline::{Pipeline, PipelineParts};
pub(crate) use request::Request;
pub(crate) use runtime::Runtime;
pub(crate) use table_wire::percent::encode;
pub(crate) use transport::{Settings, Transport, TransportError};
