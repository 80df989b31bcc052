//! Credentials, variables, and secrets that were left out of a document.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};

use flow_loader::{
    Credentials, Dependency, Environment, ExposeSecret as _, Format, Registry, SecretString, load,
    registry,
};
use flow_runtime::prelude::*;
use flow_runtime::{Export as _, ExportOptions, Params};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::{answer, document, loaded, refused};

/// Made of a value of each kind. It says what it was made of, which a real node would not.
#[derive(Debug, Default, Deserialize, Params)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Fetch {
    url: String,
    port: Option<u16>,
    share: f32,
    checked: bool,
    kind: Kind,
    token: Option<SecretString>,
    headers: BTreeMap<u8, Vec<String>>,
    even: Even,
}

#[derive(Debug, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Get,
    Post,
}

/// Its own error quotes the value.
#[derive(Debug, Default, serde::Serialize)]
struct Even(u32);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            odd if odd % 2 == 1 => Err(serde::de::Error::custom(format!("{odd} is odd"))),
            even => Ok(Even(even)),
        }
    }
}

#[node(writes = answer)]
impl Fetch {
    fn exec(&self, question: &str) -> String {
        assert_eq!(question, "why?");
        let token = self.token.as_ref().map(SecretString::expose_secret);
        format!("{self:?}, {token:?}")
    }
}

fn texts(texts: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
    let texts = texts.iter();
    texts
        .map(|(name, text)| ((*name).to_owned(), (*text).into()))
        .collect()
}

/// The secrets that a test must not find anywhere.
const SECRETS: [&str; 2] = ["s3cr3t", "31337"];

fn provided() -> Registry {
    registry![Fetch]
        .provide_credentials(texts(&[("pages", "s3cr3t"), ("number", "31337")]))
        .provide_variables(texts(&[
            ("HOST", "example.org"),
            ("PORT", "8080"),
            ("YES", "true"),
            ("KIND", "post"),
            ("SECRET", "s3cr3t"),
            ("NUMBER", "31337"),
        ]))
}

async fn made(params: Value) -> String {
    answer(&loaded("Fetch", &params, &provided()).unwrap()).await
}

#[tokio::test]
async fn values_of_every_kind() {
    let made = made(json!({
        "url": "https://${HOST}:${PORT}/$${HOST}?@@cred:pages",
        "port": "${PORT}",
        "share": "${PORT}",
        "checked": "${YES}",
        "kind": "${KIND}",
        "token": "@cred:pages",
        "headers": { "7": ["Bearer ${SECRET}", "${HOST}"] },
    }));
    assert_eq!(
        made.await,
        "Fetch { url: \"https://example.org:8080/${HOST}?@cred:pages\", port: Some(8080), share: 8080.0, \
         checked: true, kind: Post, token: Some(SecretBox<str>([REDACTED])), \
         headers: {7: [\"Bearer s3cr3t\", \"example.org\"]}, even: Even(0) }, Some(\"s3cr3t\")"
    );
}

#[tokio::test]
async fn a_value_stays_a_text_where_a_text_is_asked_for() {
    let made = made(json!({ "url": "${PORT}", "token": "${YES}" })).await;
    assert!(
        made.starts_with("Fetch { url: \"8080\", port: None"),
        "{made}"
    );
    assert!(made.ends_with("Some(\"true\")"), "{made}");
}

#[test]
fn what_is_missing_has_an_error_of_its_own() {
    let with = |registry: &Registry, url: &str| refused("Fetch", &json!({ "url": url }), registry);
    let nothing = registry![Fetch];
    let provided = provided();
    let cases = [
        (
            &nothing,
            "@cred:pages",
            "`@cred:pages` is a credential, and no credentials are provided [F015]\n\
             at /nodes/0/params/url\nhelp: provide them: `registry.provide_credentials(…)`",
        ),
        (
            &nothing,
            "${HOST}",
            "`${HOST}` is a variable, and no variables are provided [F015]\n\
             at /nodes/0/params/url\n\
             help: provide it: `registry.provide_variables(Environment::only([\"HOST\"]))`",
        ),
        (
            &provided,
            "@cred:pgaes",
            "there is no credential `pgaes` [F015]\n\
             at /nodes/0/params/url\nhelp: did you mean `pages`?",
        ),
        (
            &provided,
            "@cred:another",
            "there is no credential `another` [F015]\nat /nodes/0/params/url",
        ),
        (
            &provided,
            "a ${HOTS}",
            "the variable `HOTS` is not set [F015]\n\
             at /nodes/0/params/url\nhelp: did you mean `HOST`?",
        ),
        (
            &provided,
            "${a.b}",
            "`${a.b}` does not contain the name of a variable [F016]\n\
             at /nodes/0/params/url\nhelp: write `${NAME}` for a variable, or `$${` for the text `${`",
        ),
        (
            &provided,
            "Bearer @cred:pages",
            "`@cred:` does not begin this text [F016]\n\
             at /nodes/0/params/url\nhelp: write `@cred:NAME` and nothing else for a credential, \
             or `@@cred:` for the text `@cred:`",
        ),
    ];
    for (registry, url, message) in cases {
        assert_eq!(with(registry, url), message);
    }
}

