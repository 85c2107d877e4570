//! Cross-origin requests: what the rules of a service let a browser see.

mod list;
mod sharing;

use std::sync::{Arc, PoisonError, RwLock};

use table_wire::CorsRule;

use crate::refusal::Refusal;
use crate::service::Service;

use list::{covers, items};

pub(crate) use sharing::Sharing;

/// The most rules of a service.
const RULES: usize = 5;
/// The most bytes of all of them, without the names of elements.
const BYTES: usize = 2 << 10;

/// The rules of an account's services as they are at present, read once.
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

    /// How many seconds a browser may remember that a request of this origin, method and these headers is allowed; `None` if it is not.
    pub(crate) fn preflight(
        &self,
        service: Service,
        origin: &str,
        method: &str,
        headers: &str,
    ) -> Option<u32> {
        // The first rule of an origin and a method decides, also by its headers.
        let rules = self.rules(service);
        let rule = rules.iter().find(|rule| allows(rule, origin, method))?;
        let covered = |header| items(&rule.allowed_headers).any(|pattern| covers(pattern, header));
        items(headers).all(covered).then_some(rule.max_age_seconds)
    }

    /// What the answer to a request says to a browser; `None` where the service has no rules.
    pub(crate) fn sharing(&self, service: Service, origin: Option<&str>, method: &str) -> Option<Sharing> {
        let rules = self.rules(service);
        if rules.is_empty() {
            return None;
        }
        let every = |rule: &CorsRule| items(&rule.allowed_origins).any(|one| one == "*");
        let matching = match origin {
            Some(origin) => rules.iter().find(|rule| allows(rule, origin, method)),
            // Caches hand an answer to every origin on where every origin may have it.
            None => {
                rules.iter().find(|rule| every(rule) && items(&rule.allowed_methods).any(|one| one == method))
            }
        };
        Some(match (matching, origin) {
            (Some(rule), _) if every(rule) => Sharing::All { exposed: rule.exposed_headers.clone() },
            (Some(rule), Some(origin)) => {
                Sharing::One { origin: origin.to_owned(), exposed: rule.exposed_headers.clone() }
            }
            _ => Sharing::Others,
        })
    }
}

/// Whether the rules are few and short enough for a service.
///
/// # Errors
/// 400 for more than 5, or more than 2 KiB.
pub(crate) fn check(rules: &[CorsRule]) -> Result<(), Refusal> {
    let bytes = |rule: &CorsRule| {
        let texts =
            [&rule.allowed_origins, &rule.allowed_methods, &rule.allowed_headers, &rule.exposed_headers];
        texts.map(String::len).iter().sum::<usize>()
    };
    if rules.len() > RULES || rules.iter().map(bytes).sum::<usize>() > BYTES {
        let message = "A service has at most 5 CORS rules, of 2 KiB together.";
        return Err(Refusal::new(400, "InvalidXmlDocument", message));
    }
    Ok(())
}

/// Origins are compared letter by letter, as browsers send them.
fn allows(rule: &CorsRule, origin: &str, method: &str) -> bool {
    items(&rule.allowed_origins).any(|one| one == "*" || one == origin)
        && items(&rule.allowed_methods).any(|one| one == method)
}
