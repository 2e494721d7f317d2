//! The API's document as one page for people. It loads nothing from anywhere.

use serde_json::Value;
use std::fmt::Write;

const STYLE: &str = include_str!("docs_page.css");

/// The page.
pub(crate) fn page(document: &Value) -> String {
    let mut out = String::new();
    let title = document["info"]["title"].as_str().unwrap_or_default();
    let about = document["info"]["description"].as_str().unwrap_or_default();
    let _ = write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title} API</title>\
         <style>{STYLE}</style></head><body><main><h1>{title} API</h1><p>{}</p>\
         <p><a href=\"/openapi.json\">openapi.json</a></p>",
        escape(about)
    );
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            write_operation(&mut out, path, method, operation);
        }
    }
    out.push_str("<h2 id=\"schemas\">Schemas</h2>");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let text = serde_json::to_string_pretty(schema).unwrap_or_default();
        let name = escape(name);
        let _ = write!(
            out,
            "<details id=\"schema-{name}\"><summary>{name}</summary><pre>{}</pre></details>",
            escape(&text)
        );
    }
    out.push_str("</main></body></html>");
    out
}

fn write_operation(out: &mut String, path: &str, method: &str, operation: &Value) {
    let summary = operation["summary"].as_str().unwrap_or_default();
    let _ = write!(
        out,
        "<details><summary><code class=\"{method}\">{}</code> <code>{}</code> {}</summary>",
        method.to_uppercase(),
        escape(path),
        escape(summary)
    );
    let parameters = operation["parameters"].as_array();
    if let Some(parameters) = parameters.filter(|all| !all.is_empty()) {
        out.push_str("<table><tr><th>parameter</th><th>in</th><th>about</th></tr>");
        for parameter in parameters {
            let cell = |name: &str| escape(parameter[name].as_str().unwrap_or_default());
            let (name, place, about) = (cell("name"), cell("in"), cell("description"));
            let _ = write!(out, "<tr><td>{name}</td><td>{place}</td><td>{about}</td></tr>");
        }
        out.push_str("</table>");
    }
    if let Some(body) = operation.pointer("/requestBody/content/application~1json/schema") {
        let _ = write!(out, "<h4>Body</h4>{}", schema_html(body));
    }
    out.push_str("<h4>Answers</h4><ul>");
    for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
        let content = answer["content"].as_object().and_then(|kinds| kinds.iter().next());
        let form = content.map_or_else(String::new, |(kind, body)| {
            format!("{} {}", escape(kind), schema_html(&body["schema"]))
        });
        let _ = write!(out, "<li><code>{status}</code> {form}</li>");
    }
    out.push_str("</ul></details>");
}

/// A name that leads to its schema, or the schema itself.
fn schema_html(schema: &Value) -> String {
    match schema["$ref"].as_str().and_then(|link| link.rsplit('/').next()) {
        Some(name) => {
            let name = escape(name);
            format!("<a href=\"#schema-{name}\">{name}</a>")
        }
        None => format!("<code>{}</code>", escape(&schema.to_string())),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
