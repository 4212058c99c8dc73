//! Whom a token is bound to, and whether that is the sender (RFC 8705 §3, RFC 9449 §6).

use subtle::ConstantTimeEq;

use crate::{
    certificate::Certificate, config::Dpop, credentials::Scheme, facts::Facts, proof::Proof,
    reason::Reason,
};

/// What ties a token to its sender.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Binding {
    /// Nothing: whoever has the token is its bearer.
    Bearer,
    /// A key that the sender proves to have.
    Dpop,
    /// The certificate of the connection.
    Mtls,
    /// Both of them.
    DpopAndMtls,
}

impl Binding {
    /// The word for telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::Dpop => "dpop",
            Self::Mtls => "mtls",
            Self::DpopAndMtls => "dpop+mtls",
        }
    }

    /// The scheme of a challenge to this sender.
    pub fn scheme(self) -> Scheme {
        match self {
            Self::Bearer | Self::Mtls => Scheme::Bearer,
            Self::Dpop | Self::DpopAndMtls => Scheme::Dpop,
        }
    }
}

/// Holds what the token is bound to against what the sender showed. A certificate that no token asks for is ignored:
/// meshes and proxies show theirs.
pub(crate) fn check(
    facts: &Facts,
    proof: Option<&Proof>,
    certificate: Option<&Certificate>,
    dpop: Dpop,
) -> Result<Binding, Reason> {
    match (facts.jkt.as_deref(), proof) {
        (Some(_), None) => return Err(Reason::DpopProofRequired),
        (Some(jkt), Some(proof)) if !equal(jkt, &proof.thumbprint) => {
            return Err(Reason::DpopBindingMismatch);
        }
        (None, Some(_)) => return Err(Reason::DpopProofUnexpected),
        (None, None) if dpop == Dpop::Required => return Err(Reason::DpopRequired),
        _ => {}
    }
    if let Some(x5t) = facts.x5t.as_deref() {
        let certificate = certificate.ok_or(Reason::MtlsCertificateRequired)?;
        if !certificate.thumbprint().is_some_and(|own| equal(x5t, own)) {
            return Err(Reason::MtlsCertificateMismatch);
        }
    }
    Ok(match (facts.jkt.is_some(), facts.x5t.is_some()) {
        (false, false) => Binding::Bearer,
        (true, false) => Binding::Dpop,
        (false, true) => Binding::Mtls,
        (true, true) => Binding::DpopAndMtls,
    })
}

fn equal(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
