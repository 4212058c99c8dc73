//! How often a caller may do what costs the host work: step 11 of a protected request, once it is clear who asks for
//! what.

use super::{Carrier, Exchange};
use crate::{
    error::{Code, Error},
    rates::{Account, Rated},
    step::Step,
    time::Now,
    word,
};

impl Exchange {
    /// The refusal of what comes too often.
    pub(super) fn pace(&mut self, now: Now, rated: Option<Rated>) -> Option<Step> {
        let rated = rated?;
        let buckets = self.shared.config.rates.of(rated)?;
        let retry_after_ms = buckets.take(&self.account(), now).err()?;
        let (rate, option) = (buckets.rate(), rated.option());
        let seconds = retry_after_ms.div_ceil(1_000);
        let message = format!(
            "You ask more often than the server's rate_limits.{option} ({} in {} ms) allows: retry in {seconds} s",
            rate.count, rate.per_ms
        );
        let error = Error::new(Code::PrincipalBusy, word::RATE, message);
        Some(self.refuse(error.with_retry_after(seconds)))
    }

    /// Whom the request counts against.
    fn account(&self) -> Account {
        if let Some(principal) = self.principal() {
            return Account::Principal(principal.clone());
        }
        match &self.carrier {
            Carrier::Http { head, .. } => Account::at(head.client()),
            Carrier::Pipe { number, .. } => Account::Pipe(*number),
        }
    }
}
