//! Tokens whose issuer is asked about them (RFC 7662), because they are opaque or because it should have the last word.

use std::{error, fmt, sync::Arc};

use mcp_json::Kind;
use zeroize::Zeroizing;

use crate::{
    claims,
    config::Config,
    credentials::{Credentials, Head},
    facts::Facts,
    jws::object,
    reason::Reason,
    secret::Secret,
    token::{TokenDigest, Verified},
};

/// How an issuer is asked.
#[derive(Clone, Copy, Debug)]
pub struct Introspection {
    /// Whether a token without `exp` is taken.
    pub allow_unbounded: bool,
}

/// What is known of a token: what it says, or why it is refused whoever shows it.
pub type Judged = Result<Verified, Reason>;

/// A token on its way to its issuer.
#[derive(Clone, Debug)]
pub struct Inquiry {
    digest: TokenDigest,
    form: Secret,
}

/// An answer that says nothing of a token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MalformedIntrospection;

impl Inquiry {
    pub(crate) fn about(credentials: &Credentials<'_>) -> Self {
        let token = percent_encoded(credentials.token.as_bytes());
        let form = format!("token={}&token_type_hint=access_token", *token);
        Self {
            digest: credentials.digest(),
            form: Secret::new(form.into_bytes()),
        }
    }

    /// What an issuer is asked again about a sender that was let in by `facts`; none where its tokens are signed.
    pub fn again(head: &Head<'_>, config: &Config, facts: &Facts) -> Option<Self> {
        let is_asked = config.introspected() == Some(facts.issuer_index);
        let credentials = is_asked.then(|| Credentials::read(head, config).ok());
        credentials
            .flatten()
            .map(|credentials| Self::about(&credentials))
    }

    /// By what the token is known.
    pub fn digest(&self) -> TokenDigest {
        self.digest
    }

    /// The form that is posted (RFC 7662 §2.1).
    pub fn form(&self) -> &Secret {
        &self.form
    }
}

impl Config {
    /// Judges what an issuer answered: the members stand for the claims of a signed token.
    ///
    /// # Errors
    /// When it is no answer (RFC 7662 §2.2): the token may be good.
    pub fn judge(
        &self,
        issuer: usize,
        answer: &[u8],
        now: u64,
    ) -> Result<Judged, MalformedIntrospection> {
        let document = object(answer.to_vec()).ok_or(MalformedIntrospection)?;
        let active = document
            .root()
            .get("active")
            .ok_or(MalformedIntrospection)?;
        if active.kind() != Kind::Bool {
            return Err(MalformedIntrospection);
        }
        if active.raw() != "true" {
            return Ok(Err(Reason::Inactive));
        }
        let token_type = document.root().get("token_type");
        let is_access_token = token_type.is_none_or(|node| {
            let name = node.as_str().unwrap_or_default();
            ["bearer", "dpop"].contains(&&*name.to_ascii_lowercase())
        });
        Ok(match is_access_token {
            true => claims::check(&document, self, issuer, now).map(Arc::new),
            false => Err(Reason::UnexpectedTyp),
        })
    }

    /// The issuer that is asked about its tokens; an opaque token can only be one of its.
    pub fn introspected(&self) -> Option<usize> {
        let mut issuers = self.issuers().iter();
        issuers.position(|issuer| issuer.introspection.is_some())
    }
}

/// Everything but unreserved characters as an escape (WHATWG URL, `application/x-www-form-urlencoded`).
pub(crate) fn percent_encoded(bytes: &[u8]) -> Zeroizing<String> {
    let mut encoded = Zeroizing::new(String::with_capacity(3 * bytes.len()));
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(*byte));
            }
            _ => {
                encoded.push('%');
                encoded.push(char::from(HEX[usize::from(byte >> 4)]));
                encoded.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    encoded
}

impl fmt::Display for MalformedIntrospection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("it is no JSON object whose \"active\" is true or false")
    }
}

