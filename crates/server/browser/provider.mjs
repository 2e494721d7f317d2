// A provider of models on this machine, compatible with OpenAI: for the first visit and the test of a model.
import { createServer } from "node:http";

export const KEY = ["sk", "right", "0123456789abcdef0123456789"].join("-");

// Its list of models comes when `mayList` has come.
export async function provider(mayList) {
  const server = createServer(async (request, answer) => {
    let body = "";
    for await (const piece of request) body += piece;
    const json = (status, value) => { answer.writeHead(status, { "content-type": "application/json" }); answer.end(JSON.stringify(value)); };
    if (request.headers.authorization !== `Bearer ${KEY}`) return json(401, { error: { message: "Incorrect API key provided" } });
    if (request.url.endsWith("/models")) await mayList;
    if (request.url.endsWith("/models")) return json(200, { object: "list", data: [{ id: "small", object: "model" }, { id: "large", object: "model" }] });
    const asked = JSON.parse(body || "{}"), calls = asked.tools?.length;
    const delta = calls
      ? [{ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: asked.tools[0].function.name, arguments: "{\"text\":\"ok\"}" } }] }]
      : [{ content: "1 2 3 " }, { content: "4 5 6 7 8 9 10" }];
    answer.writeHead(200, { "content-type": "text/event-stream" });
    const send = (value) => answer.write(`data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: asked.model, ...value })}\n\n`);
    for (const part of delta) send({ choices: [{ index: 0, delta: { role: "assistant", ...part }, finish_reason: null }] });
    send({ choices: [{ index: 0, delta: {}, finish_reason: calls ? "tool_calls" : "stop" }] });
    send({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } });
    answer.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, end: () => new Promise((resolve) => server.close(resolve)) };
}
