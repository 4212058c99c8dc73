"""The client of FastMCP, unchanged, in both eras, against the example server.

  fastmcp_client.py ERA TRANSPORT TARGET LOG

The arguments are those of python_client.py.
"""

import logging
from contextlib import asynccontextmanager
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import MCPError

import python_checks

MODES = {"modern": "auto", "legacy": "legacy"}


@asynccontextmanager
async def connect(era, transport, target, log):
    server = StreamableHttpTransport(target) if transport == "http" else over_stdio(target, log)
    logs, messages = [], python_checks.Messages()
    options = {
        "mode": MODES[era],
        "timeout": 30,
        "log_handler": python_checks.keep(logs),
        "message_handler": messages.see,
        "elicitation_handler": fill_in,
        "sampling_handler": lambda _messages, _params, _context: python_checks.MODEL_TEXT,
        "roots": [python_checks.ROOT],
    }
    async with Client(server, **options) as client:
        yield FastMCPClient(client, logs, messages)


async def fill_in(_message, _type, form, _context):
    return python_checks.fill_in(form)


def over_stdio(command, log):
    return StdioTransport(command, ["--stdio"], keep_alive=False, log_file=Path(log))


class FastMCPClient:
    ERROR = MCPError

    def __init__(self, client, logs, messages):
        self.client = client
        self.logs = logs
        self.messages = messages

    def revision(self):
        return self.client.protocol_version

    def server_name(self):
        return self.client.server_info.name

    async def tools(self):
        return await self.client.list_tools()

    async def call(self, name, arguments=None, progress=None, meta=None):
        return await self.client.call_tool(name, arguments, progress_handler=progress, raise_on_error=False, meta=meta)

    async def resources(self):
        return await self.client.list_resources()

    async def templates(self):
        return await self.client.list_resource_templates()

    async def read(self, uri):
        return await self.client.read_resource(uri)

    async def prompts(self):
        return await self.client.list_prompts()

    async def prompt(self, name, arguments=None):
        return await self.client.get_prompt(name, arguments)

    async def complete(self, ref, name, value):
        return await self.client.complete(ref, {"name": name, "value": value})

    def changes(self):
        return python_checks.changes(self.client.session, self.revision(), self.messages)


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    python_checks.main("fastmcp", connect)
