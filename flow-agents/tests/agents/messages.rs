use flow_agents::{
    Image, ImageSource, MISSING_RESULT, Message, Messages, Part, Placement, ToolCall,
};
use flow_runtime::Accumulate;
use proptest::prelude::*;
use serde_json::json;

fn calls<const N: usize>(ids: [&str; N]) -> Message {
    let call = |id| ToolCall::new(id, "search", &json!({ "words": id }));
    Message::Assistant {
        content: String::new(),
        tool_calls: ids.into_iter().map(call).collect(),
    }
}

#[test]
fn the_system_is_one_message_and_the_first() {
    let mut messages = Messages::from_iter([
        Message::user("hello"),
        Message::system("one"),
        Message::system(""),
        Message::system("two"),
    ]);
    assert_eq!(
        *messages,
        [Message::system("one\n\ntwo"), Message::user("hello")]
    );
    messages.add_system("zero", Placement::Top);
    messages.add_system("three", Placement::Append);
    assert_eq!(messages[0], Message::system("zero\n\none\n\ntwo\n\nthree"));
    messages.add_system("", Placement::Replace);
    assert_eq!(messages[0], Message::system("zero\n\none\n\ntwo\n\nthree"));
    messages.add_system("new", Placement::Replace);
    assert_eq!(*messages, [Message::system("new"), Message::user("hello")]);

    let mut none = Messages::new();
    none.add_system("", Placement::Top);
    assert!(none.is_empty());
}

/// What a node adds finds its place as what is pushed does.
#[test]
fn messages_that_are_added_find_their_place() {
    let mut messages = Messages::new();
    messages.add(Message::user("go"));
    messages.add(Some(calls(["a", "b"])));
    messages.add(None::<Message>);
    messages.add(vec![
        Message::tool("b", "2"),
        Message::tool("c", "none called"),
    ]);
    messages.add(Messages::from_iter([
        Message::system("Be brief."),
        Message::user("and hurry"),
    ]));
    messages.add(Message::tool("a", "1"));
    let expected = [
        Message::system("Be brief."),
        Message::user("go"),
        calls(["a", "b"]),
        Message::tool("a", "1"),
        Message::tool("b", "2"),
        Message::user("and hurry"),
    ];
    assert_eq!(*messages, expected);
}

#[test]
fn results_follow_their_calls_in_the_order_of_the_calls() {
    let messages = Messages::from_iter([
        Message::tool("b", "2"),
        Message::user("go"),
        calls(["a", "b"]),
        Message::user("and hurry"),
        Message::tool("a", "1"),
    ]);
    let expected = [
        Message::user("go"),
        calls(["a", "b"]),
        Message::tool("a", "1"),
        Message::tool("b", "2"),
        Message::user("and hurry"),
    ];
    assert_eq!(*messages, expected);

    let mut pushed = Messages::from_iter([Message::user("go"), calls(["a", "b"])]);
    pushed.add_user("and hurry");
    pushed.add_result("b", "2");
    pushed.add_result("a", "1");
    assert_eq!(*pushed, expected);
}

#[test]
fn ids_may_come_again_in_a_later_message() {
    let messages = Messages::from_iter([
        calls(["0"]),
        Message::tool("0", "first"),
        calls(["0", "1"]),
        Message::tool("1", "third"),
        Message::tool("0", "second"),
    ]);
    let expected = [
        calls(["0"]),
        Message::tool("0", "first"),
        calls(["0", "1"]),
        Message::tool("0", "second"),
        Message::tool("1", "third"),
    ];
    assert_eq!(*messages, expected);
}

#[test]
fn a_result_belongs_to_the_nearest_call_before_it() {
    let nearest = [
        calls(["0"]),
        Message::user("never mind, again"),
        calls(["0"]),
        Message::tool("0", "of the second"),
    ];
    let messages = Messages::from_iter(nearest.clone());
    assert_eq!(*messages, nearest);
    assert_eq!(*messages.for_model(), nearest[1..]);
}

#[test]
fn a_result_without_a_call_is_dropped_and_so_is_a_second_one() {
    let messages = Messages::from_iter([
        calls(["a"]),
        Message::tool("a", "1"),
        Message::tool("a", "again"),
        Message::tool("x", "who?"),
    ]);
    assert_eq!(*messages, [calls(["a"]), Message::tool("a", "1")]);
}

