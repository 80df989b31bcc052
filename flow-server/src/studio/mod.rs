//! The studio, a page to look at flows, executions and questions, and to edit definitions.
//!
//! It is plain HTML, CSS and JavaScript, embedded in the program, and uses the public routes. It
//! needs no token, because it contains no data.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{OriginalUri, Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::problem::Problem;

const PAGE: &str = include_str!("index.html");

/// The content security policy of the page. Flows and people write text only; even if some of it
/// became an element, the browser would not run it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types picture";

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// A file of the page.
struct File {
    name: &'static str,
    content_type: &'static str,
    content: &'static str,
}

macro_rules! files {
    ($($name:literal: $content_type:expr,)*) => {
        [$(File { name: $name, content_type: $content_type, content: include_str!($name) }),*]
    };
}

static FILES: [File; 37] = files! {
    "api.js": SCRIPT,
    "app.js": SCRIPT,
    "canvas-layout.js": SCRIPT,
    "definition-flow.js": SCRIPT,
    "definition-model.js": SCRIPT,
    "definition-view.js": SCRIPT,
    "definitions-view.js": SCRIPT,
    "dialogs.js": SCRIPT,
    "dom.js": SCRIPT,
    "editor.css": STYLE,
    "execution-view.js": SCRIPT,
    "executions-view.js": SCRIPT,
    "flow-canvas.js": SCRIPT,
    "flow-panel.js": SCRIPT,
    "flows-view.js": SCRIPT,
    "icon.svg": "image/svg+xml",
    "journal.js": SCRIPT,
    "keys.js": SCRIPT,
    "links.js": SCRIPT,
    "node-panel.js": SCRIPT,
    "page.css": STYLE,
    "palette.js": SCRIPT,
    "panel-parts.js": SCRIPT,
    "picture.js": SCRIPT,
    "questions-view.js": SCRIPT,
    "run-model.js": SCRIPT,
    "rust-types.js": SCRIPT,
    "schema-fields.js": SCRIPT,
    "schema-fit.js": SCRIPT,
    "schema-form.js": SCRIPT,
    "signals.js": SCRIPT,
    "start-form.js": SCRIPT,
    "stream.js": SCRIPT,
    "timeline.js": SCRIPT,
    "values.js": SCRIPT,
    "views.css": STYLE,
    "virtual-list.js": SCRIPT,
};

/// The tag of all files, which change together.
static TAG: LazyLock<String> = LazyLock::new(|| {
    let all = FILES.iter().map(|file| file.content);
    let digest = all.fold(Sha256::new().chain_update(PAGE), |digest, content| {
        digest.chain_update(content)
    });
    URL_SAFE_NO_PAD.encode(digest.finalize())
});

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(page))
        .route("/studio/{file}", get(file))
}

async fn page(
    State(app): State<Arc<App>>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Response {
    let mut page = PAGE.replace("\"studio/", &format!("\"{}studio/", folder(&uri)));
    let mut tag = TAG.clone();
    if app.keeps_definitions() {
        page = page.replace(
            "data-view=\"definitions\" hidden",
            "data-view=\"definitions\"",
        );
        tag += "-definitions";
    }
    let mut response = answer(&headers, &tag, "text/html; charset=utf-8", page);
    let policy = header::HeaderValue::from_static(POLICY);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Returns the relative link from this address to its folder, for an address without a final `/`.
fn folder(uri: &Uri) -> String {
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let plain = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' | b'%' => char::from(byte).to_string(),
        letter if letter.is_ascii_alphanumeric() => char::from(letter).to_string(),
        other => format!("%{other:02X}"),
    };
    let escaped: String = last.bytes().map(plain).collect();
    if escaped.is_empty() {
        escaped
    } else {
        format!("./{escaped}/")
    }
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match FILES.iter().find(|file| file.name == name) {
        Some(file) => answer(&headers, &TAG, file.content_type, file.content.to_owned()),
        None => Problem::not_found("the page has no such file").into_response(),
    }
}

/// Returns the content, or 304 if the browser already has it.
fn answer(headers: &HeaderMap, tag: &str, content_type: &'static str, content: String) -> Response {
    let tag = format!("\"{tag}\"");
    let known = headers.get(header::IF_NONE_MATCH);
    let is_known = known.is_some_and(|known| {
        let mut tags = known.to_str().unwrap_or_default().split(',');
        tags.any(|known| known.trim().trim_start_matches("W/") == tag)
    });
    let common = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
    ];
    if is_known {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let headers = [(header::CONTENT_TYPE, content_type)];
    (common, headers, content).into_response()
}
