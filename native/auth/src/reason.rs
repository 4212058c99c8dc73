//! Why a request is refused, and what the client is told: one table.

/// Makes the reasons and the table of what follows from each.
macro_rules! reasons {
    ($(#[doc = $doc:literal] $name:ident: $word:literal, $status:literal, $error:expr, $schemes:ident;)*) => {
        /// Why a request is refused. The word is for logs, metrics and tests; a client never sees it.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum Reason {
            $(#[doc = $doc] $name,)*
        }

        static TABLE: &[Row] = &[$(Row {
            reason: Reason::$name,
            word: $word,
            status: $status,
            error: $error,
            schemes: Schemes::$schemes,
        },)*];
    };
}

reasons! {
    /// The request shows no credentials: discovery begins so.
    NoCredentials: "no_credentials", 401, None, Enabled;
    /// Credentials of a scheme that is not served; answered as if there were none.
    UnsupportedScheme: "unsupported_scheme", 401, None, Enabled;
    /// Two `Authorization` lines.
    AuthorizationRepeated: "authorization_repeated", 400, Some(REQUEST), Enabled;
    /// An access token in the query, where logs would keep it.
    TokenInQuery: "token_in_query", 400, Some(REQUEST), Enabled;
    /// A scheme followed by nothing; the word is that of any other malformed token.
    EmptyCredentials: "malformed_token", 400, Some(REQUEST), Enabled;
    /// Larger than `max_token_bytes`.
    TokenTooLarge: "token_too_large", 401, Some(TOKEN), Used;
    /// No compact JWS with a strict header.
    MalformedToken: "malformed_token", 401, Some(TOKEN), Used;
    /// `crit` (RFC 7515 §4.1.11): no extension is understood.
    UnsupportedCrit: "unsupported_crit", 401, Some(TOKEN), Used;
    /// An algorithm that is not allowed, or not the key's.
    AlgNotAllowed: "alg_not_allowed", 401, Some(TOKEN), Used;
    /// The issuer has no such key.
    UnknownKid: "unknown_kid", 401, Some(TOKEN), Used;
    /// More than one key could be meant.
    KeyAmbiguous: "key_ambiguous", 401, Some(TOKEN), Used;
    /// The key is not for signatures.
    KeyUnusable: "key_unusable", 401, Some(TOKEN), Used;
    /// An RSA key under `min_rsa_bits`.
    WeakKey: "weak_key", 401, Some(TOKEN), Used;
    /// Not signed by the key.
    InvalidSignature: "invalid_signature", 401, Some(TOKEN), Used;
    /// The claims are no JSON object whose names differ.
    MalformedClaims: "malformed_claims", 401, Some(TOKEN), Used;
    /// Another `typ`: not an access token.
    UnexpectedTyp: "unexpected_typ", 401, Some(TOKEN), Used;
    /// A required claim is not there.
    MissingClaim: "missing_claim", 401, Some(TOKEN), Used;
    /// Issued by somebody else.
    InvalidIssuer: "invalid_issuer", 401, Some(TOKEN), Used;
    /// Issued for another resource.
    InvalidAudience: "invalid_audience", 401, Some(TOKEN), Used;
    /// A claim of another type or form.
    InvalidClaim: "invalid_claim", 401, Some(TOKEN), Used;
    /// `exp` has passed.
    Expired: "expired", 401, Some(TOKEN), Used;
    /// `nbf` is to come.
    NotYetValid: "not_yet_valid", 401, Some(TOKEN), Used;
    /// `iat` is to come.
    IssuedInFuture: "issued_in_future", 401, Some(TOKEN), Used;
    /// Older than `max_token_age_s`.
    TokenTooOld: "token_too_old", 401, Some(TOKEN), Used;
    /// Bound to something that nobody here can check.
    UnsupportedConfirmation: "unsupported_confirmation", 401, Some(TOKEN), Used;
    /// Its issuer says that it is none, or none any more (RFC 7662 §2.2).
    Inactive: "inactive", 401, Some(TOKEN), Used;
    /// The host says that it was revoked.
    Revoked: "revoked", 401, Some(TOKEN), Used;
    /// The host does not know its subject.
    UnknownPrincipal: "unknown_principal", 401, Some(TOKEN), Used;
    /// The `DPoP` scheme without a proof.
    DpopMissing: "dpop_missing", 401, Some(PROOF), Dpop;
    /// More than one proof.
    DpopMultiple: "dpop_multiple", 401, Some(PROOF), Dpop;
    /// A proof beside the Bearer scheme.
    DpopSchemeRequired: "dpop_scheme_required", 401, Some(PROOF), Dpop;
    /// No compact JWS, or larger than is read.
    DpopMalformed: "dpop_malformed", 401, Some(PROOF), Dpop;
    /// Another `typ`.
    DpopTyp: "dpop_typ", 401, Some(PROOF), Dpop;
    /// An algorithm that is not allowed.
    DpopAlg: "dpop_alg", 401, Some(PROOF), Dpop;
    /// `crit`: no extension is understood.
    DpopCrit: "dpop_crit", 401, Some(PROOF), Dpop;
    /// No usable public key that fits the algorithm.
    DpopJwk: "dpop_jwk", 401, Some(PROOF), Dpop;
    /// Not signed by its own key.
    DpopSignature: "dpop_signature", 401, Some(PROOF), Dpop;
    /// For another method.
    DpopHtmMismatch: "dpop_htm_mismatch", 401, Some(PROOF), Dpop;
    /// For another URI.
    DpopHtuMismatch: "dpop_htu_mismatch", 401, Some(PROOF), Dpop;
    /// No time.
    DpopIatInvalid: "dpop_iat_invalid", 401, Some(PROOF), Dpop;
    /// Made later than now.
    DpopFuture: "dpop_future", 401, Some(PROOF), Dpop;
    /// Made too long ago.
    DpopStale: "dpop_stale", 401, Some(PROOF), Dpop;
    /// No id of 1 to 256 octets.
    DpopJtiInvalid: "dpop_jti_invalid", 401, Some(PROOF), Dpop;
    /// For no token.
    DpopAthMissing: "dpop_ath_missing", 401, Some(PROOF), Dpop;
    /// For another token.
    DpopAthMismatch: "dpop_ath_mismatch", 401, Some(PROOF), Dpop;
    /// Without a nonce of ours, or with an old one.
    DpopNonce: "dpop_nonce", 401, Some(USE_NONCE), Dpop;
    /// Seen before.
    DpopReplay: "dpop_replay", 401, Some(PROOF), Dpop;
    /// A bearer token where every token must be bound.
    DpopRequired: "dpop_required", 401, Some(TOKEN), Dpop;
    /// A bound token without a proof.
    DpopProofRequired: "dpop_proof_required", 401, Some(TOKEN), Dpop;
    /// A proof with a token that is not bound: it proves nothing of it.
    DpopProofUnexpected: "dpop_proof_unexpected", 401, Some(TOKEN), Dpop;
    /// Proven by another key than the token's.
    DpopBindingMismatch: "dpop_binding_mismatch", 401, Some(TOKEN), Dpop;
    /// Bound to a certificate, and the client shows none.
    MtlsCertificateRequired: "mtls_certificate_required", 401, Some(TOKEN), Used;
    /// Bound to another certificate.
    MtlsCertificateMismatch: "mtls_certificate_mismatch", 401, Some(TOKEN), Used;
    /// The host lets this principal in nowhere on this endpoint.
    MountDenied: "mount_denied", 403, None, Silent;
    /// The operation needs scopes that were not granted.
    InsufficientScope: "insufficient_scope", 403, Some(SCOPE), Used;
    /// The operation needs a stronger or more recent sign-in.
    StepUp: "step_up", 401, Some(STEP_UP), Used;
    /// This address failed too often.
    TooManyFailures: "too_many_failures", 429, None, Silent;
    /// The issuer's keys cannot be had.
    KeySourceUnavailable: "key_source_unavailable", 503, None, Silent;
    /// The issuer cannot be asked about the token.
    IntrospectionUnavailable: "introspection_unavailable", 503, None, Silent;
    /// Nobody can say whether the token was revoked.
    RevocationUnavailable: "revocation_unavailable", 503, None, Silent;
    /// Nobody can say who its subject is.
    PrincipalUnavailable: "principal_unavailable", 503, None, Silent;
    /// Nobody can say whether the proof was seen.
    ReplayUnavailable: "replay_unavailable", 503, None, Silent;
}

/// Whose challenges an answer carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Schemes {
    /// One of each scheme that is served.
    Enabled,
    /// That of the scheme that the request used.
    Used,
    /// `DPoP`, or Bearer where `DPoP` is off.
    Dpop,
    /// None: other credentials would not help.
    Silent,
}