#[test]
fn calls_without_results_are_pending_and_not_sent() {
    let mut messages = Messages::from_iter([Message::user("go"), calls(["a", "b"])]);
    let pending = |messages: &Messages| {
        let calls = messages.pending_calls();
        calls
            .into_iter()
            .map(|call| call.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(pending(&messages), ["a", "b"]);
    assert_eq!(*messages.for_model(), [Message::user("go")]);

    messages.add_result("b", "2");
    assert_eq!(pending(&messages), ["a"]);
    assert_eq!(
        *messages.for_model(),
        [
            Message::user("go"),
            calls(["a", "b"]),
            Message::tool("a", MISSING_RESULT),
            Message::tool("b", "2"),
        ]
    );

    messages.add_result("a", "1"); // it came late, and stands where it belongs
    assert_eq!(pending(&messages), [""; 0]);
    assert_eq!(*messages.for_model(), *messages);
    assert_eq!(messages[2], Message::tool("a", "1"));
}

fn pending(messages: &Messages) -> Vec<&str> {
    let calls = messages.pending_calls();
    calls.iter().map(|call| call.arguments.as_str()).collect()
}

#[test]
fn calls_of_one_message_with_the_same_id_are_told_apart_by_their_positions() {
    let call = |words: &str| ToolCall::new("0", "search", &json!(words));
    let calling = Message::Assistant {
        content: String::new(),
        tool_calls: vec![call("first"), call("second"), call("third")],
    };
    let mut messages = Messages::from_iter([calling.clone()]);
    messages.add_result("0", "one");
    assert_eq!(pending(&messages), [r#""second""#, r#""third""#]);
    messages.add_result("0", "two");
    assert_eq!(pending(&messages), [r#""third""#]);
    let mut sent = [
        calling,
        Message::tool("0", "one"),
        Message::tool("0", "two"),
        Message::tool("0", MISSING_RESULT),
    ];
    assert_eq!(*messages.for_model(), sent);

    messages.add_result("0", "three");
    assert_eq!(pending(&messages), [""; 0]);
    sent[3] = Message::tool("0", "three");
    assert_eq!(*messages.for_model(), sent);
    assert_eq!(*messages, sent);
    messages.add_result("0", "four");
    assert_eq!(*messages, sent);
}

#[test]
fn the_text_of_a_message_is_sent_also_without_its_calls() {
    let calling = Message::Assistant {
        content: "Let me see.".to_owned(),
        tool_calls: vec![ToolCall::new("a", "search", &json!({}))],
    };
    let mut messages = Messages::from_iter([Message::user("go"), calling.clone()]);
    messages.add_user("never mind");
    let sent = [
        Message::user("go"),
        Message::assistant("Let me see."),
        Message::user("never mind"),
    ];
    assert_eq!(*messages.for_model(), sent);
    assert_eq!(messages[1], calling);
}

#[test]
fn a_message_that_says_nothing_is_not_sent() {
    let source = ImageSource::Url("https://example.org/cat.png".to_owned());
    let image = Part::Image(Image::new("image/png", source));
    let image = Message::User {
        content: vec![image],
    };
    let messages = Messages::from_iter([Message::user(""), image.clone(), Message::assistant("")]);
    assert_eq!(*messages.for_model(), [image]);
}

#[test]
fn messages_that_are_read_are_put_in_order() {
    let text = json!([
        { "role": "tool", "tool_call_id": "x", "content": "nobody asked" },
        { "role": "user", "content": [{ "text": "hello" }] },
        { "role": "system", "content": "be brief" },
    ]);
    let messages: Messages = serde_json::from_value(text).unwrap();
    assert_eq!(
        *messages,
        [Message::system("be brief"), Message::user("hello")]
    );
    let again: Messages = serde_json::from_value(serde_json::to_value(&messages).unwrap()).unwrap();
    assert_eq!(again, messages);

    let nameless = json!([{ "role": "tool", "content": "of which call?" }]);
    let error = serde_json::from_value::<Messages>(nameless).unwrap_err();
    assert_eq!(error.to_string(), "missing field `tool_call_id`");
}

#[test]
fn arguments_that_are_not_json_stay_as_the_model_wrote_them() {
    let mut call = ToolCall::new("a", "search", &json!({}));
    call.arguments = "{\"words\": ".to_owned();
    assert!(call.parse::<serde_json::Value>().unwrap_err().is_eof());
    call.arguments = " ".to_owned();
    assert_eq!(call.parse::<serde_json::Value>().unwrap(), json!({}));
}

#[test]
fn a_copy_is_shared_until_one_of_the_two_changes() {
    let mut messages = Messages::from_iter([Message::user("go"), calls(["a"])]);
    messages.add_result("a", "1");
    let kept = messages.clone();
    let asked = messages.for_model();
    assert_eq!(
        (kept.as_ptr(), asked.as_ptr()),
        (messages.as_ptr(), messages.as_ptr())
    );
    messages.add_user("and then?");
    assert_eq!((kept.len(), asked.len(), messages.len()), (3, 3, 4));
    assert_eq!(kept[..], messages[..3]);
}

#[test]
fn a_message_that_is_pushed_stands_where_one_that_is_read_does() {
    let message = prop_oneof![
        Just(Message::user("go")),
        Just(Message::assistant("")),
        Just(Message::system("be brief")),
        prop::collection::vec("[ab]", 1..4).prop_map(|ids| {
            let calls = ids.iter().map(|id| ToolCall::new(id, "search", &json!({})));
            let tool_calls = calls.collect();
            Message::Assistant {
                content: String::new(),
                tool_calls,
            }
        }),
        "[abc]".prop_map(|id| Message::tool(id, "found")),
    ];
    let several = prop::collection::vec(message, 0..12);
    proptest!(|(several in several)| {
        let mut pushed = Messages::new();
        for message in several {
            let expected = Messages::from_iter(pushed.iter().cloned().chain([message.clone()]));
            pushed.push(message);
            prop_assert_eq!(&pushed, &expected);
        }
        let asked = pushed.for_model();
        prop_assert_eq!(&asked.for_model(), &asked);
        prop_assert!(asked.pending_calls().is_empty());
    });
}

#[test]
fn a_message_says_what_does_not_fit_its_role() {
    let refused = |message: serde_json::Value| {
        let error = serde_json::from_value::<Message>(message).unwrap_err();
        error.to_string()
    };
    let call = json!({ "id": "a", "name": "search", "arguments": "{}" });
    let cases = [
        (
            json!({ "role": "user", "content": "hello" }),
            "invalid type: the `content` of a message of the role `user` has to be a list of parts",
        ),
        (
            json!({ "role": "system", "content": [] }),
            "invalid type: the `content` of a message of the role `system` has to be a text",
        ),
        (json!({ "role": "assistant" }), "missing field `content`"),
        (
            json!({ "role": "tool", "tool_call_id": "a" }),
            "missing field `content`",
        ),
        (
            json!({ "role": "user", "content": [], "tool_calls": [call] }),
            "unknown field `tool_calls` in a message of the role `user`",
        ),
        (
            json!({ "role": "assistant", "content": "", "tool_call_id": "a" }),
            "unknown field `tool_call_id` in a message of the role `assistant`",
        ),
        (
            json!({ "role": "assistant", "content": "", "name": "Ann" }),
            "unknown field `name`, expected one of `role`, `content`, `tool_calls`, `tool_call_id`",
        ),
        (
            json!({ "role": "person", "content": "" }),
            "unknown variant `person`, expected one of `system`, `user`, `assistant`, `tool`",
        ),
        (
            json!({ "role": "user", "content": 3 }),
            "invalid type: integer `3`, expected a text, or a list of parts",
        ),
        (json!({ "content": "hello" }), "missing field `role`"),
    ];
    for (message, reason) in cases {
        assert_eq!(refused(message), reason);
    }
    let called = json!({ "tool_calls": [call], "content": "", "role": "assistant" });
    let message: Message = serde_json::from_value(called).unwrap();
    assert_eq!(message.tool_calls()[0].name, "search");
}

#[test]
fn a_result_belongs_to_the_first_open_call_of_its_id_also_where_they_are_read() {
    let results = [Message::tool("b", "2"), Message::tool("a", "1")];
    let messages = Messages::from_iter([calls(["a", "b", "a"])].into_iter().chain(results));
    let expected = [
        calls(["a", "b", "a"]),
        Message::tool("a", "1"),
        Message::tool("b", "2"),
    ];
    assert_eq!(*messages, expected);
}
