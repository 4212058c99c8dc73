//! An endpoint behind access tokens: what its requests are held against.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use mcp_auth::{
    Accepted, Certificate, Config, Credentials, Decision, Document, Head, Inquiry, Judged, KeySet,
    Keys, Nonces, Reason, Refetch, Refused,
};
use mcp_driver::now;
use mcp_protocol::{Account, Answer, Buckets, Identity, Now, Rate, RequestHead, Single};
use tokio::task::spawn_blocking;

use crate::{
    introspection::{self, IntrospectionError, Introspector},
    networks::Networks,
    token_cache::TokenCache,
    well_known,
};

/// What a [`Guard`] is made of.
#[derive(Debug)]
pub struct GuardOptions {
    /// What tokens must say.
    pub config: Arc<Config>,
    /// The issuers' keys, in the order of the configuration.
    pub keys: Keys,
    /// How the issuer is asked whose tokens are not verified here.
    pub introspector: Option<Introspector>,
    /// Where the certificates are that tokens may be bound to.
    pub certificates: CertificateSource,
    /// Whether the metadata is at the well-known path without the endpoint's path too.
    pub serves_root: bool,
    /// How often one address may fail.
    pub failures: Rate,
    /// Whether the host is asked about each sender, although it has the right token.
    pub settles: bool,
    /// The second at which everything is judged, for tests; `None` for that of the wall clock.
    pub now_s: Option<u64>,
}

/// Where a client's certificate is found (RFC 8705 §3).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CertificateSource {
    /// Nowhere: a token that is bound to one is refused.
    None,
    /// The handshake of our own TLS.
    Tls,
    /// A header of proxies that end the TLS of clients (RFC 9440).
    Proxy {
        /// Who is believed.
        peers: Networks,
        /// The name of the header, lower case.
        header: String,
    },
}

/// Checks access tokens for one endpoint. Shared by all of its connections.
pub struct Guard {
    options: GuardOptions,
    keys: RwLock<Arc<Keys>>,
    known: TokenCache<Known>,
    failures: Buckets<Account>,
    document: Document,
}

/// What is known of a token that was found right, or that its issuer was asked about.
#[derive(Clone)]
struct Known {
    judged: Judged,
    /// Absent until somebody came in with the token.
    identity: Option<Identity>,
    /// Until when that counts, on the clock that never goes back, where an issuer said it.
    until_ms: Option<u64>,
}

/// What became of a request's credentials.
pub(crate) struct Checked {
    pub(crate) decision: Decision,
    /// The identity that was made when the token was verified.
    pub(crate) identity: Option<Identity>,
    /// How often all tokens had been forgotten before.
    pub(crate) clears: u64,
}

impl Guard {
    /// With these options.
    pub fn new(options: GuardOptions) -> Self {
        Self {
            keys: RwLock::new(Arc::new(options.keys.clone())),
            known: TokenCache::new(),
            failures: Buckets::new(options.failures),
            document: Document::new(&options.config),
            options,
        }
    }

    /// What tokens must say.
    pub fn config(&self) -> &Arc<Config> {
        &self.options.config
    }

