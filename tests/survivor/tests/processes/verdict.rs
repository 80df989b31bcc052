//! What has to be true of what processes have left behind, wherever they died.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::grave::Grave;
use crate::support::Outcome;

/// What was found at points.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) points: usize,
    pub(crate) deaths: usize,
    pub(crate) reruns: usize,
    pub(crate) answers: usize,
    pub(crate) postings: usize,
    pub(crate) violations: Vec<String>,
}

/// What is wrong if a query finds a row, and the query.
const CASES: [(&str, &str); 7] = [
    (
        "an execution is not over",
        "SELECT id || ' ' || status FROM executions WHERE status NOT IN ('completed', 'failed') OR holder IS NOT NULL",
    ),
    (
        "a question is open",
        "SELECT token || ' ' || step FROM pauses WHERE state IN ('open', 'answered', 'timed_out')",
    ),
    (
        "a step is recorded twice",
        "SELECT execution || '/' || step FROM records WHERE kind IN ('outcome', 'node_failed', 'resumed') \
         GROUP BY execution, step HAVING count(*) > 1",
    ),
    (
        "a replay is recorded",
        "SELECT execution || '/' || step || ' ' || kind FROM records \
         WHERE kind NOT IN ('attempt_failed', 'snapshot') GROUP BY execution, step, kind HAVING count(*) > 1",
    ),
    (
        "the failure of a flow is recorded twice",
        "SELECT a.execution || '/' || a.step || ' ' || a.attempt FROM records a WHERE a.kind = 'attempt_failed' \
         AND EXISTS (SELECT 1 FROM records f WHERE f.execution = a.execution AND f.kind IN ('flow_failed', 'timed_out') \
         AND f.step = a.step || CASE WHEN a.attempt = 0 THEN '' ELSE '~' || a.attempt END) \
         GROUP BY a.execution, a.step, a.attempt HAVING count(*) > 1",
    ),
    (
        "a record is missing",
        "SELECT e.id || ' ' || e.next_seq FROM executions e JOIN records r ON r.execution = e.id \
         GROUP BY e.id HAVING max(r.seq) + 1 <> e.next_seq OR max(r.seq) - min(r.seq) + 1 <> count(*)",
    ),
    (
        "a run does not end with its end",
        "SELECT r.execution || ' ' || r.kind FROM records r JOIN executions e ON e.id = r.execution \
         WHERE r.seq = e.next_seq - 1 AND r.kind NOT IN ('run_completed', 'run_failed')",
    ),
];

/// What the steps have written to the table of their own, in the transactions of their outcomes.
pub(crate) fn judge_ledger(
    grave: &Grave,
    lives: &[Vec<Value>],
    is_pruned: bool,
    found: &mut Found,
    wrong: &mut Vec<String>,
) -> Outcome {
    let lines = || lives.iter().flatten();
    let steps = |what: &str| -> BTreeSet<String> {
        let steps = lines().filter_map(|line| line[what].as_str());
        steps.map(str::to_owned).collect()
    };
    let (posts, recorded) = (steps("posts"), steps("recorded"));
    let in_vain = |step: &str| step.contains("post_in_vain");
    let mut rows = BTreeMap::new();
    for row in grave.query("SELECT step, CAST(count(*) AS TEXT) FROM postings GROUP BY step")? {
        let [Some(step), Some(count)] = &row[..] else {
            return Err(format!("{row:?} is no row").into());
        };
        rows.insert(step.clone(), count.clone());
    }
    for step in posts.intersection(&recorded) {
        let count = rows.get(step).map_or("0", String::as_str);
        let expected = if in_vain(step) { "0" } else { "1" };
        if count != expected {
            wrong.push(format!(
                "{step} is recorded, and in the table {count} times"
            ));
        }
        found.postings += usize::from(!in_vain(step));
    }
    let doubled = rows.iter().filter(|(_, count)| *count != "1");
    wrong.extend(doubled.map(|(step, count)| format!("{step} is in the table {count} times")));
    // A record that is pruned by the write that adds it is nowhere if its process dies then.
    if !is_pruned {
        let lost = rows.keys().filter(|step| !recorded.contains(*step));
        wrong.extend(lost.map(|step| format!("{step} is in the table, and not recorded")));
    }
    let all = "SELECT e.id || ' has ' || count(p.step) FROM executions e LEFT JOIN postings p ON p.step LIKE e.id || '/%' \
         WHERE e.copied_from IS NULL GROUP BY e.id HAVING count(p.step) <> 7";
    for row in grave.query(all)? {
        wrong.push(format!("rows are missing: {row:?}"));
    }
    Ok(())
}

/// What the database says in the end.
pub(crate) fn judge_database(grave: &Grave, wrong: &mut Vec<String>) -> Outcome {
    if grave.is_file() {
        let sound = grave.query("PRAGMA quick_check")?;
        if sound != [[Some("ok".to_owned())]] {
            wrong.push(format!("the file is damaged: {sound:?}"));
        }
    }
    for (what, sql) in CASES {
        for row in grave.query(sql)? {
            wrong.push(format!("{what}: {row:?}"));
        }
    }
    Ok(())
}

/// An answer that was accepted is what a step saw, unless the flow that asked took too long
/// meanwhile.
pub(crate) fn judge_answers(
    grave: &Grave,
    lives: &[Vec<Value>],
    found: &mut Found,
    wrong: &mut Vec<String>,
) -> Outcome {
    let lines: Vec<&Value> = lives.iter().flatten().collect();
    let seen: Vec<String> = lines
        .iter()
        .filter(|line| line["began"].is_string())
        .map(|line| line["inputs"].to_string())
        .collect();
    let timed_out: BTreeSet<&str> = lines
        .iter()
        .filter_map(|line| line["timed_out"].as_str())
        .collect();
    let took_too_long = |step: &str| {
        let inside = |flow: &&str| {
            let rest = step.strip_prefix(*flow);
            rest.is_some_and(|rest| rest.starts_with(['.', '~']))
        };
        timed_out.iter().any(inside)
    };
    let answers = grave
        .query("SELECT answer, execution || '/' || step FROM pauses WHERE answer IS NOT NULL")?;
    let mut given = BTreeSet::new();
    for row in answers {
        let [Some(answer), Some(step)] = &row[..] else {
            return Err(format!("{row:?} is no answer").into());
        };
        found.answers += 1;
        let by = signature(&serde_json::from_str(answer)?).ok_or("an answer is not signed")?;
        if !took_too_long(step) && !seen.iter().any(|inputs| inputs.contains(&by)) {
            wrong.push(format!(
                "the answer {answer} to {step} was accepted, and nobody saw it"
            ));
        }
        given.insert(by);
    }
    for line in lines {
        if let Some(by) = line["accepted"].as_str()
            && !given.contains(by)
        {
            wrong.push(format!("the answer {by} was accepted, and is not stored"));
        }
    }
    Ok(())
}

/// Which answer it was.
fn signature(answer: &Value) -> Option<String> {
    match answer {
        Value::Object(map) => match map.get("by") {
            Some(Value::String(by)) => Some(by.clone()),
            _ => map.values().find_map(signature),
        },
        _ => None,
    }
}
