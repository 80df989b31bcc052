//! Calls tools, and converts their results for a model.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, ContentBlock, CustomResult, RequestId, ResourceContents, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde::Deserialize as _;
use serde_json::{Value, json};

/// Calls a tool. If the caller stops waiting, the server is notified.
///
/// `call_tool` of rmcp loses a result with content of an unknown kind, so it is not used.
pub(super) async fn call_tool(
    server: &Peer<RoleClient>,
    request: CallToolRequestParams,
) -> Result<CallToolResult, ServiceError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
    let options = PeerRequestOptions::no_options();
    let handle = server.send_request_with_option(request, options).await?;
    let mut wait = Wait {
        peer: handle.peer.clone(),
        request: Some(handle.id.clone()),
    };
    let result = handle.await_response().await;
    wait.request = None;
    match result? {
        ServerResult::CallToolResult(result) => Ok(result),
        // These have no content.
        ServerResult::EmptyResult(_) | ServerResult::TaskAckResult(_) => {
            Ok(CallToolResult::default())
        }
        ServerResult::CustomResult(CustomResult(result)) => {
            readable(result).ok_or(ServiceError::UnexpectedResponse)
        }
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// A result that rmcp cannot read, with texts in place of unknown contents.
fn readable(mut result: Value) -> Option<CallToolResult> {
    let fields = result.as_object_mut()?;
    if fields.keys().all(|name| name == "_meta") {
        return Some(CallToolResult::default());
    }
    for content in fields.get_mut("content")?.as_array_mut()? {
        if ContentBlock::deserialize(&*content).is_err() {
            let kind: String = match &content["type"] {
                Value::String(kind) => kind.chars().take(100).collect(),
                _ => "without a kind".to_owned(),
            };
            let text = format!("[a content that cannot be read is left out: {kind}]");
            *content = json!({ "type": "text", "text": text });
        }
    }
    serde_json::from_value(result).ok()
}

/// A request whose result is awaited. Dropping it earlier notifies the server.
struct Wait {
    peer: Peer<RoleClient>,
    request: Option<RequestId>,
}

impl Drop for Wait {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::try_current();
        let (Some(request), Ok(runtime)) = (self.request.take(), runtime) else {
            return;
        };
        let peer = self.peer.clone();
        let why = CancelledNotificationParam::new(Some(request), None);
        runtime.spawn(async move { peer.notify_cancelled(why).await });
    }
}

/// A result as a model reads it: its texts, one on each line, with notes for omitted contents. If
/// there are none, the structured content, if any.
pub(super) fn text_of(result: CallToolResult) -> Option<String> {
    let lines = result.content.into_iter().map(|block| match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => format!("[an image is left out: {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[a sound is left out: {}]", audio.mime_type),
        ContentBlock::Resource(resource) => resource_text(resource.resource),
        ContentBlock::ResourceLink(link) => format!("[a resource: {}]", link.uri),
        _ => "[a content of an unknown kind is left out]".to_owned(),
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return result.structured_content.map(|content| content.to_string());
    }
    Some(lines.join("\n"))
}

fn resource_text(contents: ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => text,
        ResourceContents::BlobResourceContents { uri, .. } => {
            format!("[a resource that is not a text is left out: {uri}]")
        }
        _ => "[a resource of an unknown kind is left out]".to_owned(),
    }
}