impl error::Error for MalformedIntrospection {}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::{Decision, check},
        config::{Issuer, Settings},
        key_set::Keys,
    };

    const NOW: u64 = 1_000;
    const ACTIVE: &str =
        r#""active":true,"iss":"https://a.example","aud":"https://b.example/mcp","sub":"s""#;

    fn config(allow_unbounded: bool) -> Config {
        let issuer = Issuer {
            introspection: Some(Introspection { allow_unbounded }),
            ..Issuer::new("https://a.example")
        };
        Config::new(Settings::new("https://b.example/mcp", vec![issuer])).unwrap()
    }

    fn judged(members: &str) -> Result<Judged, MalformedIntrospection> {
        config(false).judge(0, format!("{{{members}}}").as_bytes(), NOW)
    }

    fn reason(members: &str) -> Reason {
        judged(members).unwrap().unwrap_err()
    }

    fn decide(token: &str, config: &Config) -> Decision {
        let value = format!("Bearer {token}");
        let head = Head {
            method: "POST",
            target: "/mcp",
            authorization: vec![value.as_bytes()],
            dpop: Vec::new(),
            certificate: None,
        };
        check(
            &head,
            config,
            &Keys {
                sources: Vec::new(),
            },
            NOW,
        )
    }

    #[test]
    fn an_active_token_says_what_a_signed_one_would() {
        let facts = judged(&format!(
            r#"{ACTIVE},"exp":1060,"scope":"a b","client_id":"c","token_type":"bearer""#
        ));
        let facts = facts.unwrap().unwrap();
        assert_eq!(
            (&*facts.subject, facts.client_id.as_deref()),
            ("s", Some("c"))
        );
        assert_eq!(facts.scopes.iter().collect::<Vec<_>>(), ["a", "b"]);
        assert!((facts.expires_at - 1_060.0).abs() < f64::EPSILON);
    }

    #[test]
    fn only_true_is_active_and_what_is_no_answer_says_nothing() {
        assert_eq!(reason(r#""active":false"#), Reason::Inactive);
        for none in [
            "",
            r#""active":"true""#,
            r#""active":1"#,
            r#""active":null"#,
            r#""sub":"s""#,
        ] {
            assert_eq!(judged(none).unwrap_err(), MalformedIntrospection, "{none}");
        }
        for body in ["", "[]", "true", r#"{"active":true,"active":true}"#] {
            let error = config(false).judge(0, body.as_bytes(), NOW).unwrap_err();
            assert_eq!(error, MalformedIntrospection, "{body}");
        }
    }

    #[test]
    fn members_are_held_to_what_claims_are() {
        let exp = r#""exp":1060"#;
        let audience = ACTIVE.replace("b.example/mcp", "b.example/mcp/");
        for (members, expected) in [
            (ACTIVE.to_owned(), Reason::MissingClaim),
            (format!(r#"{ACTIVE},"exp":900"#), Reason::Expired),
            (format!(r#"{ACTIVE},"exp":"1060""#), Reason::InvalidClaim),
            (format!(r#"{ACTIVE},{exp},"nbf":2000"#), Reason::NotYetValid),
            (
                format!(r#"{ACTIVE},{exp},"scope":["a"]"#),
                Reason::InvalidClaim,
            ),
            (
                format!(r#"{ACTIVE},{exp},"cnf":{{"x":1}}"#),
                Reason::UnsupportedConfirmation,
            ),
            (
                format!(r#"{ACTIVE},{exp},"token_type":"N_A""#),
                Reason::UnexpectedTyp,
            ),
            (
                format!(r#"{ACTIVE},{exp},"token_type":7"#),
                Reason::UnexpectedTyp,
            ),
            (format!("{audience},{exp}"), Reason::InvalidAudience),
            (
                format!("{},{exp}", ACTIVE.replace("a.example", "A.example")),
                Reason::InvalidIssuer,
            ),
            (
                format!(r#""active":true,"aud":"https://b.example/mcp","sub":"s",{exp}"#),
                Reason::InvalidIssuer,
            ),
            (
                format!(r#""active":true,"iss":"https://a.example","sub":"s",{exp}"#),
                Reason::MissingClaim,
            ),
            (
                format!(
                    r#""active":true,"iss":"https://a.example","aud":"https://b.example/mcp",{exp}"#
                ),
                Reason::MissingClaim,
            ),
        ] {
            assert_eq!(reason(&members), expected, "{members}");
        }
    }

    #[test]
    fn a_token_without_an_end_is_the_hosts_choice() {
        let answer = format!("{{{ACTIVE}}}");
        let facts = config(true)
            .judge(0, answer.as_bytes(), NOW)
            .unwrap()
            .unwrap();
        assert!(facts.expires_at.is_infinite());
    }

    #[test]
    fn the_only_issuer_is_asked_about_whatever_comes() {
        for token in ["opaque", "a.b.c", "eyJhbGciOiJub25lIn0.e30."] {
            let Decision::Inquire(inquiry) = decide(token, &config(false)) else {
                panic!("{token} is not asked about");
            };
            let form = format!("token={token}&token_type_hint=access_token");
            assert_eq!(inquiry.form().bytes(), form.as_bytes());
        }
        let Decision::Refuse(refused) = decide(&"x".repeat(16_385), &config(false)) else {
            panic!("a large token is asked about");
        };
        assert_eq!(refused.reason, Reason::TokenTooLarge);
    }

    #[test]
    fn beside_others_it_is_asked_about_its_own_and_opaque_tokens() {
        let issuers = vec![
            Issuer::new("https://c.example"),
            Issuer {
                introspection: Some(Introspection {
                    allow_unbounded: false,
                }),
                ..Issuer::new("https://a.example")
            },
        ];
        let config = Config::new(Settings::new("https://b.example/mcp", issuers)).unwrap();
        let jwt = |issuer: &str| {
            let parts = [
                r#"{"alg":"ES256"}"#,
                &format!(r#"{{"iss":"{issuer}"}}"#),
                "s",
            ];
            parts
                .map(|part| crate::base64url::encode(part.as_bytes()))
                .join(".")
        };
        let is_asked = |token: &str| matches!(decide(token, &config), Decision::Inquire(_));
        assert!(is_asked("opaque") && is_asked(&jwt("https://a.example")));
        let Decision::Refuse(refused) = decide(&jwt("https://d.example"), &config) else {
            panic!("an unknown issuer is asked");
        };
        assert_eq!(refused.reason, Reason::InvalidIssuer);
    }

    #[test]
    fn what_is_posted_is_escaped_and_never_shown() {
        assert_eq!(
            &*percent_encoded("a+b/c=&é~".as_bytes()),
            "a%2Bb%2Fc%3D%26%C3%A9~"
        );
        let Decision::Inquire(inquiry) = decide("hidden", &config(false)) else {
            panic!("it is not asked about");
        };
        assert!(!format!("{inquiry:?}").contains("hidden"));
    }
}
