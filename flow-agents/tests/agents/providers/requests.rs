//! What providers are asked.

use flow_agents::{
    GenAi, Image, ImageSource, Message, Messages, Model as _, ModelError, OutputSchema, Part,
    Placement, Request, ToolCall, ToolDefinition,
};
use serde_json::{Value, json};

use super::bodies::{self, Bodies};
use super::server::Server;
use super::{WAYS, Way, model, question};

/// What a server with these bodies is asked.
pub(super) async fn sent(name: &str, way: Way, request: &Request) -> Value {
    let [openai, others @ ..] = bodies::all();
    let same = |of: &Bodies| of.model.split(':').next() == name.split(':').next();
    let of = others.into_iter().find(same).unwrap_or(openai);
    let server = Server::start([way.answer(&of.text)]).await;
    way.ask(&model(name, &server), request).await.unwrap();
    server.asked()[0].body.clone()
}

fn schema() -> Value {
    json!({
        "type": "object", "properties": { "city": { "type": "string" } },
        "required": ["city"], "additionalProperties": false,
    })
}

fn conversation() -> Messages {
    let mut messages = Messages::new();
    messages.add_system("Answer briefly.", Placement::Append);
    messages.add_user("How is the weather, and what is the time?");
    messages.push(Message::Assistant {
        content: "Let me see.".to_owned(),
        tool_calls: vec![
            ToolCall::new("call_a", "weather", &json!({ "city": "Köln" })),
            ToolCall::raw("call_b", "time", ""),
        ],
    });
    messages.add_result("call_a", "rain");
    messages.add_result("call_b", "12:00");
    messages
}

