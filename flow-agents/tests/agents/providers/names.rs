//! Which model a text names, and with which key it is asked.

use flow_agents::{GenAi, Model as _};

use super::requests::sent;
use super::server::Server;
use super::{WAYS, Way, bodies, model, question};

#[tokio::test]
async fn a_model_is_asked_by_its_whole_name() {
    for name in [
        "ollama:qwen3:4b",
        "ollama:qwen3-max",
        "openai:gpt-5.1-codex-high",
        "openai-responses:gpt-5.1-codex-max",
    ] {
        for way in WAYS {
            let body = sent(name, way, &question()).await;
            assert_eq!(body["model"], name.split_once(':').unwrap().1);
            assert!(
                body.get("reasoning_effort").is_none() && body.get("reasoning").is_none(),
                "{body}"
            );
        }
    }
}

#[test]
fn a_model_says_which_it_is() {
    for of in bodies::all() {
        let about = GenAi::new(of.model).unwrap().about();
        assert_eq!(
            (&*about.provider, &*about.name),
            (of.provider, of.model.split_once(':').unwrap().1)
        );
    }
    for (name, provider) in [
        ("mistral", "mistral_ai"),
        ("deepseek", "deepseek"),
        ("groq", "groq"),
        ("xai", "x_ai"),
    ] {
        let about = GenAi::new(&format!("{name}:some")).unwrap().about();
        assert_eq!(&*about.provider, provider);
    }
}

#[test]
fn a_model_that_is_not_known_is_an_error_that_says_what_is() {
    for name in ["gpt-5-mini", "openay:gpt-5-mini", "", ":gpt-5-mini"] {
        let error = GenAi::new(name).unwrap_err().to_string();
        let known =
            "openai, openai-responses, anthropic, gemini, ollama, mistral, deepseek, groq, xai";
        assert!(
            error.contains(&format!("`{name}`")) && error.contains(known),
            "{error}"
        );
    }
    assert!(
        GenAi::new("openai: ")
            .unwrap_err()
            .to_string()
            .contains("no name")
    );
    for url in ["localhost:8000", "ftp://localhost/", ""] {
        let model = GenAi::new("ollama:qwen3").unwrap();
        let error = model.endpoint(url).unwrap_err().to_string();
        assert!(error.contains(&format!("`{url}`")), "{error}");
    }
}

#[test]
fn an_address_with_what_may_be_secret_is_an_error_that_does_not_show_it() {
    let cases = [
        (
            "https://ann:hidden@host/v1",
            "`https://…@host/v1`",
            "password",
        ),
        ("https://hidden@host/v1", "`https://…@host/v1`", "user name"),
        ("https://ann:hid?den@host/v1", "`https://…@host/v1`", "http"),
        ("ann:hidden@host/v1", "`…@host/v1`", "http"),
        ("https://host/v1?key=hidden", "`https://host/v1?…`", "query"),
        ("https://host/v1#hidden", "`https://host/v1#…`", "fragment"),
        ("https://host/v1?", "`https://host/v1?`", "query"),
    ];
    for (url, shown, why) in cases {
        let model = GenAi::new("ollama:qwen3").unwrap();
        let error = model.endpoint(url).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(shown) && text.contains(why), "{text}");
        assert!(!format!("{text} {error:?}").contains("hid"), "{error:?}");
    }
}

#[tokio::test]
async fn another_server_is_sent_a_placeholder_if_no_key_is_given() {
    for of in bodies::all() {
        let server = Server::start([Way::Complete.answer(&of.text)]).await;
        let model = GenAi::new(of.model).unwrap().endpoint(&server.url).unwrap();
        Way::Complete.ask(&model, &question()).await.unwrap();
        let provider = of.model.split(':').next().unwrap();
        let expected = of.key.replace("secret", provider);
        let headers = &server.asked()[0].headers;
        assert!(headers.contains(&expected), "{headers}");
    }
}

#[tokio::test]
async fn an_address_may_have_a_path() {
    for of in bodies::all() {
        for path in ["/proxy/v1", "/proxy/v1/"] {
            let server = Server::start([Way::Complete.answer(&of.text)]).await;
            let address = format!("{}{path}", server.url);
            let model = model(of.model, &server).endpoint(&address).unwrap();
            Way::Complete.ask(&model, &question()).await.unwrap();
            assert_eq!(server.asked()[0].path, format!("/proxy/v1{}", of.paths[0]));
        }
    }
}
