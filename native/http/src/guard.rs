//! An endpoint behind access tokens: what its requests are held against.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Instant,
};

use mcp_auth::{
    Accepted, Certificate, Config, Credentials, Decision, Document, Head, KeySet, Keys, Nonces,
    Refetch, Refused, Verified,
};
use mcp_driver::now;
use mcp_protocol::{Answer, Identity, RequestHead, Single};
use tokio::task::spawn_blocking;

use crate::{networks::Networks, token_cache::TokenCache, well_known};

/// What a [`Guard`] is made of.
#[derive(Debug)]
pub struct GuardOptions {
    /// What tokens must say.
    pub config: Arc<Config>,
    /// The issuers' keys, in the order of the configuration.
    pub keys: Keys,
    /// Where the certificates are that tokens may be bound to.
    pub certificates: CertificateSource,
    /// Whether the metadata is at the well-known path without the endpoint's path too.
    pub serves_root: bool,
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
    keys: RwLock<Keys>,
    known: TokenCache<Known>,
    document: Document,
}

/// What is known of a token that was found right.
#[derive(Clone)]
struct Known {
    facts: Verified,
    identity: Identity,
}

/// What became of a request's credentials.
pub(crate) struct Checked {
    pub(crate) decision: Decision,
    /// The identity that was made when the token was verified.
    pub(crate) identity: Option<Identity>,
}

impl Guard {
    /// With these options.
    pub fn new(options: GuardOptions) -> Self {
        Self {
            keys: RwLock::new(options.keys.clone()),
            known: TokenCache::new(),
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
        if let Some(source) = keys.sources.get_mut(issuer) {
            source.set = set;
            self.known.clear();
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

    pub(crate) fn now_s(&self) -> u64 {
        self.options.now_s.unwrap_or_else(|| now().wall_ms / 1_000)
    }

    /// A nonce for an answer, where proofs must have one.
    pub(crate) fn fresh_nonce(&self) -> Option<String> {
        let nonces: Option<&Nonces> = self.config().settings().nonces.as_ref();
        nonces.and_then(|nonces| nonces.issue(self.now_s()))
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
    ) -> Checked {
        let view = self.view(head);
        let credentials = match Credentials::read(&view, self.config()) {
            Ok(credentials) => credentials,
            Err(reason) => return Checked::refused(Refused::early(reason, &view)),
        };
        let known = self.known.get(&credentials.digest(), Instant::now());
        if let Some(known) = &known
            && !credentials.has_proof()
        {
            let facts = Some(Arc::clone(&known.facts));
            let keys = self.keys(asked);
            return Checked {
                decision: credentials.check(&view, self.config(), &keys, facts, self.now_s()),
                identity: Some(known.identity.clone()),
            };
        }
        let (guard, head) = (Arc::clone(self), Arc::clone(head));
        let refused = Refused::unavailable(credentials.scheme);
        let verifying = spawn_blocking(move || guard.verify(&head, known, asked));
        verifying
            .await
            .unwrap_or_else(|_| Checked::refused(refused))
    }

    /// Remembers a token with whose it is.
    pub(crate) fn remember(&self, head: &RequestHead, accepted: &Accepted, identity: &Identity) {
        if let Ok(credentials) = Credentials::read(&self.view(head), self.config()) {
            let known = Known {
                facts: Arc::clone(&accepted.facts),
                identity: identity.clone(),
            };
            self.known.put(credentials.digest(), known, Instant::now());
        }
    }

    fn verify(
        &self,
        head: &RequestHead,
        known: Option<Known>,
        asked: Option<(usize, Refetch)>,
    ) -> Checked {
        let view = self.view(head);
        let (facts, identity) = known.map(|known| (known.facts, known.identity)).unzip();
        let decision = match Credentials::read(&view, self.config()) {
            Ok(credentials) => {
                credentials.check(&view, self.config(), &self.keys(asked), facts, self.now_s())
            }
            Err(reason) => Decision::Refuse(Refused::early(reason, &view)),
        };
        Checked { decision, identity }
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

    fn keys(&self, asked: Option<(usize, Refetch)>) -> Keys {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let mut keys = keys.clone();
        if let Some((issuer, refetch)) = asked {
            keys.sources[issuer].refetch = refetch;
        }
        keys
    }
}

impl Checked {
    fn refused(refused: Refused) -> Self {
        Self {
            decision: Decision::Refuse(refused),
            identity: None,
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
