//! Whether a sign-in is strong and recent enough for an operation (RFC 9470).

use crate::{challenge::Wanted, facts::Facts};

/// How and when the user of an access token signed in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignIn {
    /// `acr` of the token.
    pub acr: Option<String>,
    /// `auth_time` of the token, in seconds.
    pub auth_time: Option<f64>,
}

/// What an operation asks of the sign-in.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StepUp {
    /// Classes of sign-in, any of which does; none for any class.
    pub acr_values: Vec<String>,
    /// How many seconds ago it may have been.
    pub max_age_s: Option<u64>,
}

impl SignIn {
    /// What a token says of it.
    pub fn of(facts: &Facts) -> Self {
        Self {
            acr: facts.acr.clone(),
            auth_time: facts.auth_time,
        }
    }
}

impl StepUp {
    /// Whether a sign-in is enough at `now_s`. What a token does not say is not enough.
    pub fn is_met(&self, sign_in: &SignIn, leeway_s: u32, now_s: f64) -> bool {
        let is_strong = self.acr_values.is_empty()
            || (sign_in.acr.as_ref()).is_some_and(|acr| self.acr_values.contains(acr));
        let is_recent = self.max_age_s.is_none_or(|max_age_s| {
            let limit_s = max_age_s as f64 + f64::from(leeway_s);
            (sign_in.auth_time).is_some_and(|auth_time| now_s - auth_time <= limit_s)
        });
        is_strong && is_recent
    }

    /// What the challenge names.
    pub fn wanted(&self) -> Wanted {
        Wanted {
            scope: None,
            acr_values: Some(self.acr_values.join(" ")),
            max_age_s: self.max_age_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(acr_values: &[&str], max_age_s: Option<u64>, acr: Option<&str>, age_s: f64) -> bool {
        let step_up = StepUp {
            acr_values: acr_values.iter().map(|acr| (*acr).to_owned()).collect(),
            max_age_s,
        };
        let sign_in = SignIn {
            acr: acr.map(str::to_owned),
            auth_time: Some(1_000.0),
        };
        step_up.is_met(&sign_in, 30, 1_000.0 + age_s)
    }

    #[test]
    fn any_of_the_classes_does_and_nothing_like_them() {
        assert!(met(&["phr", "phrh"], None, Some("phrh"), 0.0));
        assert!(met(&[], None, None, 0.0));
        for acr in [None, Some("ph"), Some("PHR"), Some("phr phrh")] {
            assert!(!met(&["phr", "phrh"], None, acr, 0.0), "{acr:?}");
        }
    }

    #[test]
    fn a_sign_in_ages_and_clocks_may_differ() {
        assert!(met(&[], Some(300), None, 330.0));
        assert!(!met(&[], Some(300), None, 330.5));
        assert!(
            !StepUp {
                max_age_s: Some(300),
                ..StepUp::default()
            }
            .is_met(&SignIn::default(), 30, 0.0)
        );
    }
}
