//! What the codec and the client cost: µs per streamed chunk, per rendered request, per start.

use everloop_models::codec::{ChatDecoder, render_common};
use everloop_models::{Endpoint, OpenAi, RequestParts};
use everloop_ports::{Delta, WirePrompt};
use everloop_types::{CallId, Message, ToolCall, ToolChoice};
use std::hint::black_box;
use std::time::Instant;

const CHUNKS: usize = 20_000;
const ROUNDS: usize = 10;
const MESSAGES: usize = 400;

fn main() {
    let start = Instant::now();
    let model = OpenAi::new(Endpoint::at("http://127.0.0.1:9")).map(drop);
    println!("client, plain http: {:>8.1} µs ({model:?})", micros(start));
    let start = Instant::now();
    let model = OpenAi::new(Endpoint::at("https://example.com")).map(drop);
    println!("client, https:      {:>8.1} µs ({model:?})", micros(start));
    bench_decode();
    bench_render();
}

fn bench_decode() {
    let event = |n: usize| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\
             \"created\":1762000000,\"model\":\"m-1\",\"choices\":[{{\"index\":0,\"delta\":\
             {{\"content\":\" word{n}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
        )
    };
    let mut chunks: Vec<String> = (0..CHUNKS).map(event).collect();
    chunks.push("data: [DONE]\n\n".to_owned());
    let start = Instant::now();
    let mut seen = 0;
    for _ in 0..ROUNDS {
        let mut decoder = ChatDecoder::new(8 << 20);
        let mut on_delta = |delta: Delta<'_>| {
            if let Delta::Text(text) = delta {
                seen += text.len();
            }
        };
        for chunk in &chunks {
            if let Err(e) = decoder.feed(chunk.as_bytes(), &mut on_delta) {
                panic!("decode: {e:?}");
            }
        }
        drop(black_box(decoder.finish(&mut on_delta)));
    }
    let each = micros(start) / (ROUNDS * CHUNKS) as f64;
    println!("decode:             {each:>8.3} µs per chunk ({seen} bytes of text)");
}

fn bench_render() {
    let messages = transcript();
    let choice = ToolChoice::Auto;
    let ask = RequestParts {
        model: "m-1",
        tools: &[],
        choice: &choice,
        output: None,
        temperature_milli: Some(0),
        max_tokens: 1024,
    };
    let start = Instant::now();
    let mut wire = WirePrompt::default();
    let mut bytes = 0;
    for count in 1..=MESSAGES {
        bytes = black_box(render_common(ask, &mut wire, &messages[..count])).len();
    }
    let each = micros(start) / MESSAGES as f64;
    println!("render, appended:   {each:>8.1} µs per request, mean of a run up to {bytes} bytes");
    let start = Instant::now();
    for count in 1..=MESSAGES {
        black_box(render_common(ask, &mut WirePrompt::default(), &messages[..count]));
    }
    let each = micros(start) / MESSAGES as f64;
    println!("render, anew:       {each:>8.1} µs per request, mean of the same run");
    let start = Instant::now();
    for _ in 0..ROUNDS * 10 {
        black_box(render_common(ask, &mut wire, &messages));
    }
    let each = micros(start) / (ROUNDS * 10) as f64;
    println!("render, all known:  {each:>8.1} µs per request with {MESSAGES} messages");
}

fn transcript() -> Vec<Message> {
    let message = |n: usize| match n % 2 {
        0 => {
            let args = format!("{{\"path\":\"notes/{n}.txt\"}}");
            let id = CallId::new(format!("call_{n}"));
            let call = ToolCall { id, tool: "read_file".to_owned(), args };
            Message::Assistant { text: "I read the next note.\n".repeat(8), calls: vec![call] }
        }
        _ => {
            let call = CallId::new(format!("call_{}", n - 1));
            Message::Tool { call, text: "a line of the \"note\"\n".repeat(20) }
        }
    };
    (0..MESSAGES).map(message).collect()
}

fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}
