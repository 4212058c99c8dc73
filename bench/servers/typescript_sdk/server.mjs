// The TypeScript SDK on node:http, answers as plain JSON.

import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler, fromJsonSchema } from '@modelcontextprotocol/server';

// Cheaper here than the same schema in zod.
const inputSchema = fromJsonSchema({
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    flag: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['text'],
  additionalProperties: false,
});

// The SDK asks for a new server for each request.
function echoServer() {
  const server = new McpServer({ name: 'typescript_sdk', version: '1.0.0' });
  server.registerTool('echo', { description: 'Returns its text', inputSchema }, async ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

const port = Number(process.env.PORT);
const handler = createMcpHandler(echoServer, { responseMode: 'json' });
createServer(toNodeHandler(handler)).listen(port, '127.0.0.1', () => console.log(`READY ${port}`));