/// Everything that follows from a reason.
struct Row {
    reason: Reason,
    word: &'static str,
    status: u16,
    error: Option<&'static str>,
    schemes: Schemes,
}

impl Reason {
    /// Every reason, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.reason)
    }

    /// The reason of this word. Of two with the same word it is the later one, which is about a token.
    pub fn parse(word: &str) -> Option<Self> {
        let row = TABLE.iter().rev().find(|row| row.word == word);
        row.map(|row| row.reason)
    }

    /// The word for logs.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The status of the answer.
    pub fn status(self) -> u16 {
        self.row().status
    }

    /// `error` of the challenge (RFC 6750 §3.1, RFC 9449 §7.1, RFC 9470 §3).
    pub fn error(self) -> Option<&'static str> {
        self.row().error
    }

    /// Whose challenges the answer carries.
    pub fn schemes(self) -> Schemes {
        self.row().schemes
    }

    /// Whether the answer asks for a nonce and brings one.
    pub fn brings_nonce(self) -> bool {
        self.error() == Some(USE_NONCE)
    }

    /// After how many seconds it is worth trying again, where that is all it takes.
    pub fn retry_after_s(self) -> Option<u64> {
        match self.status() {
            503 => Some(5),
            429 => Some(60),
            _ => None,
        }
    }

    /// Whether it counts as a failure of whoever sent the request: credentials were shown, and were not right.
    pub fn is_failure(self) -> bool {
        let shows_none = matches!(self, Self::NoCredentials | Self::UnsupportedScheme);
        matches!(self.status(), 400 | 401) && !shows_none && self != Self::StepUp
    }

    /// Whether the challenge suggests scopes: a refused proof has nothing to do with them.
    pub fn suggests_scope(self) -> bool {
        matches!(self.error(), None | Some(TOKEN | SCOPE))
    }

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

