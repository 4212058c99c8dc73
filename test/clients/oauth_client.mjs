// The OAuth flow of the TypeScript client (`@modelcontextprotocol/client`), unchanged, against the protected example
// server.
//
//   node oauth_client.mjs SENDER URL
//
// SENDER is bearer, or dpop for tokens that are bound to a key. The user is played by this program: it follows the
// authorization URL, and the issuer consents. PACKAGES names the folder that npm installed into.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const load = createRequire(join(process.env.PACKAGES, "package.json"));
const { Client, DpopSession, StreamableHTTPClientTransport, UnauthorizedError } = load("@modelcontextprotocol/client");

const REDIRECT_URI = "http://127.0.0.1:1/callback";
const BASIC_SCOPES = "mcp:tools:read mcp:tools:call";

const [sender, url] = process.argv.slice(2);

// What the client remembers, and where its user was sent.
class Provider {
  redirectUrl = REDIRECT_URI;
  clientMetadata = { redirect_uris: [REDIRECT_URI], client_name: "typescript", grant_types: ["authorization_code", "refresh_token"] };
  scopes = [];

  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  discoveryState = () => this.discovered;
  saveDiscoveryState = (state) => void (this.discovered = state);

  async redirectToAuthorization(authorizationUrl) {
    this.scopes.push(authorizationUrl.searchParams.get("scope"));
    const response = await fetch(authorizationUrl, { redirect: "manual" });
    this.answer = new URL(response.headers.get("location")).searchParams;
  }
}

const provider = new Provider();
if (sender === "dpop") {
  const session = await DpopSession.create();
  provider.dpop = () => session;
}

const statuses = [];
async function seen(input, init) {
  const response = await fetch(input, init);
  if (String(input) === url) statuses.push(response.status);
  return response;
}

const newTransport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider, fetch: seen });
let client = newClient();
let transport = newTransport();

function newClient() {
  return new Client({ name: "typescript", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
}

const checks = {
  async sign_in() {
    await assert.rejects(client.connect(transport), UnauthorizedError);
    assert.equal(statuses[0], 401);
    assert.deepEqual(provider.scopes, [BASIC_SCOPES]);
    await transport.finishAuth(provider.answer);
    assert.equal(provider.kept.token_type, sender === "dpop" ? "DPoP" : "Bearer");
    [client, transport] = [newClient(), newTransport()];
    await client.connect(transport);
    assert.equal(client.getServerVersion().name, "protected");
  },

  async call() {
    const { structuredContent: caller } = await client.callTool({ name: "whoami" });
    assert.deepEqual([caller.user, caller.sender, caller.scopes.join(" ")], ["alice", sender, BASIC_SCOPES]);
  },

  async list_without_hidden_tools() {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.deepEqual(names, ["whoami", "read_notes", "write_note"]);
  },

  async step_up() {
    const note = { name: "write_note", arguments: { text: "oat" } };
    statuses.length = 0;
    await assert.rejects(client.callTool(note), UnauthorizedError);
    assert.deepEqual(statuses, [403]);
    assert.deepEqual(provider.scopes.slice(1), [`${BASIC_SCOPES} notes:write`]);
    await transport.finishAuth(provider.answer);
    assert.equal((await client.callTool(note)).content[0].text, "Written.");
  },

  async refresh() {
    const { access_token: spent, refresh_token: refreshToken } = provider.kept;
    provider.kept = { ...provider.kept, access_token: "spent" };
    const { structuredContent } = await client.callTool({ name: "read_notes" });
    assert.equal(structuredContent.notes.at(-1), "oat");
    assert.equal(provider.scopes.length, 2);
    assert.notEqual(provider.kept.access_token, spent);
    assert.notEqual(provider.kept.refresh_token, refreshToken);
  },

  async hidden_tool() {
    const [hidden, unknown] = await Promise.all(["erase_notes", "no_such_tool"].map(errorOf));
    assert.equal(hidden.replace("erase_notes", "no_such_tool"), unknown);
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
await client.close();
process.exit(failed === 0 ? 0 : 1);

async function errorOf(name) {
  try {
    await client.callTool({ name });
  } catch (error) {
    return `${error.code} ${error.message}`;
  }
  assert.fail("no error");
}
