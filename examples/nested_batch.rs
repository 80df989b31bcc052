//! A batch within a batch: a school has classes, a class has students. Each class is a run of one
//! flow, each student a run of another flow. An error contains its path: `school.classes[1]…`.
//!
//! ```text
//! cargo run --example nested_batch -- grades/
//! ```
//!
//! The directory has one file for each class, and a file one line for each student: the name, then
//! the grades, from 0 to 100.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use typed_flows::prelude::*;

#[derive(Debug, thiserror::Error)]
enum GradesError {
    #[error("cannot read {0}")]
    Unreadable(PathBuf, #[source] io::Error),
    #[error("{0} contains no .csv file")]
    NoClasses(PathBuf),
    #[error("{0} has no students")]
    NoStudents(PathBuf),
    #[error("{0} has no grades")]
    NoGrades(String),
    #[error("`{1}` is not a grade from 0 to 100 (of {0})")]
    NotAGrade(String, String),
}

// A student.

/// Reads a line such as `Ada Lovelace,98,100`.
#[node(writes(name, grades))]
fn parse_line(line: &str) -> Result<(String, Vec<u8>), GradesError> {
    let mut fields = line.split(',').map(str::trim);
    let name = fields.next().unwrap_or_default().to_owned();
    let grades = fields
        .map(|field| match field.parse() {
            Ok(grade @ 0..=100) => Ok(grade),
            _ => Err(GradesError::NotAGrade(name.clone(), field.to_owned())),
        })
        .collect::<Result<Vec<u8>, _>>()?;
    if grades.is_empty() {
        return Err(GradesError::NoGrades(name));
    }
    Ok((name, grades))
}

#[node(writes = average)]
fn average_grade(grades: &[u8]) -> f64 {
    grades.iter().copied().map(f64::from).sum::<f64>() / grades.len() as f64
}

flow! {
    /// Computes the average grade of a student.
    Student(line: String) -> (name: String, average: f64) {
        start >> parse_line >> average_grade >> end;
    }
}

// A class.

#[node(writes(title, lines))]
fn read_class(file: &Path) -> Result<(String, Vec<String>), GradesError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| GradesError::Unreadable(file.to_owned(), error))?;
    let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    if lines.is_empty() {
        return Err(GradesError::NoStudents(file.to_owned()));
    }
    let title = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok((title.into_owned(), lines))
}

#[node(writes = average)]
fn average_of_class(students: &[StudentOutput]) -> f64 {
    students.iter().map(|student| student.average).sum::<f64>() / students.len() as f64
}

flow! {
    /// Computes the average of a class: each student counts the same.
    Class(file: PathBuf) -> (title: String, students: Vec<StudentOutput>, average: f64) {
        node students: for line in lines { Student };

        start >> read_class >> students >> average_of_class >> end;
    }
}

// The school.

#[node(writes = files)]
fn list_classes(directory: &Path) -> Result<Vec<PathBuf>, GradesError> {
    let unreadable = |error| GradesError::Unreadable(directory.to_owned(), error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(GradesError::NoClasses(directory.to_owned()));
    }
    files.sort();
    Ok(files)
}

flow! {
    /// Reports on all classes of a directory.
    School(directory: PathBuf) -> (classes: Vec<ClassOutput>) {
        node classes: for file in files { Class } with concurrency(2);

        start >> list_classes >> classes >> end;
    }
}

async fn report(directory: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/grades");
    let given = directory.clone().unwrap_or(shipped);
    let input = SchoolInput::builder().directory(given).build();
    let output = School::new().run(input).await?;

    for class in &output.classes {
        println!("{:<18} {:>5.1}", class.title, class.average);
        for student in &class.students {
            println!("  {:<16} {:>5.1}", student.name, student.average);
        }
    }

    if directory.is_none() {
        let averages = output.classes.iter().map(|class| {
            let average = format!("{:.1}", class.average);
            (class.title.as_str(), class.students.len(), average)
        });
        let expected = [
            ("astronomy", 3, "87.9"),
            ("mathematics", 4, "92.1"),
            ("music", 2, "93.8"),
        ];
        assert!(averages.eq(expected.map(|(title, size, text)| (title, size, text.to_owned()))));
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match report(std::env::args_os().nth(1).map(PathBuf::from)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/nested_batch.rs"]
mod law;
