//! The routes.

#[cfg(feature = "definitions")]
mod definition_views;
#[cfg(feature = "definitions")]
mod definitions;
mod described;
mod events;
mod executions;
mod extract;
mod flows;
mod journal;
mod questions;
mod signals;
mod structure;
mod system;
mod wait;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::Value;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::extract::Base;
use crate::app::App;
use crate::limits::Limits;
use crate::problem::Problem;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Typed flows",
        description = "Starts flows, watches them, answers what they ask people, and sends them signals. Every error is \
                       `application/problem+json`."
    ),
    modifiers(&Security),
    security(("bearer" = [])),
)]
struct Api;

struct Security;

impl utoipa::Modify for Security {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let components = api.components.get_or_insert_default();
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        let link = utoipa::openapi::security::ApiKeyValue::with_description(
            "link",
            "A signed link to one execution or one question",
        );
        let link = utoipa::openapi::security::ApiKey::Query(link);
        components.add_security_scheme("link", SecurityScheme::ApiKey(link));
    }
}

/// Returns all routes and their description.
fn described() -> (Router<Arc<App>>, utoipa::openapi::OpenApi) {
    let router = OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(flows::list))
        .routes(routes!(flows::get))
        .routes(routes!(flows::picture))
        .routes(routes!(flows::start))
        .routes(routes!(executions::list))
        .routes(routes!(executions::get, executions::delete))
        .routes(routes!(executions::cancel))
        .routes(routes!(executions::undoable))
        .routes(routes!(executions::retry))
        .routes(routes!(executions::copy))
        .routes(routes!(executions::link))
        .routes(routes!(executions::structure))
        .routes(routes!(executions::picture))
        .routes(routes!(journal::records))
        .routes(routes!(journal::state))
        .routes(routes!(journal::writes))
        .routes(routes!(questions::list))
        .routes(routes!(questions::of_execution))
        .routes(routes!(questions::get))
        .routes(routes!(questions::answer))
        .routes(routes!(signals::list))
        .routes(routes!(signals::send))
        .routes(routes!(events::of_execution))
        .routes(routes!(events::of_all))
        .routes(routes!(system::health))
        .routes(routes!(system::ready))
        .routes(routes!(system::metrics));
    #[cfg(feature = "definitions")]
    let router = router
        .routes(routes!(definitions::catalog))
        .routes(routes!(definitions::list, definitions::create))
        .routes(routes!(definitions::validate))
        .routes(routes!(
            definitions::get,
            definitions::patch,
            definitions::replace,
            definitions::delete
        ))
        .routes(routes!(definitions::source))
        .routes(routes!(definitions::start));
    router.split_for_parts()
}

/// Returns the OpenAPI 3.1 description of all routes of a server with these limits.
pub(crate) fn open_api(limits: &Limits) -> Value {
    described::complete(&described().1, limits)
}

/// Returns the description of the server that is asked.
async fn own_open_api(State(app): State<Arc<App>>, Base(base): Base) -> Json<Value> {
    let mut api = open_api(app.limits());
    described::of_server(&mut api, &base, app.guard().asks_who());
    Json(api)
}

pub(crate) fn router(app: Arc<App>) -> Router {
    let (router, _) = described();
    #[cfg(feature = "mcp")]
    let router = router.merge(crate::mcp::router(&app));
    router
        .route("/openapi.json", axum::routing::get(own_open_api))
        .merge(crate::studio::routes())
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(app.clone(), observe))
        .with_state(app)
}

async fn nothing_here(request: Request) -> Problem {
    Problem::not_found(format!("there is no `{}`", request.uri().path()))
}

async fn wrong_method(request: Request) -> Problem {
    Problem::new(
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        "wrong-method",
        "This cannot be done here",
        format!(
            "`{}` does not go with `{}`",
            request.method(),
            request.uri().path()
        ),
    )
}

/// Counts a request, and adds security headers to its answer.
async fn observe(
    State(app): State<Arc<App>>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let since = Instant::now();
    let method = request.method().as_str().to_owned();
    let route = matched.map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    let mut response = next.run(request).await.into_response();
    let headers = response.headers_mut();
    let no_sniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, no_sniff);
    let same_site = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, same_site);
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    app.metrics()
        .request(&method, &route, response.status(), since);
    response
}
