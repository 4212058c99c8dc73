//! Asking an issuer about a token (RFC 7662 §2).

use std::{error, fmt, time::Duration};

use bytes::Bytes;
use mcp_auth::{Client, Inquiry, Judged, MalformedIntrospection, Posted, Unsigned};
use tokio::task::spawn_blocking;

use crate::{
    fetch::{Fetch, FetchError, fetch},
    tls::Trust,
};

/// Where an issuer is asked, and as whom.
#[derive(Clone, Debug)]
pub struct Introspector {
    /// Which of the configured issuers.
    pub issuer: usize,
    /// Its introspection endpoint: https, or http to this machine.
    pub url: String,
    /// Whether the host may have an address that is not reachable from everywhere.
    pub allow_private: bool,
    /// Whom the host's certificate must be of; `None` is whom the system trusts.
    pub trust: Option<Trust>,
    /// As whom.
    pub client: Client,
}

/// Why nothing is known of a token.
#[derive(Debug)]
pub enum IntrospectionError {
    /// No issuer is asked about tokens.
    Nobody,
    /// Who asks could not be said.
    Unsigned(Unsigned),
    /// No answer came.
    Fetch(FetchError),
    /// An answer with another status than 200.
    Status(u16),
    /// An answer that says nothing.
    Malformed(MalformedIntrospection),
}

impl Introspector {
    pub(crate) async fn ask(
        &self,
        inquiry: &Inquiry,
        now_s: u64,
    ) -> Result<Bytes, IntrospectionError> {
        let fetched = fetch(Fetch {
            url: self.url.clone(),
            allow_private: self.allow_private,
            trust: self.trust.clone(),
            form: Some(self.form(inquiry, now_s).await?),
        });
        match fetched.await.map_err(IntrospectionError::Fetch)? {
            fetched if fetched.status == 200 => Ok(fetched.body),
            fetched => Err(IntrospectionError::Status(fetched.status)),
        }
    }

    /// The question. It may have to be signed, which is done on a thread that serves no sockets.
    async fn form(&self, inquiry: &Inquiry, now_s: u64) -> Result<Posted, IntrospectionError> {
        let (client, inquiry) = (self.client.clone(), inquiry.clone());
        let asking = spawn_blocking(move || client.ask(&inquiry, now_s)).await;
        asking
            .unwrap_or(Err(Unsigned))
            .map_err(IntrospectionError::Unsigned)
    }
}

/// For how long an answer counts. What a token says of its own end is looked at each time, however long that is.
pub(crate) fn good_for(judged: &Judged, now_s: u64) -> Duration {
    match judged {
        Ok(facts) => {
            let left_s = facts.expires_at - now_s as f64;
            Duration::from_secs_f64(left_s.clamp(MIN_GOOD_S, MAX_GOOD_S))
        }
        Err(_) => REFUSED_FOR,
    }
}

impl From<MalformedIntrospection> for IntrospectionError {
    fn from(error: MalformedIntrospection) -> Self {
        Self::Malformed(error)
    }
}

impl fmt::Display for IntrospectionError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => out.write_str("no issuer is asked about tokens"),
            Self::Unsigned(error) => error.fmt(out),
            Self::Fetch(error) => error.fmt(out),
            Self::Status(status) => write!(out, "it answered {status}"),
            Self::Malformed(error) => write!(out, "what it answered says nothing: {error}"),
        }
    }
}

impl error::Error for IntrospectionError {}

/// Those who wait for the answer find it, although the token lives on within the leeway alone.
const MIN_GOOD_S: f64 = 1.0;
const MAX_GOOD_S: f64 = 30.0;
const REFUSED_FOR: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_auth::{Config, Introspection, Issuer, Reason, Settings};

    use super::*;

    fn good_for_ms(exp: &str) -> u128 {
        let issuer = Issuer {
            introspection: Some(Introspection {
                allow_unbounded: true,
            }),
            ..Issuer::new("https://a.example")
        };
        let config = Config::new(Settings::new("https://b.example", vec![issuer])).unwrap();
        let answer = format!(
            r#"{{"active":true,"iss":"https://a.example","aud":"https://b.example","sub":"s"{exp}}}"#
        );
        let judged = config.judge(0, answer.as_bytes(), 1_000).unwrap();
        assert!(judged.is_ok(), "{exp}");
        good_for(&judged.map(|facts| Arc::clone(&facts)), 1_000).as_millis()
    }

    #[test]
    fn an_answer_counts_until_the_token_ends_and_half_a_minute_at_most() {
        for (exp, milliseconds) in [
            ("", 30_000),
            (r#","exp":1060"#, 30_000),
            (r#","exp":1007.5"#, 7_500),
            (r#","exp":990"#, 1_000),
        ] {
            assert_eq!(good_for_ms(exp), milliseconds, "{exp}");
        }
        let refused = Err(Reason::Inactive);
        assert_eq!(good_for(&refused, 1_000), Duration::from_secs(5));
    }
}
