// The MCP Inspector's command-line mode, unchanged, in both eras: each check runs it once, against the example server.
//
//   node inspector_client.mjs ERA TRANSPORT TARGET LOG
//
// ERA is modern or legacy. TARGET is a URL (http) or a command (stdio). LOG is where the server's own log goes over stdio.
// PACKAGES names the folder that npm installed into.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";

const [era, transport, target, log] = process.argv.slice(2);
const packages = process.env.PACKAGES;
const inspector = join(packages, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const revisions = { modern: "2026-07-28", legacy: "2025-11-25" };

// The exit status for a tool's own error, and for a tool that is not there.
const TOOL_ERROR = 5;

const checks = {
  async connect() {
    const { result } = await inspect("initialize");
    assert.equal(result.protocolVersion, revisions[era]);
    assert.equal(result.serverInfo.name, "everything");
  },

  async list_tools() {
    const { result } = await inspect("tools/list");
    assert.equal(result.tools[0].name, "test_simple_text");
  },

  // The Inspector's own look at schemas: exit status 6 for one that clients may stumble over.
  async portable_schemas() {
    await inspect("tools/list", "--strict");
  },

  async call() {
    const { result } = await callTool("greet", { name: "Ada" });
    assert.equal(result.content[0].text, "Hello, Ada!");
  },

  async structured_result() {
    const { result } = await callTool("add", { a: 2, b: 3 });
    assert.deepEqual(result.structuredContent, { sum: 5 });
  },

  async content_blocks() {
    const { result } = await callTool("test_multiple_content_types");
    assert.deepEqual(result.content.map((block) => block.type), ["text", "image", "resource"]);
  },

  async mirrored_argument() {
    const { result } = await callTool("test_x_mcp_header", { value: " Grüße " });
    assert.equal(result.content[0].text, "Header and body:  Grüße ");
  },

  async tool_error() {
    const { result, status } = await callTool("test_error_handling");
    assert.equal(status, TOOL_ERROR);
    assert.equal(result.isError, true);
    assert.equal(result.content[0].text, "This tool fails on purpose.");
  },

  async bad_arguments() {
    const { result, status } = await callTool("greet", { name: 7 });
    assert.equal(status, TOOL_ERROR);
    assert.match(result.content[0].text, /\/name/);
  },

  async unknown_tool() {
    const { error, status } = await callTool("no_such_tool");
    assert.equal(status, TOOL_ERROR);
    assert.equal(error.code, "tool_not_found");
  },

  async list_resources() {
    const uris = (await inspect("resources/list")).result.resources.map((resource) => resource.uri);
    for (const uri of ["test://static-text", "test://static-binary"]) assert.ok(uris.includes(uri), uri);
    const templates = (await inspect("resources/templates/list")).result.resourceTemplates;
    assert.deepEqual(templates.map((template) => template.uriTemplate), ["test://template/{id}/data"]);
  },

  async read_resources() {
    const [text] = (await read("test://static-text")).contents;
    assert.match(text.text, /^This is/);
    const [picture] = (await read("test://static-binary")).contents;
    assert.equal(Buffer.from(picture.blob, "base64").toString("latin1", 1, 4), "PNG");
    const [data] = (await read("test://template/1%202/data")).contents;
    assert.equal(JSON.parse(data.text).id, "1 2");
  },

  async list_prompts() {
    const names = (await inspect("prompts/list")).result.prompts.map((prompt) => prompt.name);
    assert.ok(names.includes("test_prompt_with_arguments"));
  },

  async get_prompt() {
    const options = ["--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=rye", "arg2=oat"];
    const { messages } = (await inspect("prompts/get", ...options)).result;
    assert.match(messages[0].content.text, /rye.*oat/);
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${String(error?.message ?? error).replaceAll("\n", " ")}`);
  }
}
process.exit(failed === 0 ? 0 : 1);

function callTool(name, args = {}) {
  return inspect("tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args));
}

async function read(uri) {
  return (await inspect("resources/read", "--uri", uri)).result;
}

// Runs one method and returns its exit status, with what it wrote of a result or an error.
async function inspect(method, ...options) {
  const common = ["--cli", "--method", method, "--protocol-era", era, "--format", "json"];
  const server = transport === "http" ? ["--", target] : ["-e", `HOME=${process.env.HOME}`, "--", target, "--stdio"];
  const { status, output, errors } = await run([inspector, ...common, ...options, ...server]);
  const { result } = output ? JSON.parse(output) : {};
  const { error } = errors.map(parsed).find((line) => line?.error) ?? {};
  assert.ok(status === 0 || status === TOOL_ERROR, `exit status ${status}: ${errors.at(-1)}`);
  return { status, result, error };
}

// The Inspector keeps files in its user's home: it gets one of its own, the server keeps the user's.
async function run(command) {
  const child = spawn(process.execPath, command, { env: { ...process.env, HOME: packages } });
  child.stdin.end();
  child.stderr.pipe(createWriteStream(log, { flags: "a" }));
  const [output, errors, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve) => child.on("close", resolve)),
  ]);
  return { status, output, errors: errors.trim().split("\n") };
}

async function text(stream) {
  let all = "";
  stream.setEncoding("utf8");
  for await (const part of stream) all += part;
  return all;
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