#[test]
fn all_that_is_missing_is_reported() {
    let params = json!({
        "url": "${A}", "token": "@cred:b", "headers": { "1": ["${C}", "${HOST}", "${D}"] }
    });
    let error = load(document("Fetch", &params), Format::Json, &provided()).unwrap_err();
    let pointers = error
        .problems()
        .iter()
        .map(|problem| problem.pointer.as_str());
    assert_eq!(
        pointers.collect::<Vec<_>>(),
        ["/url", "/token", "/headers/1/0", "/headers/1/2"].map(|at| format!("/nodes/0/params{at}"))
    );
}

#[test]
fn errors_do_not_quote_what_is_resolved() {
    let provided = provided();
    let shown = |params: &Value| {
        let message = refused("Fetch", params, &provided);
        let error = load(document("Fetch", params), Format::Json, &provided).unwrap_err();
        for secret in SECRETS {
            assert!(
                !format!("{message} {error:?}").contains(secret),
                "{message}\n{error:?}"
            );
        }
        message
    };
    let wrong = |reason: &str, at: &str, text: &str| {
        format!(
            "these are not the settings of `Fetch`: {reason} [F016]\nat /nodes/0/params/{at}\n\
             what `{text}` stands for is not shown"
        )
    };
    let cases = [
        (
            json!({ "port": "@cred:pages" }),
            wrong(
                "invalid type: a string, expected u16",
                "port",
                "@cred:pages",
            ),
        ),
        (
            json!({ "port": "a${NUMBER}" }),
            wrong("invalid type: a string, expected u16", "port", "a${NUMBER}"),
        ),
        (
            json!({ "even": "${NUMBER}" }),
            wrong("it is refused", "even", "${NUMBER}"),
        ),
        (
            json!({ "kind": "${SECRET}" }),
            wrong(
                "unknown variant, expected `get` or `post`",
                "kind",
                "${SECRET}",
            ),
        ),
        (
            json!({ "checked": "@cred:number" }),
            wrong(
                "invalid type: an integer, expected a boolean",
                "checked",
                "@cred:number",
            ),
        ),
        (
            json!({ "headers": { "1": "${SECRET}" } }),
            wrong(
                "invalid type: a string, expected a sequence",
                "headers/1",
                "${SECRET}",
            ),
        ),
        (
            json!({ "port": "${NUMBER}${NUMBER}" }),
            wrong("invalid value, expected u16", "port", "${NUMBER}${NUMBER}"),
        ),
    ];
    for (params, message) in cases {
        assert_eq!(shown(&params), message);
    }
    // What the document says itself is shown, beside a secret that is sound.
    let beside = json!({ "port": "80", "token": "@cred:pages" });
    let message = shown(&beside);
    assert!(
        message.contains("invalid type: string \"80\", expected u16"),
        "{message}"
    );
    let misspelt = json!({ "tokne": "@cred:pages" });
    let message = shown(&misspelt);
    assert!(
        message.contains("`Fetch` has no setting `tokne`"),
        "{message}"
    );
}

trait Model: Send + Sync {}

/// Serde keeps what a flattened struct reads, and knows nothing of secrets.
#[derive(Deserialize)]
struct Wrapped {
    #[serde(flatten)]
    inside: Inside,
}

#[derive(Deserialize)]
struct Inside {
    port: u16,
    model: Option<Dependency<dyn Model>>,
}

#[node(writes = answer)]
impl Wrapped {
    fn exec(&self, question: &str) -> String {
        format!(
            "{question}{}{}",
            self.inside.port,
            self.inside.model.is_some()
        )
    }
}

#[test]
fn errors_in_flattened_settings_do_not_quote_either() {
    let provided = registry![Wrapped].with(provided());
    for params in [
        json!({ "port": "${SECRET}" }),
        json!({ "port": 1, "model": "${SECRET}" }),
        json!({ "port": "${NUMBER} ${HOST}", "model": "@cred:pages" }),
    ] {
        let message = refused("Wrapped", &params, &provided);
        assert!(
            SECRETS.iter().all(|secret| !message.contains(secret)),
            "{message}"
        );
        assert!(message.contains("stands for is not shown"), "{message}");
    }
}

