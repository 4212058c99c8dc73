//! As whom an issuer is asked about tokens (RFC 7662 §2.1).

use std::{fmt, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    client_key::{ClientKey, Unsigned},
    introspection::{Inquiry, percent_encoded},
    secret::Secret,
};

/// This server as a confidential client of an issuer.
#[derive(Clone)]
pub struct Client(Proof);

/// What is posted to an issuer.
#[derive(Clone, Debug)]
pub struct Posted {
    /// The value of `Authorization`, where the client is named there.
    pub authorization: Option<Secret>,
    /// The form.
    pub form: Secret,
}

#[derive(Clone)]
enum Proof {
    /// The value of `Authorization`.
    Secret(Secret),
    Key {
        key: Arc<ClientKey>,
        client_id: String,
        audience: String,
    },
}

impl Client {
    /// `client_secret_basic` (RFC 6749 §2.3.1).
    pub fn with_secret(client_id: &str, secret: &Secret) -> Self {
        let (id, secret) = (
            percent_encoded(client_id.as_bytes()),
            percent_encoded(secret.bytes()),
        );
        let pair = Secret::new(format!("{}:{}", *id, *secret).into_bytes());
        let basic = format!("Basic {}", STANDARD.encode(pair.bytes()));
        Self(Proof::Secret(Secret::new(basic.into_bytes())))
    }

    /// `private_key_jwt` (RFC 7523 §2.2): `audience` is what the issuer goes by in assertions.
    pub fn with_key(client_id: &str, key: Arc<ClientKey>, audience: &str) -> Self {
        Self(Proof::Key {
            key,
            client_id: client_id.to_owned(),
            audience: audience.to_owned(),
        })
    }

    /// A question with who asks it. `now` is in seconds of the wall clock; a signature takes up to a few milliseconds.
    ///
    /// # Errors
    /// When the assertion cannot be signed.
    pub fn ask(&self, inquiry: &Inquiry, now: u64) -> Result<Posted, Unsigned> {
        let form = inquiry.form();
        match &self.0 {
            Proof::Secret(authorization) => Ok(Posted {
                authorization: Some(authorization.clone()),
                form: form.clone(),
            }),
            Proof::Key {
                key,
                client_id,
                audience,
            } => {
                let assertion = key.assert(client_id, audience, now)?;
                let parts = [form.bytes(), ASSERTION, assertion.bytes()];
                Ok(Posted {
                    authorization: None,
                    form: Secret::new(parts.concat()),
                })
            }
        }
    }
}

/// Shows in which way it says who it is.
impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Proof::Secret(_) => out.write_str("Client(client_secret_basic)"),
            Proof::Key { key, .. } => write!(out, "Client(private_key_jwt, {key:?})"),
        }
    }
}

/// An assertion is base64url and dots: it needs no escapes.
const ASSERTION: &[u8] = b"&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::{Decision, check},
        client_key::tests::recorded,
        config::{Config, Issuer, Settings},
        credentials::Head,
        introspection::Introspection,
        key_set::Keys,
    };

    const SECRET: &str = "s e";

    fn inquiry() -> Inquiry {
        let issuer = Issuer {
            introspection: Some(Introspection {
                allow_unbounded: false,
            }),
            ..Issuer::new("https://a.example")
        };
        let config = Config::new(Settings::new("https://b.example/mcp", vec![issuer])).unwrap();
        let head = Head {
            method: "POST",
            target: "/mcp",
            authorization: vec![b"Bearer opaque"],
            dpop: Vec::new(),
            certificate: None,
        };
        let keys = Keys {
            sources: Vec::new(),
        };
        match check(&head, &config, &keys, 0) {
            Decision::Inquire(inquiry) => inquiry,
            other => panic!("{other:?}"),
        }
    }

    fn secret() -> Client {
        Client::with_secret("id:1", &Secret::new(SECRET.into()))
    }

    fn text(secret: &Secret) -> &str {
        str::from_utf8(secret.bytes()).unwrap()
    }

    #[test]
    fn a_secret_stands_in_authorization() {
        let posted = secret().ask(&inquiry(), 0).unwrap();
        let expected = format!("Basic {}", STANDARD.encode("id%3A1:s%20e"));
        assert_eq!(text(&posted.authorization.unwrap()), expected);
        assert_eq!(
            text(&posted.form),
            "token=opaque&token_type_hint=access_token"
        );
    }

    #[test]
    fn a_key_asserts_in_the_form() {
        let client = Client::with_key(
            "id",
            Arc::new(recorded("client-ed25519")),
            "https://a.example",
        );
        let posted = client.ask(&inquiry(), 0).unwrap();
        assert!(posted.authorization.is_none());
        let expected = "token=opaque&token_type_hint=access_token&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&client_assertion=ey";
        assert!(text(&posted.form).starts_with(expected));
        let again = client.ask(&inquiry(), 0).unwrap();
        assert_ne!(text(&posted.form), text(&again.form));
    }

    #[test]
    fn nothing_is_shown() {
        let key = Client::with_key(
            "id",
            Arc::new(recorded("client-ed25519")),
            "https://a.example",
        );
        for client in [secret(), key] {
            let shown = format!("{client:?} {:?}", client.ask(&inquiry(), 0));
            let secrets = ["eyJ", SECRET, "opaque", "s%20e"];
            assert!(!secrets.iter().any(|one| shown.contains(one)), "{shown}");
        }
    }
}
