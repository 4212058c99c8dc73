// The TypeScript clients, unchanged: v2 (`@modelcontextprotocol/client`) in the modern era, v1 (`@modelcontextprotocol/sdk`)
// in the legacy era.
//
//   node typescript_client.mjs LINE TRANSPORT TARGET LOG
//
// LINE is v1 or v2. TARGET is a URL (http) or a command (stdio). LOG is where the server's own log is found: over HTTP
// somebody else writes it, over stdio this program does. PACKAGES names the folder that npm installed into.

import { createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { answers, capabilities, run } from "./checks.mjs";
import { tasksOf } from "./tasks.mjs";

const load = createRequire(join(process.env.PACKAGES, "package.json"));

const schemas = () => load("@modelcontextprotocol/sdk/types.js");

// v1 names requests and notifications by their schemas.
const schemasOf = {
  "elicitation/create": () => schemas().ElicitRequestSchema,
  "sampling/createMessage": () => schemas().CreateMessageRequestSchema,
  "roots/list": () => schemas().ListRootsRequestSchema,
  "notifications/message": () => schemas().LoggingMessageNotificationSchema,
  "notifications/tools/list_changed": () => schemas().ToolListChangedNotificationSchema,
  "notifications/resources/updated": () => schemas().ResourceUpdatedNotificationSchema,
};

const lines = {
  v1: {
    name: "typescript-v1",
    wanted: "2025-11-25",
    notFound: -32002,
    client: () => load("@modelcontextprotocol/sdk/client/index.js").Client,
    http: () => load("@modelcontextprotocol/sdk/client/streamableHttp.js").StreamableHTTPClientTransport,
    stdio: () => load("@modelcontextprotocol/sdk/client/stdio.js").StdioClientTransport,
    options: {},
    // v1 keeps the revision only on its HTTP transport; connecting has checked it on both.
    revision: (client) => client.transport.protocolVersion ?? "2025-11-25",
    call: (client, name, args, options, _meta) => client.callTool({ name, arguments: args, _meta }, undefined, options),
    job: async (client, name, args) => ({ outcome: { result: await client.callTool({ name, arguments: args }) } }),
    onRequest: (client, method, answer) => client.setRequestHandler(schemasOf[method](), answer),
    onNotification: (client, method, see) => client.setNotificationHandler(schemasOf[method](), see),
    async listen(client, uri) {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
  },
  v2: {
    name: "typescript-v2",
    wanted: "2026-07-28",
    notFound: -32602,
    client: () => load("@modelcontextprotocol/client").Client,
    http: () => load("@modelcontextprotocol/client").StreamableHTTPClientTransport,
    stdio: () => load("@modelcontextprotocol/client/stdio").StdioClientTransport,
    options: { versionNegotiation: { mode: "auto" } },
    revision: (client) => client.getNegotiatedProtocolVersion(),
    call: (client, name, args, options, _meta) => client.callTool({ name, arguments: args, _meta }, options),
    takesTasks: true,
    begin: async (_client, name, args) => (await tasks()).callTool(name, args),
    async job(client, name, args) {
      const { outcome, lastTask } = await (await this.begin(client, name, args)).settle();
      return { outcome, task: lastTask };
    },
    onRequest: (client, method, answer) => client.setRequestHandler(method, answer),
    onNotification: (client, method, see) => client.setNotificationHandler(method, see),
    async listen(client, uri) {
      const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: [uri] });
      return () => subscription.close();
    },
  },
};

const [lineName, transportName, target, log] = process.argv.slice(2);
const line = lines[lineName];
const Client = line.client();
let session;
const client = new Client({ name: line.name, version: "1.0.0" }, { capabilities, ...line.options });
for (const [method, answer] of Object.entries(answers)) line.onRequest(client, method, answer);
await client.connect(transportName === "http" ? overHttp() : overStdio());
const failed = await run(client, line, log);
await session?.close();
if (transportName === "http") await client.transport.terminateSession?.();
await client.close();
process.exit(failed === 0 ? 0 : 1);

// Once somebody wants tasks: it takes over what the client does not know.
async function tasks() {
  const answer = answers["elicitation/create"];
  session ??= await tasksOf(client, { name: line.name, revision: line.wanted, capabilities, answer });
  return session;
}

function overHttp() {
  const Transport = line.http();
  return new Transport(new URL(target));
}

function overStdio() {
  const Transport = line.stdio();
  const transport = new Transport({ command: target, args: ["--stdio"], stderr: "pipe" });
  transport.stderr.pipe(createWriteStream(log, { flags: "a" }));
  return transport;
}
