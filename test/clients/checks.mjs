// What a TypeScript client of either line is made to do against the example server.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const WATCHED = "test://watched-resource";

// What the user types into forms, and where the user works.
const FORM = {
  username: "Ada",
  email: "ada@example.org",
  name: "Ada",
  color: "teal",
  ok: true,
  context: "rye",
  confirm: true,
};
const ROOT = "file:///project";

// What a client declares, and what it answers when it is asked.
export const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

export const answers = {
  "elicitation/create": ({ params }) => fillIn(params),
  "sampling/createMessage": () => ({ role: "assistant", model: "none", content: { type: "text", text: "Paris" } }),
  "roots/list": () => ({ roots: [{ uri: ROOT }] }),
};

// Runs every check, prints a line for each, and returns how many failed.
export async function run(client, line, log) {
  let failed = 0;
  const all = { ...checks, ...(line.takesTasks ? checksOfTasks : {}) };
  for (const [name, check] of Object.entries(all)) {
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

  async list_resources({ client }) {
    const uris = (await client.listResources()).resources.map((resource) => resource.uri);
    for (const uri of ["test://static-text", "test://static-binary"]) assert.ok(uris.includes(uri), uri);
    const templates = (await client.listResourceTemplates()).resourceTemplates;
    assert.deepEqual(templates.map((template) => template.uriTemplate), ["test://template/{id}/data"]);
  },

  async read_text({ client }) {
    const [content] = (await client.readResource({ uri: "test://static-text" })).contents;
    assert.equal(content.mimeType, "text/plain");
    assert.match(content.text, /^This is/);
  },

  async read_binary({ client }) {
    const [content] = (await client.readResource({ uri: "test://static-binary" })).contents;
    assert.equal(content.mimeType, "image/png");
    assert.equal(Buffer.from(content.blob, "base64").toString("latin1", 1, 4), "PNG");
  },

  async read_template({ client }) {
    const [content] = (await client.readResource({ uri: "test://template/1%202/data" })).contents;
    assert.equal(JSON.parse(content.text).id, "1 2");
  },

  async unknown_resource({ client, line }) {
    const read = client.readResource({ uri: "test://no-such-resource" });
    await assert.rejects(read, (error) => error.code === line.notFound);
  },

  async list_prompts({ client }) {
    const { prompts } = await client.listPrompts();
    const prompt = prompts.find(({ name }) => name === "test_prompt_with_arguments");
    assert.deepEqual(prompt.arguments.map(({ name, required }) => [name, required]), [["arg1", true], ["arg2", true]]);
  },

  async get_prompt({ client }) {
    const args = { arg1: "rye", arg2: "oat" };
    const { messages } = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: args });
    assert.equal(messages.length, 1);
    assert.equal(messages[0].role, "user");
    assert.match(messages[0].content.text, /rye.*oat/);
  },

  async prompt_blocks({ client }) {
    const { messages } = await client.getPrompt({ name: "test_prompt_with_image" });
    assert.deepEqual(messages.map((message) => message.content.type), ["image", "text"]);
  },

  async missing_prompt_argument({ client }) {
    const prompt = client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "rye" } });
    await assert.rejects(prompt, (error) => error.code === -32602);
  },

  async complete_prompt({ client }) {
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
    const { completion } = await client.complete({ ref, argument: { name: "arg1", value: "test" } });
    assert.deepEqual(completion.values, ["test", "testing", "tested"]);
  },

  async complete_template({ client }) {
    const ref = { type: "ref/resource", uri: "test://template/{id}/data" };
    const { completion } = await client.complete({ ref, argument: { name: "id", value: "9" } });
    assert.deepEqual([completion.values.length, completion.total, completion.hasMore], [100, 111, true]);
  },

  async progress({ client, line }) {
    const seen = [];
    await line.call(client, "test_tool_with_progress", {}, { onprogress: (progress) => seen.push(progress) });
    const wanted = [0, 50, 100].map((done) => ({ progress: done, total: 100, message: `${done} of 100` }));
    assert.deepEqual(seen, wanted);
  },

  async log_messages({ client, line }) {
    const seen = [];
    line.onNotification(client, "notifications/message", ({ params }) => seen.push([params.level, params.logger, params.data]));
    await line.call(client, "test_tool_with_logging", {}, {}, { "io.modelcontextprotocol/logLevel": "info" });
    const wanted = ["begun", "gone on", "ended"].map((step) => ["info", "everything", `The work has ${step}.`]);
    assert.deepEqual(seen, wanted);
  },

  async form({ client, line }) {
    const result = await line.call(client, "test_elicitation", { message: "Who are you?" });
    const [action, content] = result.content[0].text.split(", content: ");
    assert.equal(action, "Action: accept");
    assert.deepEqual(JSON.parse(content), { username: "Ada", email: "ada@example.org" });
  },

  async declined_form({ client, line }) {
    const result = await line.call(client, "test_elicitation", { message: "Please decline." });
    assert.equal(result.content[0].text, "Action: decline");
  },

  async sampling({ client, line }) {
    const result = await line.call(client, "test_sampling", { prompt: "What is the capital of France?" });
    assert.equal(result.content[0].text, "The model says: Paris");
  },

  async roots({ client, line }) {
    const result = await line.call(client, "test_input_required_result_list_roots");
    assert.equal(result.content[0].text, `The client works in ${ROOT}.`);
  },

  async one_question_after_another({ client, line }) {
    const result = await line.call(client, "test_input_required_result_multi_round");
    assert.equal(result.content[0].text, "Ada likes teal.");
  },

  async several_questions_at_once({ client, line }) {
    const result = await line.call(client, "test_input_required_result_multiple_inputs");
    assert.equal(result.content[0].text, "3 answers: client_roots, greeting, user_name");
  },

  async prompt_that_asks({ client }) {
    const { messages } = await client.getPrompt({ name: "test_input_required_result_prompt" });
    assert.equal(messages[0].content.text, "Keep in mind: rye");
  },

  async resource_that_asks({ client }) {
    const [content] = (await client.readResource({ uri: "test://personal-note" })).contents;
    assert.equal(content.text, "Hello, Ada!");
  },

  async changes({ client, line }) {
    const heard = [];
    line.onNotification(client, "notifications/tools/list_changed", () => heard.push("tools"));
    line.onNotification(client, "notifications/resources/updated", ({ params }) => heard.push(params.uri));
    const stop = await line.listen(client, WATCHED);
    for (const [tool, change] of [
      ["test_trigger_tool_change", "tools"],
      ["test_trigger_tool_change", "tools"],
      ["test_trigger_resource_change", WATCHED],
    ]) {
      heard.length = 0;
      await line.call(client, tool);
      await until(() => heard.includes(change), `nobody told of ${change}`);
    }
    await stop();
  },

  async response_in_two_parts({ client, line }) {
    const result = await line.call(client, "test_reconnection");
    assert.match(result.content[0].text, /came back/);
  },

  async job({ client, line }) {
    const { outcome, task } = await line.job(client, "slow_compute", { seconds: 0.2, label: "sum" });
    assert.equal(outcome.result.content[0].text, "sum took 0.2 s.");
    assert.equal(task?.status, line.takesTasks ? "completed" : undefined);
  },

  async job_that_asks({ client, line }) {
    const { outcome } = await line.job(client, "confirm_delete", { filename: "a.txt" });
    assert.equal(outcome.result.content[0].text, "a.txt would be deleted now.");
  },

  async job_that_fails({ client, line }) {
    if (line.takesTasks) {
      const { outcome } = await line.job(client, "failing_job");
      assert.deepEqual([outcome.status, outcome.result.isError], ["completed", true]);
      const failed = await line.job(client, "protocol_error_job");
      assert.deepEqual([failed.outcome.status, failed.outcome.error.code], ["failed", -32021]);
    } else {
      const { outcome } = await line.job(client, "failing_job");
      assert.match(outcome.result.content[0].text, /io\.modelcontextprotocol\/tasks/);
    }
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

const checksOfTasks = {
  async cancelled_job({ client, line, log }) {
    const label = `${line.name}-${process.hrtime.bigint()}`;
    const job = await line.begin(client, "slow_compute", { seconds: 30, label });
    await job.cancel();
    await logged(log, `slow_compute ${label} was cancelled`);
    assert.equal((await job.settle()).outcome.status, "cancelled");
  },
};

async function greet({ client, line }) {
  const result = await line.call(client, "greet", { name: "Ada" });
  assert.equal(result.content[0].text, "Hello, Ada!");
}

// What the user does with a form.
function fillIn({ message, requestedSchema }) {
  if (message.includes("decline")) return { action: "decline" };
  const fields = Object.keys(requestedSchema.properties).filter((name) => name in FORM);
  return { action: "accept", content: Object.fromEntries(fields.map((name) => [name, FORM[name]])) };
}

async function logged(log, wanted) {
  await until(async () => (await readFile(log, "utf8")).includes(wanted), `the server's log lacks "${wanted}"`);
}

async function until(holds, otherwise) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await holds()) return;
    await sleep(50);
  }
  assert.fail(otherwise);
}
