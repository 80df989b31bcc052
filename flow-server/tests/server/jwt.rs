//! JSON Web Tokens.

use std::time::{SystemTime, UNIX_EPOCH};

use flow_server::{JsonWebTokens, Server};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use crate::support::{Client, runtime};

const SECRET: &[u8] = b"a secret of the identity provider";

fn signed(claims: &Value, algorithm: Algorithm, secret: &[u8]) -> String {
    encode(
        &Header::new(algorithm),
        claims,
        &EncodingKey::from_secret(secret),
    )
    .unwrap()
}

fn in_seconds(seconds: i64) -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    i64::try_from(now).unwrap() + seconds
}

fn client() -> Client {
    let tokens = JsonWebTokens::hs256(SECRET)
        .unwrap()
        .audience("flows")
        .issuer("login")
        .operator_if("roles", "operator");
    let server = Server::new(runtime(&Default::default()).0).authentication(tokens);
    Client::new(server.router())
}

#[tokio::test]
async fn the_subject_of_a_token_is_the_owner() {
    let client = client();
    let exp = in_seconds(600);
    let claims = json!({ "sub": "ann", "aud": "flows", "iss": "login", "exp": exp });
    let ann = client.with_token(&signed(&claims, Algorithm::HS256, SECRET));
    let id = ann
        .started("Claim", json!({ "employee": "Ann", "amount": 30 }))
        .await;
    let path = format!("/executions/{id}");
    assert_eq!(ann.get(&path).await.expect(200)["owner"], "ann");
    ann.get("/metrics").await.problem(403, "forbidden");
    let claims = json!({ "sub": "ben", "aud": "flows", "iss": "login", "exp": exp });
    let ben = client.with_token(&signed(&claims, Algorithm::HS256, SECRET));
    ben.get(&path).await.problem(404, "not-found");
    let claims = json!({ "sub": "ops", "aud": "flows", "iss": "login", "exp": exp, "roles": ["x", "operator"] });
    let operator = client.with_token(&signed(&claims, Algorithm::HS256, SECRET));
    operator.get(&path).await.expect(200);
    assert!(operator.get("/metrics").await.status.is_success());
}

#[tokio::test]
async fn tokens_that_do_not_hold_are_refused() {
    let client = client();
    let good = json!({ "sub": "ann", "aud": "flows", "iss": "login", "exp": in_seconds(600) });
    let with = |field: &str, value: Value| {
        let mut claims = good.clone();
        claims[field] = value;
        signed(&claims, Algorithm::HS256, SECRET)
    };
    let without = |field: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(field);
        signed(&claims, Algorithm::HS256, SECRET)
    };
    let unsigned = {
        use base64::Engine as _;
        let encode = |value: Value| {
            base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string())
        };
        format!(
            "{}.{}.",
            encode(json!({ "alg": "none", "typ": "JWT" })),
            encode(good.clone())
        )
    };
    let bad = [
        with("exp", in_seconds(-600).into()),
        with("nbf", in_seconds(600).into()),
        with("iat", "today".into()),
        with("aud", "others".into()),
        with("iss", "others".into()),
        with("sub", "".into()),
        without("exp"),
        without("sub"),
        without("aud"),
        without("iss"),
        signed(&good, Algorithm::HS512, SECRET),
        signed(&good, Algorithm::HS256, b"another secret"),
        unsigned,
        "x.y.z".to_owned(),
    ];
    client
        .with_token(&with("sub", "ann".into()))
        .get("/flows")
        .await
        .expect(200);
    for (index, token) in bad.iter().enumerate() {
        let client = client
            .with_token(token)
            .from(&format!("10.0.0.{index}:5000"));
        client.get("/flows").await.problem(401, "unauthenticated");
    }
}

#[test]
fn keys_have_to_be_keys() {
    let refused = JsonWebTokens::rs256(b"no key").unwrap_err().to_string();
    assert!(refused.starts_with("this is not a public key"), "{refused}");
    assert!(JsonWebTokens::es256(b"no key").is_err());
    let shown = format!("{:?}", JsonWebTokens::hs256(SECRET).unwrap());
    assert!(!shown.contains("secret"), "{shown}");
}

/// A token with this header, which is signed as it stands.
fn signed_raw(header: &str, claims: &str) -> String {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    let message = format!("{}.{}", encode(header), encode(claims));
    let key = EncodingKey::from_secret(SECRET);
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key, Algorithm::HS256);
    format!("{message}.{}", signature.unwrap())
}

