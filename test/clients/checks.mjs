// What a TypeScript client of either line is made to do against the example server.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

// Runs every check, prints a line for each, and returns how many failed.
export async function run(client, line, log) {
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check({ client, line, log });
      console.log(`ok ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${String(error?.message ?? error).replaceAll("\n", " ")}`);
    }
  }
  return failed;
}

const checks = {
  async connect({ client, line }) {
    assert.equal(line.revision(client), line.wanted);
    assert.equal(client.getServerVersion().name, "everything");
  },

  async list_tools({ client }) {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.equal(names[0], "test_simple_text");
    for (const name of ["greet", "add", "slow_compute"]) assert.ok(names.includes(name), name);
  },

  call: greet,

  async structured_result({ client, line }) {
    const result = await line.call(client, "add", { a: 2, b: 3 });
    assert.deepEqual(result.structuredContent, { sum: 5 });
  },

  async content_blocks({ client, line }) {
    const result = await line.call(client, "test_multiple_content_types");
    assert.deepEqual(result.content.map((block) => block.type), ["text", "image", "resource"]);
  },

  async mirrored_argument({ client, line }) {
    const result = await line.call(client, "test_x_mcp_header", { value: " Grüße " });
    assert.equal(result.content[0].text, "Header and body:  Grüße ");
  },

  async tool_error({ client, line }) {
    const result = await line.call(client, "test_error_handling");
    assert.equal(result.isError, true);
    assert.equal(result.content[0].text, "This tool fails on purpose.");
  },

  async bad_arguments({ client, line }) {
    const result = await line.call(client, "greet", { name: 7 });
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /\/name/);
  },

  async unknown_tool({ client, line }) {
    await assert.rejects(line.call(client, "no_such_tool"), (error) => error.code === -32602);
  },

  async concurrent_calls({ client, line }) {
    const texts = Array.from({ length: 20 }, (_, n) => `text ${n}`);
    const results = await Promise.all(texts.map((text) => line.call(client, "echo", { text })));
    assert.deepEqual(results.map((result) => result.content[0].text), texts);
  },

  async cancel(given) {
    const { client, line, log } = given;
    const label = `${line.name}-${process.hrtime.bigint()}`;
    const call = line.call(client, "slow_compute", { seconds: 30, label }, { signal: AbortSignal.timeout(500) });
    await assert.rejects(call);
    await logged(log, `slow_compute ${label} was cancelled`);
    await greet(given);
  },
};

async function greet({ client, line }) {
  const result = await line.call(client, "greet", { name: "Ada" });
  assert.equal(result.content[0].text, "Hello, Ada!");
}

async function logged(log, wanted) {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await readFile(log, "utf8")).includes(wanted)) return;
    await sleep(50);
  }
  assert.fail(`the server's log lacks "${wanted}"`);
}
