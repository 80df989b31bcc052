//! The schemas of answers that providers are sent.

use flow_agents::{Ask, AskError, Message, Messages};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::bodies;
use super::server::Server;
use super::{Way, model};

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is read")]
struct Order {
    /// How many.
    #[schemars(range(min = 1, max = 10), extend("multipleOf" = 2))]
    count: u32,
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    discount: f64,
    #[schemars(length(min = 2, max = 5))]
    parts: Vec<String>,
}

#[tokio::test]
async fn a_schema_has_no_bounds_which_anthropic_refuses() {
    let [_, _, anthropic, ..] = bodies::all();
    let server = Server::start([Way::Stream.answer(&anthropic.text)]).await;
    let model = model(anthropic.model, &server);
    let messages = Messages::from_iter([Message::user("What is ordered?")]);
    let asked = Ask::new(&model, &messages).attempts(1);
    let error = asked.answer::<Order>().await.map(drop).unwrap_err();
    assert!(matches!(error, AskError::Unfit { .. }), "{error}");

    let body = &server.asked()[0].body;
    let schema = &body["output_config"]["format"]["schema"];
    assert_eq!(
        schema["properties"],
        json!({
            "count": { "type": "integer", "description": "How many." },
            "discount": { "type": "number" },
            "parts": { "type": "array", "items": { "type": "string" } },
        }),
        "{schema}"
    );
    let told = body.to_string();
    for bound in [
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maximum",
        "minItems",
        "multipleOf",
    ] {
        assert!(told.contains(bound), "{bound} is not told in {told}");
    }
}
