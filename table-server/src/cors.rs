//! Cross-origin requests: applies a service's CORS rules to requests from browsers.

mod list;
mod sharing;

use std::sync::{Arc, PoisonError, RwLock};

use table_wire::CorsRule;

use crate::service::Service;

use list::{covers, items};

pub(crate) use sharing::Sharing;

/// The current CORS rules of an account's services.
#[derive(Debug, Default)]
pub(crate) struct Cors {
    tables: RwLock<Arc<[CorsRule]>>,
    queues: RwLock<Arc<[CorsRule]>>,
}

impl Cors {
    fn place(&self, service: Service) -> &RwLock<Arc<[CorsRule]>> {
        if service == Service::Tables { &self.tables } else { &self.queues }
    }

    pub(crate) fn set(&self, service: Service, rules: &[CorsRule]) {
        *self.place(service).write().unwrap_or_else(PoisonError::into_inner) = rules.into();
    }

    fn rules(&self, service: Service) -> Arc<[CorsRule]> {
        self.place(service).read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks whether a browser may send a request with this origin, method and headers. Returns how many seconds the browser may cache the permission, or
    /// `None` if the request is not allowed.
    pub(crate) fn preflight(
        &self,
        service: Service,
        origin: &str,
        method: &str,
        headers: &str,
    ) -> Option<u32> {
        // The first rule that matches the origin and the method applies, even if it does not allow the headers.
        let rules = self.rules(service);
        let rule = rules.iter().find(|rule| allows(rule, origin, method))?;
        let covered = |header| items(&rule.allowed_headers).any(|pattern| covers(pattern, header));
        items(headers).all(covered).then_some(rule.max_age_seconds)
    }

    /// Returns the CORS headers for the response to a request, or `None` if the service has no rules or the request has no origin.
    pub(crate) fn sharing(&self, service: Service, origin: Option<&str>, method: &str) -> Option<Sharing> {
        let rules = self.rules(service);
        if rules.is_empty() {
            return None;
        }
        // A request without an origin is not a cross-origin request.
        let origin = origin?;
        let every = |rule: &CorsRule| items(&rule.allowed_origins).any(|one| one == "*");
        Some(match rules.iter().find(|rule| allows(rule, origin, method)) {
            Some(rule) if every(rule) => Sharing::All { exposed: rule.exposed_headers.clone() },
            Some(rule) => Sharing::One { origin: origin.to_owned(), exposed: rule.exposed_headers.clone() },
            None => Sharing::Others,
        })
    }
}

/// Returns `true` if a rule allows both the origin and the method. Origins are compared case-sensitively.
fn allows(rule: &CorsRule, origin: &str, method: &str) -> bool {
    items(&rule.allowed_origins).any(|one| one == "*" || one == origin)
        && items(&rule.allowed_methods).any(|one| one == method)
}