/// The fixed sentence that goes with an `error`: which check failed helps an attacker and changes nothing for a client.
pub(crate) fn description(error: &str) -> Option<&'static str> {
    let sentences = [
        (REQUEST, "The request's credentials are malformed"),
        (TOKEN, "The access token is not valid for this resource"),
        (PROOF, "The DPoP proof is not valid for this request"),
        (USE_NONCE, "A fresh DPoP nonce is required"),
        (SCOPE, "More scopes are needed for this operation"),
        (STEP_UP, "A stronger or more recent sign-in is needed"),
    ];
    let found = sentences.into_iter().find(|(name, _)| *name == error);
    found.map(|(_, sentence)| sentence)
}

const REQUEST: &str = "invalid_request";
const TOKEN: &str = "invalid_token";
const PROOF: &str = "invalid_dpop_proof";
const USE_NONCE: &str = "use_dpop_nonce";
const SCOPE: &str = "insufficient_scope";
const STEP_UP: &str = "insufficient_user_authentication";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_fixed_list() {
        for reason in Reason::all() {
            let mut words = TABLE.iter().filter(|row| row.word == reason.word());
            let doubled = reason.word() == "malformed_token";
            assert_eq!(
                words.by_ref().count(),
                1 + usize::from(doubled),
                "{reason:?}"
            );
        }
    }

    #[test]
    fn every_error_has_its_sentence() {
        for reason in Reason::all() {
            let error = reason.error();
            assert_eq!(error.is_some(), error.and_then(description).is_some());
        }
    }

    #[test]
    fn only_what_other_credentials_would_not_help_is_silent() {
        for reason in Reason::all() {
            let silent = reason.schemes() == Schemes::Silent;
            let helpless = matches!(reason.status(), 429 | 503) || reason == Reason::MountDenied;
            assert_eq!(silent, helpless, "{reason:?}");
        }
    }
}