#[test]
fn documents_and_structures_have_the_names_only() {
    use flow_runtime::engine::{AnyFlow, Direct};
    let params = json!({ "url": "${SECRET}", "token": "@cred:pages" });
    let flow = loaded("Fetch", &params, &provided()).unwrap();
    let structure = AnyFlow::<Direct>::structure(&flow);
    assert!(
        structure.contains(r#""params":{"url":"${SECRET}","token":"@cred:pages"}"#),
        "{structure}"
    );
    let all = format!(
        "{structure} {} {flow:?} {:?}",
        flow.document().to_json(),
        provided()
    );
    assert!(SECRETS.iter().all(|secret| !all.contains(secret)), "{all}");
}

#[tokio::test]
async fn a_masked_secret_is_provided_under_its_path() {
    let fetch = Fetch {
        token: Some("s3cr3t".into()),
        ..Fetch::default()
    };
    let exported = Pages::builder()
        .fetch(fetch)
        .build()
        .export(ExportOptions::default());
    assert_eq!(exported.nodes[0].params["token"], "***");
    let text = exported.to_json();

    let load_with = |registry: &Registry| load(&text, Format::Json, registry);
    let error = load_with(&registry![Fetch]).unwrap_err();
    assert_eq!(
        error.problems()[0].message,
        "`token` is a secret that is not in the document: it has `***`"
    );
    assert_eq!(error.problems()[0].pointer, "/nodes/0/params/token");
    let help =
        "provide it as the credential `pages.fetch.token`, or name another one: `@cred:NAME`";
    assert_eq!(error.problems()[0].help.as_deref(), Some(help));

    let registry = registry![Fetch].provide_credentials(texts(&[("pages.fetch.token", "s3cr3t")]));
    let flow = load_with(&registry).unwrap();
    assert!(answer(&flow).await.ends_with("Some(\"s3cr3t\")"));
    assert_eq!(flow.document(), &exported);
}

flow! {
    Pages(question: String) -> (answer: String) {
        node fetch: Fetch;
        start >> fetch >> end;
    }
}

flow! {
    Library(question: String) -> (answer: String) {
        node pages: Pages;
        start >> pages >> end;
    }
}

#[tokio::test]
async fn a_masked_secret_in_a_flow_in_a_flow() {
    let fetch = Fetch {
        token: Some("s3cr3t".into()),
        ..Fetch::default()
    };
    let pages = Pages::builder().fetch(fetch).build();
    let exported = Library::builder()
        .pages(pages)
        .build()
        .export(ExportOptions::default());
    let registry =
        registry![Fetch].provide_credentials(texts(&[("library.pages.fetch.token", "s3cr3t")]));
    let flow = load(exported.to_json(), Format::Json, &registry).unwrap();
    assert!(answer(&flow).await.ends_with("Some(\"s3cr3t\")"));
}

#[tokio::test]
async fn exported_texts_refer_to_nothing() {
    let url = "https://${HOST}/$${PORT}/@cred:pages".to_owned();
    let headers = BTreeMap::from([(1, vec!["${YES}".to_owned()])]);
    let fetch = Fetch {
        url,
        headers,
        ..Fetch::default()
    };
    let said = format!("{fetch:?}, None");
    let exported = Pages::builder()
        .fetch(fetch)
        .build()
        .export(ExportOptions::default());
    let flow = load(exported.to_json(), Format::Json, &provided()).unwrap();
    assert_eq!(answer(&flow).await, said);
}

#[test]
fn the_environment() {
    let all = Environment::all();
    let path = std::env::var("PATH").unwrap();
    assert_eq!(all.get("PATH").unwrap().unwrap().expose_secret(), path);
    assert!(all.names().contains(&"PATH".to_owned()));
    assert!(all.get("FLOW_LOADER_IS_NOT_SET").unwrap().is_none());

    let registry = registry![Fetch].provide_variables(Environment::only(["HOME"]));
    assert_eq!(
        refused("Fetch", &json!({ "url": "${PATH}" }), &registry),
        "the variable `PATH` cannot be read: documents may not read it [F015]\nat /nodes/0/params/url"
    );
}

/// Credentials that are read anew, and that can fail.
#[derive(Default)]
struct Vault(Mutex<u32>);

impl Credentials for Vault {
    fn get(&self, name: &str) -> Result<Option<SecretString>, Box<dyn Error + Send + Sync>> {
        let mut asked = self.0.lock().unwrap();
        *asked += 1;
        match name {
            "sealed" => Err("the vault is sealed".into()),
            name => Ok(Some(format!("{name} {asked}").into())),
        }
    }
}

#[tokio::test]
async fn credentials_of_the_program_itself() {
    let vault = Arc::new(Vault::default());
    let registry = registry![Fetch].provide_credentials(vault.clone());
    for asked in 1..=2 {
        let flow = loaded("Fetch", &json!({ "token": "@cred:a" }), &registry).unwrap();
        assert!(
            answer(&flow)
                .await
                .ends_with(&format!("Some(\"a {asked}\")"))
        );
    }
    assert_eq!(
        refused("Fetch", &json!({ "token": "@cred:sealed" }), &registry),
        "the credential `sealed` cannot be read: the vault is sealed [F015]\nat /nodes/0/params/token"
    );
}

#[test]
fn a_variable_that_is_named_everywhere() {
    let registry = registry![Fetch].provide_variables(texts(&[("A", &"a".repeat(1 << 20))]));
    for (params, at) in [
        (json!({ "url": "${A}".repeat(200_000) }), "url"),
        (
            json!({ "headers": { "1": vec!["${A}"; 100_000] } }),
            "headers/1/32",
        ),
    ] {
        assert_eq!(
            refused("Fetch", &params, &registry),
            format!(
                "the texts with credentials and variables take more than 32 MiB [F023]\n\
                 at /nodes/0/params/{at}\nhelp: name them in fewer places"
            )
        );
    }
}

#[test]
fn each_masked_text_of_a_list_has_a_path() {
    let masked = json!({ "headers": { "1": ["a", "***"] } });
    let message = refused("Fetch", &masked, &provided());
    assert_eq!(
        message,
        "`headers.1.1` is a secret that is not in the document: it has `***` [F015]\n\
         at /nodes/0/params/headers/1/1\n\
         help: provide it as the credential `qa.step.headers.1.1`, or name another one: `@cred:NAME`"
    );
}

/// What a durable run keeps of a flow: its structure, and what its nodes returned.
#[tokio::test]
async fn a_journal_has_no_credentials() {
    use flow_durable::{MemoryStore, Runtime, StartOptions};
    let params = json!({ "url": "${SECRET}", "token": "@cred:pages" });
    let registry = registry![Silent].with(provided());
    let flow = loaded("Silent", &params, &registry).unwrap();
    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Arc::new(flow)).unwrap();
    let started =
        runtime
            .executions()
            .start_json("Qa", json!({ "question": "why?" }), StartOptions::new());
    let execution = started.await.unwrap().settled().await.unwrap();
    assert_eq!(
        execution.output_json().unwrap().unwrap()["answer"],
        "6 and 6 letters"
    );
    let journal = execution.journal().await.unwrap();
    assert!(journal.len() > 1, "{journal:?}");
    let kept = format!("{execution:?} {journal:?}");
    assert!(
        SECRETS.iter().all(|secret| !kept.contains(secret)),
        "{kept}"
    );
}

