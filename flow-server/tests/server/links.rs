//! Signed links.

use std::time::Duration;

use flow_server::Links;
use serde_json::json;

use crate::support::{Client, served_with};

async fn link(client: &Client, id: &str, body: serde_json::Value) -> String {
    let made = client
        .post(&format!("/executions/{id}/links"), body)
        .await
        .expect(201);
    made["link"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_link_to_an_execution_shows_it_and_answers_its_questions() {
    let served = served_with(|server| server);
    let (id, token) = served.client.asking().await;
    let (other, other_token) = served.client.asking().await;
    let link = link(&served.client, &id, json!({ "expiresInSeconds": 60 })).await;
    let guest = served.client.without_token();
    let path = format!("/executions/{id}");
    for part in [
        "",
        "/journal",
        "/state",
        "/writes",
        "/structure",
        "/questions",
        "/events",
    ] {
        let path = format!("{path}{part}?link={link}");
        let answer = guest.get(&path).await;
        assert_eq!(answer.status.as_u16(), 200, "{path}: {}", answer.text);
    }
    // It can also be sent as a token.
    guest.with_token(&link).get(&path).await.expect(200);
    let listed = guest
        .get(&format!("/questions?link={link}"))
        .await
        .expect(200);
    assert_eq!(listed["questions"].as_array().unwrap().len(), 1);
    guest
        .get(&format!("/executions/{other}?link={link}"))
        .await
        .problem(404, "not-found");
    guest
        .get(&format!("/questions/{other_token}?link={link}"))
        .await
        .problem(404, "not-found");
    for path in ["/executions", "/flows", "/events", "/metrics"] {
        guest
            .with_token(&link)
            .get(path)
            .await
            .problem(403, "forbidden");
    }
    let closed = [
        (format!("{path}/cancel"), json!({ "reason": "x" })),
        (format!("{path}/copies"), json!({ "seq": 0 })),
        (format!("{path}/links"), json!({ "expiresInSeconds": 600 })),
        (
            "/flows/Claim/executions".to_owned(),
            json!({ "employee": "x", "amount": 1 }),
        ),
    ];
    for (path, body) in closed {
        guest
            .with_token(&link)
            .post(&path, body)
            .await
            .problem(403, "forbidden");
    }
    let answer = json!({ "Reject": { "reason": "too much" } });
    guest
        .with_token(&link)
        .post(&format!("/questions/{token}/answer"), answer)
        .await
        .expect(200);
    let settled = guest.get(&format!("{path}?wait=5&link={link}")).await;
    assert_eq!(settled.expect(200)["output"]["end"], "rejected");
}

#[tokio::test]
async fn a_link_to_a_question_shows_nothing_but_the_question() {
    let served = served_with(|server| server);
    let (id, token) = served.client.asking().await;
    let body = json!({ "expiresInSeconds": 60, "step": "claim.decision" });
    let link = link(&served.client, &id, body).await;
    let guest = served.client.without_token().with_token(&link);
    let questions = guest.get("/questions").await.expect(200);
    assert_eq!(questions["questions"][0]["token"], token.as_str());
    guest
        .get(&format!("/executions/{id}/questions"))
        .await
        .expect(200);
    for part in [
        "",
        "/journal",
        "/state",
        "/writes",
        "/structure",
        "/picture.svg",
        "/events",
    ] {
        guest
            .get(&format!("/executions/{id}{part}"))
            .await
            .problem(404, "not-found");
    }
    let answer = json!({ "Approve": { "comment": "" } });
    let answered = guest
        .post(&format!("/questions/{token}/answer"), answer)
        .await
        .expect(200);
    assert_eq!(answered.get("output"), None);
    let no_question = json!({ "expiresInSeconds": 60, "step": "claim.pay" });
    served
        .client
        .post(&format!("/executions/{id}/links"), no_question)
        .await
        .problem(404, "not-found");
}

#[tokio::test]
async fn links_that_are_changed_expired_or_of_another_key_let_nobody_in() {
    let links = Links::new([7; 32]);
    let served = served_with(|server| server.links(links.clone()));
    let (id, _) = served.client.asking().await;
    let execution = id.parse().unwrap();
    let good = links.execution(execution, Duration::from_secs(60));
    let path = format!("/executions/{id}");
    let guest = served.client.without_token();
    guest.get(&format!("{path}?link={good}")).await.expect(200);
    let (claims, signature) = good.split_once('.').unwrap();
    let mut longer = claims.to_owned();
    longer.push('A');
    let bad = [
        links.execution(execution, Duration::ZERO),
        Links::new([8; 32]).execution(execution, Duration::from_secs(60)),
        Links::random().execution(execution, Duration::from_secs(60)),
        format!("{claims}.{}", &signature[1..]),
        format!("{longer}.{signature}"),
        claims.to_owned(),
        format!("{claims}."),
        ".".to_owned(),
        String::new(),
    ];
    for link in bad {
        let answer = guest.get(&format!("{path}?link={link}")).await;
        answer.problem(401, "unauthenticated");
    }
    assert_eq!(format!("{links:?}"), "Links(…)");
}
