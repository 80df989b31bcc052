use std::time::{Duration, SystemTime};

use flow_agents::kit::CurrentTime;
use flow_agents::{Tools, tools};
use serde_json::json;

use super::call;

/// 2026-03-29 01:00:00.5 UTC: half a second after summer time has begun in Europe.
fn clock() -> Tools {
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(1_774_746_000_500);
    tools![CurrentTime = CurrentTime::at(move || now)]
}

/// M-046
#[tokio::test]
async fn the_time_is_told_in_the_zone_that_is_asked_for() {
    let utc = "Current UTC time: 2026-03-29T01:00:00.500Z";
    let cases = [
        (json!({}), utc),
        (json!({ "timezone": null }), utc),
        (json!({ "timezone": "UTC" }), utc),
        (json!({ "timezone": "utc" }), utc),
        (
            json!({ "timezone": "Europe/Berlin" }),
            "Current time in Europe/Berlin: 2026-03-29T03:00:00.500+02:00",
        ),
        (
            json!({ "timezone": "asia/kathmandu" }),
            "Current time in Asia/Kathmandu: 2026-03-29T06:45:00.500+05:45",
        ),
        (
            json!({ "timezone": "America/St_Johns" }),
            "Current time in America/St_Johns: 2026-03-28T22:30:00.500-02:30",
        ),
    ];
    for (arguments, said) in cases {
        assert_eq!(
            call(&clock(), "current_time", arguments.clone()).await,
            Ok(said.to_owned()),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn what_is_not_a_zone_is_refused() {
    let names = [
        "",
        " ",
        "Mars/Olympus",
        "../../etc/passwd",
        "/etc/localtime",
        "+05:00",
        "EST5EDT4,M3",
    ];
    for name in names {
        let said = call(&clock(), "current_time", json!({ "timezone": name }))
            .await
            .unwrap_err();
        assert!(
            said.starts_with(&format!("no time zone is called {name:?}; give")),
            "{said}"
        );
    }
    let said = call(
        &clock(),
        "current_time",
        json!({ "timezone": "ü".repeat(1_000_000) }),
    )
    .await
    .unwrap_err();
    assert!(said.len() < 400 && said.contains("ü…\""), "{said}");
    let said = call(&clock(), "current_time", json!({ "timezone": 5 }))
        .await
        .unwrap_err();
    assert!(said.contains("invalid type: integer `5`"), "{said}");
}

#[tokio::test]
async fn the_clock_of_the_system_is_the_default() {
    let said = call(&tools![CurrentTime], "current_time", json!({}))
        .await
        .unwrap();
    let now: jiff::Timestamp = said["Current UTC time: ".len()..].parse().unwrap();
    let passed = SystemTime::now()
        .duration_since(SystemTime::from(now))
        .unwrap();
    assert!(passed < Duration::from_secs(600), "{passed:?}");
}
