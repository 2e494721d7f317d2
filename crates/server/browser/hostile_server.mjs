// An MCP server on standard input and output. Its tools are named and described as the file says that
// it is started with: [{ name, description }, …]; what they answer is their own description.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const told = JSON.parse(readFileSync(process.argv[2], "utf8"));
const inputSchema = { type: "object", properties: { text: { type: "string" } } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: told[0].name, version: "1" }, instructions: told[0].description }),
  "tools/list": () => ({ tools: told.map((tool) => ({ ...tool, inputSchema })) }),
  "tools/call": ({ name }) => ({ content: [{ type: "text", text: told.find((tool) => tool.name === name)?.description ?? "" }] }),
  ping: () => ({}),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const known = answers[method];
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...(known ? { result: known(params ?? {}) } : { error: { code: -32601, message: "unknown" } }) }) + "\n");
});