#[tokio::test]
async fn calls_and_their_results_are_sent() {
    let call = |id: &str, name: &str, arguments: &str| json!({ "type": "function", "id": id, "function": { "name": name, "arguments": arguments } });
    let chat = json!([
        { "role": "system", "content": "Answer briefly." },
        { "role": "user", "content": "How is the weather, and what is the time?" },
        { "role": "assistant", "content": "Let me see.", "tool_calls": [
            call("call_a", "weather", r#"{"city":"Köln"}"#), call("call_b", "time", "{}"),
        ] },
        { "role": "tool", "content": "rain", "tool_call_id": "call_a" },
        { "role": "tool", "content": "12:00", "tool_call_id": "call_b" },
    ]);
    let request = Request::new(&conversation());
    for way in WAYS {
        assert_eq!(
            sent("openai:gpt-4o-mini", way, &request).await["messages"],
            chat
        );
        assert_eq!(
            sent("ollama:qwen3:4b", way, &request).await["messages"],
            chat
        );

        let body = sent("openai-responses:gpt-5-mini", way, &request).await;
        let items = body["input"].as_array().unwrap();
        let kinds: Vec<_> = items
            .iter()
            .map(|it| it.get("type").unwrap_or(&it["role"]))
            .collect();
        assert_eq!(
            kinds,
            [
                "system",
                "user",
                "message",
                "function_call",
                "function_call",
                "function_call_output",
                "function_call_output"
            ]
        );
        assert_eq!(
            (&items[4]["call_id"], &items[6]["output"]),
            (&json!("call_b"), &json!("12:00"))
        );

        let body = sent("anthropic:claude-sonnet-4-5", way, &request).await;
        assert_eq!(body["system"], "Answer briefly.");
        assert_eq!(
            body["messages"][1]["content"][1],
            json!({ "type": "tool_use", "id": "call_a", "name": "weather", "input": { "city": "Köln" } })
        );
        let results = json!([
            { "type": "tool_result", "content": "rain", "tool_use_id": "call_a" },
            { "type": "tool_result", "content": "12:00", "tool_use_id": "call_b" },
        ]);
        assert_eq!(
            body["messages"][2],
            json!({ "role": "user", "content": results })
        );
        assert_eq!(body["messages"].as_array().unwrap().len(), 3);

        let body = sent("gemini:gemini-3-flash-preview", way, &request).await;
        assert_eq!(
            body["systemInstruction"]["parts"][0]["text"],
            "Answer briefly."
        );
        assert_eq!(
            body["contents"][1]["parts"][2]["functionCall"]["name"],
            "time"
        );
        let results = body["contents"][2]["parts"].as_array().unwrap();
        let results: Vec<_> = results.iter().map(|it| &it["functionResponse"]).collect();
        assert_eq!(results[0]["name"], "weather");
        assert_eq!(results[1]["response"]["content"], "12:00");
    }
}

#[tokio::test]
async fn arguments_that_a_model_wrote_badly_are_sent_back_as_json() {
    let mut messages = Messages::from_iter([Message::user("Go.")]);
    messages.push(Message::Assistant {
        content: String::new(),
        tool_calls: vec![ToolCall::raw("call_a", "go", "{\"to\": ")],
    });
    messages.add_result("call_a", "that was not JSON");
    let body = sent(
        "anthropic:claude-sonnet-4-5",
        Way::Complete,
        &Request::new(&messages),
    )
    .await;
    assert_eq!(
        body["messages"][1]["content"][0]["input"],
        json!({ "INVALID_JSON": "{\"to\": " })
    );
}

#[tokio::test]
async fn images_are_sent() {
    let url = "https://example.com/cat.png";
    let message = Message::User {
        content: vec![
            Part::Text("What is this?".to_owned()),
            Part::Image(Image::new("image/png", ImageSource::Url(url.to_owned()))),
            Part::Image(Image::new(
                "image/png",
                ImageSource::Base64("iVBORw0KGgo=".to_owned()),
            )),
        ],
    };
    let request = Request::new(&Messages::from_iter([message]));
    let data = "data:image/png;base64,iVBORw0KGgo=";
    let chat = json!([
        { "type": "text", "text": "What is this?" },
        { "type": "image_url", "image_url": { "url": url } },
        { "type": "image_url", "image_url": { "url": data } },
    ]);
    let cases = [
        ("openai:gpt-4o-mini", "/messages/0/content", chat.clone()),
        ("ollama:qwen3:4b", "/messages/0/content", chat),
        (
            "openai-responses:gpt-5-mini",
            "/input/0/content",
            json!([
                { "type": "input_text", "text": "What is this?" },
                { "type": "input_image", "detail": "auto", "image_url": url },
                { "type": "input_image", "detail": "auto", "image_url": data },
            ]),
        ),
        (
            "anthropic:claude-sonnet-4-5",
            "/messages/0/content",
            json!([
                { "type": "text", "text": "What is this?" },
                { "type": "image", "source": { "type": "url", "url": url } },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=" } },
            ]),
        ),
        (
            "gemini:gemini-3-flash-preview",
            "/contents/0/parts",
            json!([
                { "text": "What is this?" },
                { "file_data": { "mime_type": "image/png", "file_uri": url } },
                { "inline_data": { "mime_type": "image/png", "data": "iVBORw0KGgo=" } },
            ]),
        ),
    ];
    for (name, place, expected) in cases {
        for way in WAYS {
            let body = sent(name, way, &request).await;
            assert_eq!(body.pointer(place), Some(&expected), "{name}");
        }
    }
}

#[tokio::test]
async fn what_is_not_an_image_is_refused_and_not_left_out() {
    let image = Image::new(
        "application/pdf",
        ImageSource::Url("https://example.com/a.pdf".to_owned()),
    );
    let message = Message::User {
        content: vec![Part::Image(image)],
    };
    let request = Request::new(&Messages::from_iter([message]));
    for of in bodies::all() {
        let model = GenAi::new(of.model)
            .unwrap()
            .key("secret")
            .endpoint("http://127.0.0.1:1")
            .unwrap();
        let error = model.complete(&request).await.unwrap_err();
        let ModelError::Refused { source } = error else {
            panic!("{error:?}");
        };
        assert!(source.to_string().contains("application/pdf"), "{source}");
    }
}

#[tokio::test]
async fn settings_tools_and_the_schema_of_the_answer_are_sent() {
    let mut request = question();
    request.temperature = Some(0.5);
    request.max_tokens = Some(300);
    request.tools = [ToolDefinition::new(
        "weather",
        "Tells the weather.",
        schema(),
    )]
    .into();
    request.output = Some(OutputSchema::new("place", schema()));
    let function = json!({ "name": "weather", "description": "Tells the weather.", "parameters": schema(), "strict": false });
    let mut flat = function.clone();
    flat["type"] = json!("function");
    let format = json!({ "type": "json_schema", "json_schema": { "name": "place", "strict": true, "schema": schema() } });
    let chat = [
        ("/temperature", json!(0.5)),
        ("/max_tokens", json!(300)),
        ("/tools/0/function", function),
        ("/response_format", format),
    ];
    let cases = [
        ("openai:gpt-4o-mini", chat.to_vec()),
        ("ollama:qwen3:4b", chat.to_vec()),
        (
            "openai-responses:gpt-5-mini",
            vec![
                ("/temperature", json!(0.5)),
                ("/max_output_tokens", json!(300)),
                ("/tools/0", flat),
                (
                    "/text/format",
                    json!({ "type": "json_schema", "name": "place", "strict": true, "schema": schema() }),
                ),
                ("/store", json!(false)),
            ],
        ),
        (
            "anthropic:claude-sonnet-4-5",
            vec![
                ("/temperature", json!(0.5)),
                ("/max_tokens", json!(300)),
                (
                    "/tools/0",
                    json!({ "name": "weather", "input_schema": schema(), "description": "Tells the weather." }),
                ),
                (
                    "/output_config/format",
                    json!({ "type": "json_schema", "schema": schema() }),
                ),
            ],
        ),
        (
            "gemini:gemini-3-flash-preview",
            vec![
                ("/generationConfig/temperature", json!(0.5)),
                ("/generationConfig/maxOutputTokens", json!(300)),
                (
                    "/tools/0/functionDeclarations/0",
                    json!({ "name": "weather", "description": "Tells the weather.", "parametersJsonSchema": schema() }),
                ),
                (
                    "/generationConfig/responseMimeType",
                    json!("application/json"),
                ),
                ("/generationConfig/responseJsonSchema", schema()),
            ],
        ),
    ];
    for (name, expected) in cases {
        for way in WAYS {
            let body = sent(name, way, &request).await;
            for (place, expected) in &expected {
                assert_eq!(body.pointer(place), Some(expected), "{name} {place} {body}");
            }
        }
    }
}

#[tokio::test]
async fn a_tool_called_web_search_is_the_one_of_the_program() {
    let mut request = question();
    request.tools = [
        ToolDefinition::new("web_search", "Searches our pages.", schema()),
        ToolDefinition::new("weather", "Tells the weather.", schema()),
    ]
    .into();
    for of in bodies::all() {
        for way in WAYS {
            let body = sent(of.model, way, &request).await;
            let text = body["tools"].to_string();
            assert!(
                text.contains("Searches our pages.") && text.contains("Tells the weather."),
                "{text}"
            );
            assert!(!text.contains("web_search_2025"), "{text}");
        }
    }
    let body = sent("anthropic:claude-sonnet-4-5", Way::Complete, &request).await;
    assert_eq!(
        body["tools"][0],
        json!({ "name": "web_search", "description": "Searches our pages.", "input_schema": schema() })
    );
    request.tools = [ToolDefinition::new(
        "googleSearch",
        "Searches our pages.",
        schema(),
    )]
    .into();
    let model = GenAi::new("gemini:gemini-3-flash-preview")
        .unwrap()
        .key("secret");
    let error = model.complete(&request).await.unwrap_err();
    assert!(matches!(error, ModelError::Refused { .. }), "{error:?}");
}

#[tokio::test]
async fn a_provider_that_refuses_schemas_gets_none() {
    let mut request = question();
    request.output = Some(OutputSchema::new("place", schema()));
    for (name, takes_it) in [
        ("deepseek:deepseek-chat", false),
        ("groq:llama-3.3-70b-versatile", false),
        ("mistral:mistral-small-latest", true),
        ("xai:grok-4", true),
    ] {
        for way in WAYS {
            let body = sent(name, way, &request).await;
            assert_eq!(body.get("response_format").is_some(), takes_it, "{body}");
        }
    }
}