/// How each of the tokens is answered.
async fn statuses(tokens: JsonWebTokens, all: &[String]) -> Vec<u16> {
    let server = Server::new(runtime(&Default::default()).0).authentication(tokens);
    let client = Client::new(server.router());
    let mut statuses = Vec::new();
    for (index, token) in all.iter().enumerate() {
        let client = client
            .with_token(token)
            .from(&format!("10.0.0.{index}:5000"));
        statuses.push(client.get("/flows").await.status.as_u16());
    }
    statuses
}

#[tokio::test]
async fn a_token_holds_from_its_beginning_to_its_end() {
    let token = |exp: Value, nbf: Value| {
        let mut claims = json!({ "sub": "ann", "exp": exp });
        if !nbf.is_null() {
            claims["nbf"] = nbf;
        }
        signed(&claims, Algorithm::HS256, SECRET)
    };
    let now = || Value::from(in_seconds(0));
    let later = || Value::from(in_seconds(600));
    let all = [
        token(later(), Value::Null),
        token(later(), now()),
        token(json!(in_seconds(600) as f64 + 0.5), Value::Null),
        token(now(), Value::Null),
        token(in_seconds(-1).into(), Value::Null),
        token(in_seconds(-30).into(), Value::Null),
        token(later(), in_seconds(30).into()),
        token(later(), in_seconds(59).into()),
        token(later(), "now".into()),
        token(later().to_string().into(), Value::Null),
        token(Value::Null, Value::Null),
        token(json!([in_seconds(600)]), Value::Null),
        token((-1).into(), Value::Null),
    ];
    let strict = [&[200; 3][..], &[401; 10][..]].concat();
    assert_eq!(
        statuses(JsonWebTokens::hs256(SECRET).unwrap(), &all).await,
        strict
    );
    let minute = std::time::Duration::from_secs(60);
    let lenient = [&[200; 8][..], &[401; 5][..]].concat();
    let tokens = JsonWebTokens::hs256(SECRET).unwrap().leeway(minute);
    assert_eq!(statuses(tokens, &all).await, lenient);
}

#[tokio::test]
async fn a_token_that_may_mean_something_else_is_refused() {
    let plain = r#""alg":"HS256","typ":"JWT""#;
    let exp = in_seconds(600);
    let good = format!(r#"{{"sub":"ann","exp":{exp},"iss":"login"}}"#);
    let header = |more: &str| signed_raw(&format!("{{{plain}{more}}}"), &good);
    let claims = |more: &str| {
        signed_raw(
            &format!("{{{plain}}}"),
            &format!(r#"{{"sub":"ann","exp":{exp}{more}}}"#),
        )
    };
    let all = [
        header(""),
        header(r#","kid":"1","other":true"#),
        claims(r#","iss":"login","iat":1"#),
        header(r#","crit":["exp"]"#),
        header(r#","crit":["b64"],"b64":false"#),
        header(r#","crit":["http://example.org/other"],"http://example.org/other":1"#),
        header(r#","crit":[]"#),
        header(r#","crit":null"#),
        header(r#","b64":true"#),
        header(r#","b64":false"#),
        header(r#","kid":"1","kid":"2""#),
        claims(r#","iss":["login"]"#),
        claims(r#","iss":["login","others"]"#),
        claims(r#","iss":1"#),
        claims(r#","iss":null"#),
        claims(r#","iss":{"login":1}"#),
        claims(r#","iss":"login","iss":"login""#),
        claims(r#","iss":"login","role":"user","role":"operator""#),
        claims(r#","iss":"login","sub":"ben""#),
        claims(r#","iss":"login","aud":1"#),
        claims(r#","iss":"login","aud":[]"#),
        claims(r#","iss":"login","aud":null"#),
    ];
    let expected = [&[200; 3][..], &[401; 19][..]].concat();
    let tokens = JsonWebTokens::hs256(SECRET).unwrap().issuer("login");
    assert_eq!(statuses(tokens, &all).await, expected);
    // Also where nobody asks for an issuer.
    let tokens = JsonWebTokens::hs256(SECRET).unwrap();
    assert_eq!(statuses(tokens, &all).await, expected);
}

#[test]
fn a_secret_that_can_be_found_out_is_refused() {
    for (secret, expected) in [
        (
            &b""[..],
            "the secret has 0 bytes, and HS256 needs at least 32",
        ),
        (
            &SECRET[..31],
            "the secret has 31 bytes, and HS256 needs at least 32",
        ),
    ] {
        let refused = JsonWebTokens::hs256(secret).unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
    assert!(JsonWebTokens::hs256(&SECRET[..32]).is_ok());
}
