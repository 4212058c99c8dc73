// Tasks for a v2 client, by the package of the extension (`@modelcontextprotocol/ext-tasks`), unchanged. It wants its own
// requests written as they are, past the client's schemas: that is the part of a host, and is played here.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PACKAGE = "node_modules/@modelcontextprotocol/ext-tasks/dist/client/index.js";
const EXTENSION = "io.modelcontextprotocol/tasks";

// A session in which calls become tasks where the server says so; `answer` fills in forms.
export async function tasksOf(client, { name, revision, capabilities, answer }) {
  const { createTaskSessionFromClient } = await import(pathToFileURL(join(process.env.PACKAGES, PACKAGE)));
  return createTaskSessionFromClient(client, {
    endpointId: name,
    rawDispatch: rawly(client.transport),
    v2RequestFraming: {
      protocolVersion: revision,
      clientInfo: { name, version: "1.0.0" },
      clientCapabilities: { ...capabilities, extensions: { [EXTENSION]: {} } },
    },
    onInputRequest: async ({ params }) => answer({ params }),
  });
}

// Sends requests with ids of their own, and takes their responses before the client sees them.
function rawly(transport) {
  const waiting = new Map();
  const others = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const response = waiting.get(message.id);
    if (!response) return others(message, extra);
    waiting.delete(message.id);
    response("error" in message ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  return (request) =>
    new Promise((resolve, reject) => {
      const id = `task-request-${Math.random()}`;
      waiting.set(id, resolve);
      transport.send({ jsonrpc: "2.0", ...request, id }).catch(reject);
    });
}