    /// Takes the newer keys of an issuer, or none when the old ones may serve no longer. Tokens that were found right
    /// under the old ones are verified again.
    pub fn set_keys(&self, issuer: usize, set: Option<Arc<KeySet>>) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = Arc::make_mut(&mut keys).sources.get_mut(issuer) {
            source.set = set;
            self.known.clear();
        }
    }

    /// Whether the sender's address may fail once more; after how many seconds, if not.
    pub(crate) fn admits(&self, head: &RequestHead, now: Now) -> Result<(), u64> {
        let account = Account::at(head.client());
        let checked = self.failures.check(&account, now);
        checked.map_err(|retry_after_ms| retry_after_ms.div_ceil(1_000))
    }

    /// Counts a refusal, if it is one of credentials.
    pub(crate) fn note(&self, head: &RequestHead, reason: Reason) {
        if reason.is_failure() {
            // One that came while the bucket was emptied by another is answered all the same.
            let _ = self.failures.take(&Account::at(head.client()), now());
        }
    }

    /// Takes away what `head` says of certificates and no trusted proxy said (RFC 9440 §2.4).
    pub(crate) fn drop_hearsay(&self, head: &mut RequestHead) {
        let hearsay: &[&str] = match &self.options.certificates {
            CertificateSource::None => &[],
            CertificateSource::Proxy { peers, .. } if peers.contain(head.peer()) => &[],
            CertificateSource::Proxy { header, .. } => &[header, CLIENT_CERT, CLIENT_CERT_CHAIN],
            CertificateSource::Tls => &[CLIENT_CERT, CLIENT_CERT_CHAIN],
        };
        for name in hearsay {
            head.remove(name);
        }
    }

    pub(crate) fn settles(&self) -> bool {
        self.options.settles
    }

    /// The second at which a request of this time is judged.
    fn now_s(&self, now: Now) -> u64 {
        self.options.now_s.unwrap_or(now.wall_ms / 1_000)
    }

    /// A nonce for an answer, where proofs must have one.
    pub(crate) fn fresh_nonce(&self) -> Option<String> {
        let nonces: Option<&Nonces> = self.config().settings().nonces.as_ref();
        nonces.and_then(|nonces| nonces.issue(self.now_s(now())))
    }

    /// The answer to a request for the metadata.
    pub(crate) fn metadata(&self, head: &RequestHead) -> Option<Answer> {
        well_known::answer(&self.document, self.options.serves_root, head)
    }

    /// Decides over a request's credentials. Signatures are verified on a thread that serves no sockets.
    ///
    /// `asked` is the issuer that was asked for newer keys on behalf of this request, and what came of it.
    pub(crate) async fn check(
        self: &Arc<Self>,
        head: &Arc<RequestHead>,
        asked: Option<(usize, Refetch)>,
        now: Now,
    ) -> Checked {
        let clears = self.known.clears();
        let view = self.view(head);
        let credentials = match Credentials::read(&view, self.config()) {
            Ok(credentials) => credentials,
            Err(reason) => return Checked::refused(Refused::early(reason, &view)),
        };
        let (judged, identity) = match self.known(&credentials, now) {
            Some(known) => (Some(known.judged), known.identity),
            None => (None, None),
        };
        let decision = if judged.is_some() && !credentials.has_proof() {
            self.decide(&credentials, &view, judged, asked, now)
        } else {
            let (guard, head) = (Arc::clone(self), Arc::clone(head));
            let refused = Refused::unavailable(credentials.scheme);
            let verifying = spawn_blocking(move || guard.verify(&head, judged, asked, now));
            let verified = verifying.await;
            verified.unwrap_or(Decision::Refuse(refused))
        };
        Checked {
            decision,
            identity,
            clears,
        }
    }

    /// Remembers a token with whose it is, unless all were forgotten since it was [checked](Checked::clears).
    pub(crate) fn remember(
        &self,
        head: &RequestHead,
        accepted: &Accepted,
        identity: &Identity,
        clears: u64,
    ) {
        let Ok(credentials) = Credentials::read(&self.view(head), self.config()) else {
            return;
        };
        let now = now();
        let until_ms = match self.config().introspected() == Some(accepted.facts.issuer_index) {
            true => match self.known(&credentials, now) {
                Some(Known {
                    judged: Ok(_),
                    until_ms,
                    ..
                }) => until_ms,
                // What the issuer said is too old by now, or it says otherwise.
                _ => return,
            },
            false => None,
        };
        let known = Known {
            judged: Ok(Arc::clone(&accepted.facts)),
            identity: Some(identity.clone()),
            until_ms,
        };
        self.known.put(credentials.digest(), known, now, clears);
    }

    /// Asks the issuer about a token, and remembers what it says.
    ///
    /// # Errors
    /// When it does not say.
    pub async fn introspect(&self, inquiry: &Inquiry) -> Result<(), IntrospectionError> {
        let introspector = self.options.introspector.as_ref();
        let introspector = introspector.ok_or(IntrospectionError::Nobody)?;
        let answer = introspector.ask(inquiry).await?;
        let now = now();
        let now_s = self.now_s(now);
        let judged = self.config().judge(introspector.issuer, &answer, now_s)?;
        let good_for = introspection::good_for(&judged, now_s);
        let known = Known {
            until_ms: Some(now.monotonic_ms + good_for.as_millis() as u64),
            judged,
            identity: None,
        };
        let clears = self.known.clears();
        self.known.put(inquiry.digest(), known, now, clears);
        Ok(())
    }

    fn known(&self, credentials: &Credentials<'_>, now: Now) -> Option<Known> {
        let known = self.known.get(&credentials.digest(), now)?;
        let counts = |until_ms| now.monotonic_ms < until_ms;
        known.until_ms.is_none_or(counts).then_some(known)
    }

    fn verify(
        &self,
        head: &RequestHead,
        judged: Option<Judged>,
        asked: Option<(usize, Refetch)>,
        now: Now,
    ) -> Decision {
        let view = self.view(head);
        match Credentials::read(&view, self.config()) {
            Ok(credentials) => self.decide(&credentials, &view, judged, asked, now),
            Err(reason) => Decision::Refuse(Refused::early(reason, &view)),
        }
    }

    fn decide(
        &self,
        credentials: &Credentials<'_>,
        view: &Head<'_>,
        judged: Option<Judged>,
        asked: Option<(usize, Refetch)>,
        now: Now,
    ) -> Decision {
        let keys = self.keys(asked);
        credentials.check(view, self.config(), &keys, judged, self.now_s(now))
    }

    /// The part of a head that credentials are in.
    fn view<'a>(&self, head: &'a RequestHead) -> Head<'a> {
        Head {
            method: head.method(),
            target: head.target(),
            authorization: head.values("authorization").collect(),
            dpop: head.values("dpop").collect(),
            certificate: self.certificate(head),
        }
    }

    /// The client's certificate, in a head without [hearsay](Self::drop_hearsay).
    fn certificate(&self, head: &RequestHead) -> Option<Certificate> {
        match &self.options.certificates {
            CertificateSource::None => None,
            CertificateSource::Tls => head.tls().and_then(|tls| tls.certificate.clone()),
            CertificateSource::Proxy { header, .. } => match head.single(header) {
                Single::Absent => None,
                Single::Value(value) => Some(Certificate::from_header(value)),
                Single::Repeated => Some(Certificate::unreadable()),
            },
        }
    }

    fn keys(&self, asked: Option<(usize, Refetch)>) -> Arc<Keys> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let mut keys = Arc::clone(&keys);
        if let Some((issuer, refetch)) = asked {
            Arc::make_mut(&mut keys).sources[issuer].refetch = refetch;
        }
        keys
    }
}

impl Checked {
    fn refused(refused: Refused) -> Self {
        Self {
            decision: Decision::Refuse(refused),
            identity: None,
            clears: 0,
        }
    }
}

/// Shows whose endpoint it is.
impl fmt::Debug for Guard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Guard({})", self.config().resource().as_str())
    }
}

/// RFC 9440 §2.2, §2.3
const CLIENT_CERT: &str = "client-cert";
const CLIENT_CERT_CHAIN: &str = "client-cert-chain";