/// Does not say what it was made of.
#[derive(Deserialize)]
struct Silent {
    url: String,
    token: SecretString,
}

#[node(writes = answer)]
impl Silent {
    fn exec(&self, question: &str) -> String {
        assert_eq!(question, "why?");
        let token = self.token.expose_secret();
        format!("{} and {} letters", self.url.len(), token.len())
    }
}

/// What is wrong with settings does not wait until the flow around them is right.
#[test]
fn settings_are_checked_beside_the_flow() {
    let mut wrong: Value =
        serde_json::from_str(&document("Fetch", &json!({ "port": "many" }))).unwrap();
    wrong["nodes"][0]["params"]["url"] = json!("${NOWHERE}");
    wrong["ends"][0]["condition"] = json!("finished");
    let mut inner = wrong.clone();
    inner["name"] = json!("Inner");
    wrong["entryNodeId"] = json!("step");
    wrong["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "type": "Inner", "id": "inner", "internalFlow": inner }));
    let error = load(wrong.to_string(), Format::Json, &provided()).unwrap_err();
    let problems = error.problems().iter();
    let found: Vec<&str> = problems.map(|problem| problem.pointer.as_str()).collect();
    let expected = [
        "/nodes/1",
        "/ends/0/condition",
        "/nodes/1/internalFlow/ends/0/condition",
        "/nodes/0/params/url",
        "/nodes/1/internalFlow/nodes/0/params/url",
    ];
    assert_eq!(found, expected, "{error}");
}
