//! The OpenAPI 3.1 document: paths from the table of routes, schemas from the types themselves.

use crate::problem::{FacadeError, ProblemBody, ProblemCode};
use crate::routes::openai;
use axum::http::Method;
use everloop_loops::DECISION_SCHEMA;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// What goes into a route and comes out of it.
pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    summary: &'static str,
    tag: &'static str,
    query: Option<SchemaOf>,
    body: Option<(SchemaOf, BodyNeed)>,
    answers: Vec<DocumentedAnswer>,
    /// Problems beside those that every route has.
    problems: Vec<ProblemCode>,
    /// Headers that it reads beside those of every route.
    taken: Vec<DocumentedHeader>,
    /// Headers of its good answers.
    shown: Vec<DocumentedHeader>,
    streaming: Streaming,
    /// Whether it answers without a token.
    is_open: bool,
}

/// A header, and what it says.
#[derive(Debug, Clone, Copy)]
struct DocumentedHeader {
    name: &'static str,
    about: &'static str,
}

/// Whether a route can answer with events as they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Streaming {
    Never,
    /// If its body asks for it.
    Wanted,
    /// If its reader accepts nothing else; then it goes on where the reader left off.
    Accepted,
}

type SchemaOf = fn(&mut SchemaGenerator) -> Value;

/// Whether a body may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyNeed {
    Required,
    Optional,
}

struct DocumentedAnswer {
    status: u16,
    kind: &'static str,
    schema: Option<SchemaOf>,
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

impl Operation {
    /// A route of a method, a path, and what it does.
    pub(crate) fn new(method: Method, path: &'static str, summary: &'static str) -> Self {
        let tag = path.trim_start_matches("/v1").split('/').nth(1).unwrap_or("server");
        Self {
            method,
            path,
            summary,
            tag,
            query: None,
            body: None,
            answers: Vec::new(),
            problems: Vec::new(),
            taken: Vec::new(),
            shown: Vec::new(),
            streaming: Streaming::Never,
            is_open: false,
        }
    }

    pub(crate) fn get(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::GET, path, summary)
    }

    pub(crate) fn post(path: &'static str, summary: &'static str) -> Self {
        Self::new(Method::POST, path, summary)
    }

    pub(crate) fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(schema_of::<T>);
        self
    }

    pub(crate) fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some((schema_of::<T>, BodyNeed::Required));
        self
    }

    pub(crate) fn optional_body<T: JsonSchema>(mut self) -> Self {
        self.body = Some((schema_of::<T>, BodyNeed::Optional));
        self
    }

    /// An answer with a JSON body.
    pub(crate) fn answers<T: JsonSchema>(mut self, status: u16) -> Self {
        let schema = Some(schema_of::<T> as SchemaOf);
        self.answers.push(DocumentedAnswer { status, kind: "application/json", schema });
        self
    }

    /// An answer of another form.
    pub(crate) fn answers_with(mut self, status: u16, kind: &'static str) -> Self {
        self.answers.push(DocumentedAnswer { status, kind, schema: None });
        self
    }

    /// An answer without a body.
    pub(crate) fn answers_empty(self) -> Self {
        self.answers_with(204, "")
    }

    /// Its good answers have an `ETag`.
    pub(crate) fn tagged(self) -> Self {
        self.shows("ETag", "What `If-Match` of an edit names.")
    }

    /// It edits what has an `ETag`, and honours `If-Match`.
    pub(crate) fn edits(self) -> Self {
        self.tagged().bound()
    }

    /// It honours `If-Match`.
    pub(crate) fn bound(self) -> Self {
        self.takes("If-Match", "The ETag of what was read: 412 if it was changed meanwhile.")
            .problems(&[ProblemCode::PreconditionFailed])
    }

    /// A header of its good answers.
    pub(crate) fn shows(mut self, name: &'static str, about: &'static str) -> Self {
        self.shown.push(DocumentedHeader { name, about });
        self
    }

    /// A header that it reads.
    pub(crate) fn takes(mut self, name: &'static str, about: &'static str) -> Self {
        self.taken.push(DocumentedHeader { name, about });
        self
    }

    /// Its events come as a stream for `Accept: text/event-stream`.
    pub(crate) fn streams(mut self) -> Self {
        self.streaming = Streaming::Accepted;
        self.takes(
            "Last-Event-ID",
            "The id of the last event that was seen: what follows it comes.",
        )
    }

    /// Its answer comes as a stream if the body asks for it.
    pub(crate) fn may_stream(mut self) -> Self {
        self.streaming = Streaming::Wanted;
        self
    }

    /// It answers without a token.
    pub(crate) fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Problems of this route.
    pub(crate) fn problems(mut self, codes: &[ProblemCode]) -> Self {
        self.problems.extend(codes);
        self
    }
}

