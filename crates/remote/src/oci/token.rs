//! Tokens, which a registry requests instead of a password, and the allowed recipients of that password.
//!
//! The registry names the token server. The password is sent there only over an encrypted connection, unless the
//! server is this machine. A fake registry could name any server.

use http::header::{AUTHORIZATION, HeaderValue};
use http::{Method, StatusCode};
use precast_store::remote::RemoteError;
use reqwest::Url;
use serde::Deserialize;

use super::At;
use super::ask::{Purpose, SHORT};
use super::credentials::Login;
use crate::url::is_here;
use crate::words;

/// The registry's description of its token server.
#[derive(Debug, PartialEq, Eq)]
struct Challenge {
    realm: String,
    service: Option<String>,
}

/// The response of a token server.
#[derive(Deserialize)]
struct Made {
    token: Option<String>,
    access_token: Option<String>,
}

impl Challenge {
    /// Finds the challenge that requests a token.
    fn find(headers: &[HeaderValue]) -> Option<Self> {
        headers.iter().filter_map(|header| header.to_str().ok()).find_map(Self::parse)
    }

    fn parse(header: &str) -> Option<Self> {
        let challenges = http_auth::parser::ChallengeParser::new(header).filter_map(Result::ok);
        let bearer = challenges.into_iter().find(|found| found.scheme.eq_ignore_ascii_case("Bearer"))?;
        let find = |wanted: &str| {
            let found = bearer.params.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.to_unescaped())
        };
        Some(Self { realm: find("realm")?, service: find("service") })
    }
}

impl At {
    /// Gets a token if the registry requests one, and returns it if it differs from the refused one. Concurrent
    /// requests that were refused may get the same token.
    pub(super) async fn authorize(
        &self,
        challenges: &[HeaderValue],
        purpose: Purpose,
        refused: Option<String>,
    ) -> Result<Option<String>, RemoteError> {
        let Some(challenge) = Challenge::find(challenges) else { return Ok(None) };
        let asked = self.make_out(&challenge, purpose);
        let made = tokio::time::timeout(self.patience.answer, asked).await.map_err(|_| self.slow())??;
        self.tokens.lock().await.insert(purpose, made.clone());
        Ok(if refused.as_ref() == Some(&made) { None } else { Some(made) })
    }

    async fn make_out(&self, challenge: &Challenge, purpose: Purpose) -> Result<String, RemoteError> {
        let url = self.realm(challenge, purpose)?;
        let mut ask = self.client.request(Method::GET, url.clone());
        if let Some(login) = &self.login {
            ask = ask.header(AUTHORIZATION, self.shown_to(login, &url)?);
        }
        let sent = tokio::time::timeout(self.patience.silence, ask.send()).await.map_err(|_| self.slow())?;
        let answer = sent.map_err(|error| self.unreachable(words(&error)))?;
        match answer.status() {
            StatusCode::OK => {}
            status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => {
                return Err(self.denied(format!("the token request failed: HTTP status {}", status.as_u16())));
            }
            status => return Err(self.unreachable(format!("HTTP status {}", status.as_u16()))),
        }
        let body = self.body(answer, SHORT).await?;
        let made =
            serde_json::from_slice::<Made>(&body).ok().and_then(|made| made.token.or(made.access_token));
        made.ok_or_else(|| self.damaged("invalid response to a token request"))
    }

    /// Returns the URL to request a token from.
    fn realm(&self, challenge: &Challenge, purpose: Purpose) -> Result<Url, RemoteError> {
        let wrong = || self.damaged("invalid authentication challenge");
        let mut url: Url = challenge.realm.parse().map_err(|_| wrong())?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(wrong());
        }
        let actions = if purpose == Purpose::Push { "pull,push" } else { "pull" };
        let scope = format!("repository:{}:{actions}", self.reference.repository());
        let mut query = url.query_pairs_mut();
        query.append_pair("scope", &scope);
        query.extend_pairs(challenge.service.iter().map(|service| ("service", service)));
        drop(query);
        Ok(url)
    }

    /// Returns the header that sends a password to the token server.
    pub(super) fn shown_to(&self, login: &Login, url: &Url) -> Result<HeaderValue, RemoteError> {
        let host = url.host_str().unwrap_or_default();
        if url.scheme() != "https" && !is_here(host) {
            return Err(RemoteError::Denied {
                place: self.place.clone(),
                reason: format!("the password would be sent to `{host}` unencrypted"),
                remedy: "run `docker logout HOST` or `podman logout HOST` to read without a password, or ask the \
                         registry's operator for an `https://` realm",
            });
        }
        login.header().ok_or_else(|| self.denied("the name or password cannot be encoded".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_challenge_is_found_among_others() {
        let find = |headers: &[&str]| {
            let headers: Vec<_> = headers.iter().map(|text| HeaderValue::from_str(text).unwrap()).collect();
            Challenge::find(&headers)
        };
        let wanted = |service: Option<&str>| {
            Some(Challenge { realm: "https://a/t".to_owned(), service: service.map(str::to_owned) })
        };
        assert_eq!(find(&[r#"Bearer realm="https://a/t",service="s",scope="x""#]), wanted(Some("s")));
        assert_eq!(find(&[r#"Basic realm="b""#, r#"bearer Realm="https://a/t""#]), wanted(None));
        assert_eq!(find(&[r#"Basic realm="b", Bearer realm="https://a/t""#]), wanted(None));
        for none in [&[][..], &[r#"Basic realm="https://a/t""#], &["Bearer service=\"s\""], &["\"", "=,="]] {
            assert_eq!(find(none), None, "{none:?}");
        }
    }
}
