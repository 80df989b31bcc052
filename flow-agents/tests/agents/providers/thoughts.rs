//! What models thought before they called tools, and want back.

use flow_agents::{Message, Messages, Request, ToolCall};
use serde_json::{Value, json};

use super::bodies::{self, Bodies};
use super::server::{Answer, Server};
use super::{WAYS, Way, model, question};

/// What is asked after the calls of an answer have their results, with the calls as a journal keeps
/// them.
async fn asked_again(way: Way, of: &Bodies, name: &str, calls: Answer) -> (Vec<ToolCall>, Value) {
    let server = Server::start([calls, way.answer(&of.text)]).await;
    let model = model(name, &server);
    let reply = way.ask(&model, &question()).await.unwrap();
    let kept = serde_json::to_string(&reply.tool_calls).unwrap();
    let tool_calls: Vec<ToolCall> = serde_json::from_str(&kept).unwrap();
    assert_eq!(tool_calls, reply.tool_calls);

    let mut messages = Messages::from_iter([Message::user("How is the weather?")]);
    messages.push(Message::Assistant {
        content: reply.content,
        tool_calls: tool_calls.clone(),
    });
    for call in &tool_calls {
        messages.add_result(&call.id, "rain");
    }
    way.ask(&model, &Request::new(&messages)).await.unwrap();
    (tool_calls, server.asked()[1].body.clone())
}

#[tokio::test]
async fn what_a_model_thought_is_sent_back_with_its_calls() {
    let [_, responses, anthropic, gemini, _] = bodies::all();
    for way in WAYS {
        let (_, body) = asked_again(
            way,
            &responses,
            responses.model,
            way.answer(&responses.calls),
        )
        .await;
        assert_eq!(
            body["input"][1],
            json!({ "type": "reasoning", "encrypted_content": "c2lnbmF0dXJl", "summary": [] })
        );
        assert_eq!(body["input"][2]["type"], "function_call");
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));

        let (_, body) = asked_again(
            way,
            &anthropic,
            anthropic.model,
            way.answer(&anthropic.calls),
        )
        .await;
        let blocks = &body["messages"][1]["content"];
        assert_eq!(
            blocks[0],
            json!({ "type": "thinking", "thinking": "Rain?", "signature": "c2lnbmF0dXJl" })
        );
        assert_eq!(
            (&blocks[1]["type"], &blocks[2]["type"]),
            (&json!("tool_use"), &json!("tool_use"))
        );

        let (calls, body) =
            asked_again(way, &gemini, gemini.model, way.answer(&gemini.calls)).await;
        let parts = &body["contents"][1]["parts"];
        assert_eq!(parts[0]["thoughtSignature"], "c2lnbmF0dXJl");
        assert_eq!(parts[1].get("thoughtSignature"), None);
        assert_eq!(parts.as_array().unwrap().len(), 2);
        // An id that Gemini did not give is not sent to it.
        assert!(!body.to_string().contains(&calls[0].id), "{body}");
    }
}

#[tokio::test]
async fn a_thought_that_anthropic_encrypted_is_sent_back() {
    let [_, _, anthropic, ..] = bodies::all();
    let mut body = anthropic.calls.0.clone();
    let block = json!({ "type": "redacted_thinking", "data": "ZW5jcnlwdGVk" });
    body["content"][0] = block.clone();
    let (_, again) = asked_again(
        Way::Complete,
        &anthropic,
        anthropic.model,
        Answer::json(&body),
    )
    .await;
    assert_eq!(again["messages"][1]["content"][0], block);
}

#[tokio::test]
async fn deepseek_gets_back_what_its_model_thought() {
    let [openai, ..] = bodies::all();
    let name = "deepseek:deepseek-reasoner";
    let mut body = openai.calls.0.clone();
    body["choices"][0]["message"]["reasoning_content"] = json!("Rain?");
    let thought = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":null,\"reasoning_content\":\"Rain?\"}}]}\n\n";
    let mut events = openai.calls.1.clone();
    events.insert(1, thought.to_owned());
    for way in WAYS {
        let answer = way.answer(&(body.clone(), events.clone()));
        let (calls, again) = asked_again(way, &openai, name, answer).await;
        assert_eq!(calls[1].extra, None);
        assert_eq!(again["messages"][1]["reasoning_content"], "Rain?");
        assert_eq!(again["messages"][1]["tool_calls"][0]["id"], "call_a");

        // Also what was called before, or by another model.
        let answer = way.answer(&openai.calls);
        let (_, again) = asked_again(way, &openai, name, answer).await;
        assert_eq!(again["messages"][1]["reasoning_content"], "");

        // OpenAI does not know the field.
        let answer = way.answer(&(body.clone(), events.clone()));
        let (calls, again) = asked_again(way, &openai, openai.model, answer).await;
        assert_eq!(again["messages"][1].get("reasoning_content"), None);
        assert_eq!(calls[0].extra, None);
    }
}

#[tokio::test]
async fn another_provider_does_not_get_what_a_model_thought() {
    let all = bodies::all();
    for from in &all {
        let server = Server::start([Way::Stream.answer(&from.calls)]).await;
        let reply = Way::Stream
            .ask(&model(from.model, &server), &question())
            .await
            .unwrap();
        let mut messages = Messages::from_iter([Message::user("How is the weather?")]);
        messages.push(reply.message());
        for call in &reply.tool_calls {
            messages.add_result(&call.id, "rain");
        }
        for to in all.iter().filter(|to| to.provider != from.provider) {
            let server = Server::start([Way::Complete.answer(&to.text)]).await;
            let asked = Way::Complete
                .ask(&model(to.model, &server), &Request::new(&messages))
                .await;
            asked.unwrap();
            let body = server.asked()[0].body.to_string();
            assert!(
                !body.contains("c2lnbmF0dXJl") && !body.contains("Rain?"),
                "{body}"
            );
        }
    }
}

#[tokio::test]
async fn each_call_of_gemini_keeps_its_own_signature() {
    let [_, _, _, gemini, _] = bodies::all();
    let mut body = gemini.calls.0.clone();
    let mut parts = body["candidates"][0]["content"]["parts"].take();
    parts[1]["thoughtSignature"] = json!("c2Vjb25k");
    let said = json!({ "text": "Let me see.", "thoughtSignature": "dGV4dA==" });
    body["candidates"][0]["content"]["parts"] = json!([said, parts[0], parts[1]]);
    let event = format!("data: {body}\n\n");
    for way in WAYS {
        let answer = way.answer(&(body.clone(), vec![event.clone()]));
        let (_, again) = asked_again(way, &gemini, gemini.model, answer).await;
        let parts = again["contents"][1]["parts"].as_array().unwrap();
        let signatures: Vec<_> = parts
            .iter()
            .map(|it| it["thoughtSignature"].as_str())
            .collect();
        assert_eq!(
            signatures,
            [None, Some("c2lnbmF0dXJl"), Some("c2Vjb25k")],
            "{way:?}"
        );
    }
}
