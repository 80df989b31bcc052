//! A collector, as far as it takes what is sent to it: an HTTP server that decodes OTLP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use flow_durable::{EventFilter, MemoryStore, Runtime, StartOptions};
use flow_otel::{Follower, RunObserver, SpanIds, Telemetry};
use flow_runtime::prelude::*;
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::SdkTracerProvider;
use prost::Message as _;

#[node]
fn double(number: u32) -> u32 {
    number * 2
}

flow! {
    Doubled(numbers: Vec<u32>) -> (doubles: Vec<u32>) {
        node doubles: for number in numbers { double };
        start >> doubles >> end;
    }
}

/// A request: its path and its body.
type Request = (String, Vec<u8>);

/// Serves until the test is over.
fn collector() -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, sender) = (stream.unwrap(), sender.clone());
            thread::spawn(move || serve(stream, &sender));
        }
    });
    (address, requests)
}

fn serve(stream: TcpStream, sender: &Sender<Request>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let path = line.split(' ').nth(1).unwrap().to_owned();
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).unwrap();
            let header = header.trim().to_ascii_lowercase();
            match header.split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        sender.send((path, body)).unwrap();
        let answer =
            b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-type: application/x-protobuf\r\n\r\n";
        stream.write_all(answer).unwrap();
    }
}

fn spans(requests: &[Request]) -> Vec<Span> {
    let traces = requests.iter().filter(|(path, _)| path == "/v1/traces");
    let traces = traces.map(|(_, body)| ExportTraceServiceRequest::decode(&**body).unwrap());
    let resources = traces.flat_map(|request| request.resource_spans);
    let scopes = resources.flat_map(|resource| resource.scope_spans);
    let scopes =
        scopes.inspect(|scope| assert_eq!(scope.scope.as_ref().unwrap().name, "flow-otel"));
    scopes.flat_map(|scope| scope.spans).collect()
}

fn metrics(requests: &[Request]) -> Vec<String> {
    let metrics = requests.iter().filter(|(path, _)| path == "/v1/metrics");
    let metrics = metrics.map(|(_, body)| ExportMetricsServiceRequest::decode(&**body).unwrap());
    let resources = metrics.flat_map(|request| request.resource_metrics);
    let scopes = resources.flat_map(|resource| resource.scope_metrics);
    let metrics = scopes.flat_map(|scope| scope.metrics);
    let mut names: Vec<String> = metrics.map(|metric| metric.name).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn a_collector_gets_the_spans_and_metrics_of_plain_and_durable_runs() {
    let (address, requests) = collector();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{address}/v1/traces"))
        .build()
        .unwrap();
    let tracers = SdkTracerProvider::builder()
        .with_id_generator(SpanIds::new())
        .with_batch_exporter(exporter)
        .build();
    let exporter = MetricExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(format!("{address}/v1/metrics"))
        .build()
        .unwrap();
    let meters = SdkMeterProvider::builder()
        .with_reader(PeriodicReader::builder(exporter).build())
        .build();
    let telemetry = Telemetry::new(&tracers, &meters);
    let execution = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(runs(&telemetry));
    tracers.shutdown().unwrap();
    meters.shutdown().unwrap();

    let requests: Vec<Request> = requests.try_iter().collect();
    let all = spans(&requests);
    assert_eq!(all.len(), 8, "{all:#?}");
    let durable: Vec<&Span> = all
        .iter()
        .filter(|span| span.trace_id == execution)
        .collect();
    let names: Vec<&str> = durable.iter().map(|span| &*span.name).collect();
    assert_eq!(
        names,
        [
            "doubled.doubles[]",
            "doubled.doubles[]",
            "doubled.doubles",
            "doubled"
        ]
    );
    assert_eq!(durable[0].parent_span_id, durable[2].span_id);
    assert_eq!(durable[2].parent_span_id, durable[3].span_id);
    assert!(durable[3].parent_span_id.is_empty());
    assert!(
        durable
            .iter()
            .all(|span| span.start_time_unix_nano <= span.end_time_unix_nano)
    );
    assert_eq!(
        metrics(&requests),
        [
            "flow.run.duration",
            "flow.runs.ended",
            "flow.runs.started",
            "flow.step.duration"
        ]
    );
}

/// A plain run and an execution. Returns the id of the execution.
async fn runs(telemetry: &Telemetry) -> Vec<u8> {
    let input = DoubledInput {
        numbers: vec![1, 2],
    };
    let observer = Arc::new(RunObserver::new(telemetry));
    let options = RunOptions::new().observer(observer);
    Doubled::new().run_with(input, options).await.unwrap();

    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Doubled::new()).unwrap();
    let input = DoubledInput {
        numbers: vec![3, 4],
    };
    let execution = runtime
        .executions()
        .start::<Doubled>(input, StartOptions::new());
    let execution = execution.await.unwrap().settled().await.unwrap();
    let mut follower = Follower::new(runtime.all_owners(), telemetry);
    let all = EventFilter::new().from_start().until_now();
    follower.follow(all).await.unwrap();
    execution.id().as_uuid().as_bytes().to_vec()
}