/// The document while it is made.
pub(crate) struct Document {
    generator: SchemaGenerator,
    paths: Map<String, Value>,
}

impl Default for Document {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self { generator: settings.into_generator(), paths: Map::new() }
    }
}

impl Document {
    pub(crate) fn add(&mut self, operation: Operation) {
        let described = self.describe(&operation);
        let path = self.paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.as_str().to_ascii_lowercase()] = described;
    }

    fn describe(&mut self, operation: &Operation) -> Value {
        let mut parameters: Vec<Value> = path_names(operation.path)
            .map(|name| {
                json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
            })
            .collect();
        if let Some(query) = operation.query {
            parameters.extend(self.query_parameters(query));
        }
        let mut described = json!({
            "summary": operation.summary,
            "operationId": operation_id(operation),
            "tags": [operation.tag],
            "parameters": parameters,
            "responses": self.responses(operation),
        });
        if operation.method == Method::POST {
            described["parameters"].as_array_mut().into_iter().for_each(|all| {
                all.push(json!({"name": "Idempotency-Key", "in": "header", "required": false,
                    "schema": {"type": "string", "minLength": 1, "maxLength": 255}}));
            });
        }
        described["parameters"].as_array_mut().into_iter().for_each(|all| {
            all.extend(operation.taken.iter().map(|header| {
                json!({"name": header.name, "in": "header", "required": false,
                    "description": header.about, "schema": {"type": "string"}})
            }));
        });
        if operation.is_open {
            described["security"] = json!([]);
        }
        if let Some((body, need)) = operation.body {
            let schema = body(&mut self.generator);
            described["requestBody"] = json!({
                "required": need == BodyNeed::Required,
                "content": {"application/json": {"schema": schema}},
            });
        }
        described
    }

    /// The fields of a query's type, one parameter each.
    fn query_parameters(&mut self, query: SchemaOf) -> Vec<Value> {
        let mut alone = SchemaSettings::draft2020_12()
            .with(|settings| {
                settings.inline_subschemas = true;
                settings.meta_schema = None;
            })
            .into_generator();
        let schema = query(&mut alone);
        let required: Vec<&str> = schema["required"]
            .as_array()
            .map(|all| all.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let Some(fields) = schema["properties"].as_object() else { return Vec::new() };
        let parameter = |(name, schema): (&String, &Value)| {
            json!({"name": name, "in": "query", "required": required.contains(&name.as_str()),
                "description": schema["description"], "schema": schema})
        };
        fields.iter().map(parameter).collect()
    }

    fn responses(&mut self, operation: &Operation) -> Value {
        let mut responses = json!({});
        for answer in &operation.answers {
            let mut described = json!({"description": operation.summary});
            if !answer.kind.is_empty() {
                let schema = answer.schema.map(|schema| schema(&mut self.generator));
                let schema = schema.unwrap_or_else(|| json!({"type": "string"}));
                described["content"] = json!({answer.kind: {"schema": schema}});
                if operation.streaming != Streaming::Never {
                    let events = json!({"schema": {"type": "string"}});
                    described["content"]["text/event-stream"] = events;
                }
            }
            let mut headers: Map<String, Value> =
                operation.shown.iter().map(|header| described_header(*header, true)).collect();
            if operation.method == Method::POST {
                let about = "`true` for the answer to an earlier request with the same key.";
                let replayed = DocumentedHeader { name: "Idempotency-Replayed", about };
                headers.extend([described_header(replayed, false)]);
            }
            if !headers.is_empty() {
                described["headers"] = headers.into();
            }
            responses[answer.status.to_string()] = described;
        }
        self.add_problems(operation, &mut responses);
        responses
    }

    /// Every refusal that a route can answer with.
    fn add_problems(&mut self, operation: &Operation, responses: &mut Value) {
        let is_facade = openai::is_facade(operation.path);
        let (kind, problem) = match is_facade {
            true => ("application/json", schema_of::<FacadeError>(&mut self.generator)),
            false => ("application/problem+json", schema_of::<ProblemBody>(&mut self.generator)),
        };
        let always = [
            ProblemCode::BadRequest,
            ProblemCode::Unauthorized,
            ProblemCode::ForbiddenHost,
            ProblemCode::TooManyRequests,
            ProblemCode::DatabaseUnavailable,
        ];
        let body = operation.body.is_some().then_some([
            ProblemCode::InvalidInput,
            ProblemCode::BodyTooLarge,
            ProblemCode::UnsupportedMediaType,
            ProblemCode::RequestTimeout,
        ]);
        let query = operation.query.is_some().then_some(ProblemCode::InvalidInput);
        let id = operation.path.contains('{').then_some(ProblemCode::NotFound);
        let keyed = (operation.method == Method::POST)
            .then_some([ProblemCode::KeyReused, ProblemCode::KeyInUse]);
        let all = always.into_iter().chain(body.into_iter().flatten()).chain(query).chain(id);
        let all = all.chain(keyed.into_iter().flatten());
        for code in all.chain(operation.problems.iter().copied()) {
            let status = code.status();
            let mut described = json!({
                "description": status.canonical_reason(),
                "content": {kind: {"schema": problem}},
            });
            let header = match code {
                ProblemCode::TooManyRequests => {
                    Some(("Retry-After", "Seconds after which it may be tried again."))
                }
                ProblemCode::Unauthorized => Some(("WWW-Authenticate", "`Bearer`.")),
                _ => None,
            };
            if let Some((name, about)) = header {
                let header = described_header(DocumentedHeader { name, about }, false);
                described["headers"] = Map::from_iter([header]).into();
            }
            responses[status.as_u16().to_string()] = described;
        }
    }

    /// The whole document.
    pub(crate) fn finish(mut self) -> Value {
        let codes: Vec<&str> = ProblemCode::ALL.iter().map(|code| code.name()).collect();
        let mut schemas = self.generator.take_definitions(true);
        if let Some(code) =
            schemas.get_mut("Problem").and_then(|problem| problem.pointer_mut("/properties/code"))
        {
            code["enum"] = json!(codes);
        }
        let decision = serde_json::from_str(DECISION_SCHEMA);
        let decision = decision.expect("the schema of a decision is JSON");
        schemas.insert("Decision".to_owned(), decision);
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Everloop",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Conversations, runs and their events, questions, todos and the \
                    schedule. Every request needs `Authorization: Bearer TOKEN`.",
                "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
            },
            "security": [{"token": []}],
            "paths": self.paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        })
    }
}

fn described_header(header: DocumentedHeader, is_always_there: bool) -> (String, Value) {
    let described = json!({"description": header.about, "required": is_always_there,
        "schema": {"type": "string"}});
    (header.name.to_owned(), described)
}

fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn operation_id(operation: &Operation) -> String {
    let words = operation.path.split('/').filter(|part| !part.is_empty() && *part != "v1");
    let words: Vec<String> =
        words.map(|word| word.trim_matches(['{', '}']).replace(['-', '.'], "_")).collect();
    format!("{}_{}", operation.method.as_str().to_ascii_lowercase(), words.join("_"))
}

#[cfg(test)]
mod tests {
    use crate::openapi_document;
    use everloop_loops::DECISION_SCHEMA;
    use serde_json::Value;

    #[test]
    fn the_schema_of_a_decision_is_the_one_that_replies_are_checked_against() {
        let document = openapi_document();
        let ours: Value = serde_json::from_str(DECISION_SCHEMA).unwrap();
        assert_eq!(document["components"]["schemas"]["Decision"], ours);
    }
}
