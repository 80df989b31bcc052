//! Questions that a model answers with SQL: it reads the schema of an SQLite file, writes a query,
//! and corrects it if SQLite refuses it. The file is opened for reading only, so no query of the
//! model can change it.
//!
//! ```text
//! cargo run -p flow-examples --example text_to_sql
//! cargo run -p flow-examples --features genai --example text_to_sql -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use schemars::JsonSchema;
use serde::Deserialize;
use typed_flows::agents::{AskError, Message, Messages, Model, ScriptedModel, ask};
use typed_flows::prelude::*;

const MOST_ATTEMPTS: usize = 3;
const MOST_ROWS: usize = 100;

fn open(file: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Reads the statements that created the tables.
#[node(blocking)]
fn schema(file: &Path) -> rusqlite::Result<String> {
    let connection = open(file)?;
    let mut tables = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let tables = tables.query_map([], |row| row.get(0))?;
    let tables: Vec<String> = tables.collect::<Result<_, _>>()?;
    Ok(tables.join(";\n"))
}

/// A query of SQLite.
#[derive(Deserialize, JsonSchema)]
struct Query {
    /// One SELECT statement.
    sql: String,
}

/// A query that SQLite refused.
#[derive(Clone)]
struct Refused {
    sql: String,
    why: String,
}

struct WriteSql {
    model: Arc<dyn Model>,
}

/// Asks the model for a query, given those that were refused.
#[node(writes = sql)]
impl WriteSql {
    async fn exec(
        &self,
        question: &str,
        schema: &str,
        refused: Option<&[Refused]>,
    ) -> Result<String, AskError> {
        let mut messages = Messages::from_iter([
            Message::system(format!(
                "Answer with a query of SQLite. The schema:\n{schema}"
            )),
            Message::user(question),
        ]);
        for Refused { sql, why } in refused.unwrap_or_default() {
            messages.push(Message::assistant(sql));
            messages.add_user(format!("SQLite refuses that: {why}"));
        }
        let query: Query = ask(&self.model, &messages).await?;
        Ok(query.sql)
    }
}

type Rows = Vec<Vec<String>>;

#[derive(Action)]
enum Ran {
    Answered {
        rows: Rows,
    },
    Refused {
        #[action(add)]
        refused: Refused,
    },
    GaveUp {
        #[action(add)]
        refused: Refused,
    },
}

/// Runs the query.
#[node(blocking, actions = Ran)]
fn run_sql(file: &Path, sql: &str, refused: Option<&[Refused]>) -> Result<Ran, rusqlite::Error> {
    let connection = open(file)?;
    let why = match rows(&connection, sql) {
        Ok(rows) => return Ok(Ran::Answered { rows }),
        Err(error) => error.to_string(),
    };
    let attempts = refused.unwrap_or_default().len() + 1;
    let sql = sql.to_owned();
    let refused = Refused { sql, why };
    Ok(if attempts < MOST_ATTEMPTS {
        Ran::Refused { refused }
    } else {
        Ran::GaveUp { refused }
    })
}

/// The first rows, as texts.
fn rows(connection: &Connection, sql: &str) -> rusqlite::Result<Rows> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..columns)
            .map(|column| Ok(text(row.get_ref(column)?)))
            .collect()
    })?;
    rows.take(MOST_ROWS).collect()
}

fn text(value: rusqlite::types::ValueRef<'_>) -> String {
    use rusqlite::types::ValueRef::{Blob, Integer, Null, Real, Text};
    match value {
        Null => "NULL".to_owned(),
        Integer(number) => number.to_string(),
        Real(number) => number.to_string(),
        Text(text) => String::from_utf8_lossy(text).into_owned(),
        Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

flow! {
    /// Answers a question with the rows of an SQLite file.
    TextToSql(file: PathBuf, question: String) -> (
        sql: String,
        rows: Option<Rows>,
        refused: Option<Vec<Refused>>,
    ) {
        node write_sql: WriteSql;

        start >> schema >> write_sql >> run_sql;
        run_sql - "answered" >> end;
        run_sql - "refused"  >> write_sql;
        run_sql - "gave_up"  >> end("gave_up");
    }
}

const SHOP: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, euros INTEGER NOT NULL);
    INSERT INTO customers VALUES (1, 'Ann', 'Bergen'), (2, 'Bob', 'Oslo'), (3, 'Cleo', 'Oslo');
    INSERT INTO orders VALUES (1, 1, 30), (2, 2, 45), (3, 3, 5), (4, 1, 10);
";

/// Sample replies of a model: a column that does not exist, a statement that is not a query, and
/// then the right query.
fn script() -> ScriptedModel {
    let right = "SELECT city, sum(euros) FROM orders JOIN customers ON customers.id = customer_id \
                 GROUP BY city ORDER BY 2 DESC";
    ScriptedModel::new()
        .text(r#"{ "sql": "SELECT city, sum(euros) FROM orders GROUP BY city" }"#)
        .text(r#"{ "sql": "DELETE FROM orders" }"#)
        .text(format!(r#"{{ "sql": "{right}" }}"#))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("shop.sqlite");
    Connection::open(&file)?.execute_batch(SHOP)?;

    let chosen = flow_examples::model(script())?;
    let flow = TextToSql::builder()
        .write_sql(WriteSql {
            model: chosen.model,
        })
        .build();
    let question = "How much was sold in each city, most first?".to_owned();
    let input = TextToSqlInput {
        file: file.clone(),
        question,
    };
    let output = flow.run(input).await?;
    for Refused { sql, why } in output.refused.iter().flatten() {
        println!("{sql}\n  refused: {why}");
    }
    println!("{}", output.sql);
    for row in output.rows.iter().flatten() {
        println!("  {}", row.join(" | "));
    }

    let count: i64 = open(&file)?.query_row("SELECT count(*) FROM orders", [], |row| row.get(0))?;
    assert_eq!(count, 4, "nothing is deleted");
    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!(output.end, TextToSqlEnd::Default);
        let why: Vec<String> = output
            .refused
            .into_iter()
            .flatten()
            .map(|refused| refused.why)
            .collect();
        assert!(why[0].starts_with("no such column: city"), "{why:?}");
        assert!(why[1].contains("readonly"), "{why:?}");
        let rows = [["Oslo", "50"], ["Bergen", "40"]];
        assert_eq!(
            output.rows,
            Some(rows.map(|row| row.map(str::to_owned).to_vec()).to_vec())
        );
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/text_to_sql.rs"]
mod law;
