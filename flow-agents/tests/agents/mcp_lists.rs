//! Servers of tools whose lists and messages have no end, and tools without a name.

use std::error::Error as _;
use std::sync::Arc;

use flow_agents::{McpError, McpServer};
use rmcp::model::{
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServiceExt as _};
use rmcp::{ErrorData, RoleServer, ServerHandler};

/// Some tools, and the cursor of the next page.
type Page = (Vec<Tool>, Option<String>);

/// What a server lists, by the cursor with which it is asked.
#[derive(Clone)]
struct Listing(fn(Option<String>) -> Page);

impl ServerHandler for Listing {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        asked: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (tools, next) = (self.0)(asked.and_then(|asked| asked.cursor));
        let mut page = ListToolsResult::with_all_items(tools);
        page.next_cursor = next;
        Ok(page)
    }
}

fn tool(name: String, description: &str) -> Tool {
    Tool::new(name, description.to_owned(), Arc::default())
}

async fn connected(listing: Listing) -> McpServer {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let service = listing.serve(tokio::io::split(theirs)).await.unwrap();
        let _ = service.waiting().await; // it may be cut off
    });
    McpServer::over(ours).await.unwrap()
}

/// Why the tools of a server cannot be listed.
async fn refused(listing: Listing) -> String {
    let error = connected(listing).await.tools().await.unwrap_err();
    assert!(matches!(error, McpError::NotListed(_)), "{error:?}");
    let reason = error.source().unwrap().to_string();
    let (server, reason) = reason.split_once(": ").unwrap();
    assert!(server.starts_with("`connection`"), "{server}");
    reason.to_owned()
}

#[tokio::test]
async fn all_pages_of_a_list_are_read() {
    let server = connected(Listing(|cursor| {
        let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let next = (page < 9).then(|| (page + 1).to_string());
        (vec![tool(format!("tool_{page}"), "")], next)
    }));
    let tools = server.await.tools().await.unwrap();
    let names: Vec<_> = tools
        .definitions()
        .into_iter()
        .map(|it| it.name.clone())
        .collect();
    assert_eq!(names.len(), 10);
    assert_eq!((&*names[0], &*names[9]), ("tool_0", "tool_9"));
}

#[tokio::test]
async fn a_list_that_does_not_end_is_named() {
    let same = Listing(|_| (Vec::new(), Some("again".to_owned())));
    assert_eq!(
        refused(same).await,
        "its list does not end: \"again\" follows twice"
    );
    let circle = Listing(|cursor| {
        let next = if cursor.as_deref() == Some("a") {
            "b"
        } else {
            "a"
        };
        (Vec::new(), Some(next.to_owned()))
    });
    assert_eq!(
        refused(circle).await,
        "its list does not end: \"a\" follows twice"
    );
    let pages = Listing(|cursor| {
        let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        (
            vec![tool(format!("tool_{page}"), "")],
            Some((page + 1).to_string()),
        )
    });
    assert_eq!(
        refused(pages).await,
        "its list does not end: more follow after 256 tools on 256 pages"
    );
    let large = Listing(|cursor| {
        let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let tools = (0..6_000).map(|number| tool(format!("tool_{page}_{number}"), ""));
        (tools.collect(), Some((page + 1).to_string()))
    });
    assert_eq!(
        refused(large).await,
        "its list does not end: more follow after 12000 tools on 2 pages"
    );
}

#[tokio::test]
async fn a_message_that_is_too_long_is_named_at_once() {
    let long = Listing(|_| (vec![tool("long".to_owned(), &"x".repeat(17 << 20))], None));
    let server = connected(long).await;
    // The connection has ended, and the reason stays the same.
    for _ in 0..2 {
        let error = server.tools().await.unwrap_err();
        let reason = error.source().unwrap().to_string();
        assert!(
            reason.ends_with(": a message of the server has 16 MiB or more"),
            "{reason}"
        );
    }
    let fits = Listing(|_| (vec![tool("long".to_owned(), &"x".repeat(15 << 20))], None));
    connected(fits).await.tools().await.unwrap();
}

#[tokio::test]
async fn a_tool_without_a_name_is_refused() {
    let unnamed = |name: &'static str| match name {
        "" => Listing(|_| (vec![tool(String::new(), "Says hello.")], None)),
        "\u{200b}" => Listing(|_| (vec![tool("\u{200b}".to_owned(), "Says hello.")], None)),
        _ => Listing(|_| (vec![tool(" \t".to_owned(), "Says hello.")], None)),
    };
    for name in ["", " ", "\u{200b}"] {
        let error = connected(unnamed(name)).await.tools().await.unwrap_err();
        assert!(matches!(error, McpError::NoName { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.starts_with("a tool of the server `connection`"),
            "{text}"
        );
        assert!(
            text.ends_with("has no name; it is described as \"Says hello.\""),
            "{text}"
        );
    }
}
