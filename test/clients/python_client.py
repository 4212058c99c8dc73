"""The Python client (PyPI `mcp`), unchanged, in both eras, against the example server.

  python_client.py ERA TRANSPORT TARGET LOG

ERA is modern or legacy. TARGET is a URL (http) or a command (stdio). LOG is where the server's own log is found: over
HTTP somebody else writes it, over stdio this program has the server write it.
"""

import logging
from contextlib import asynccontextmanager

from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp_types import CreateMessageResult, ListRootsResult, Root, TextContent

import python_checks

MODES = {"modern": "auto", "legacy": "legacy"}


@asynccontextmanager
async def connect(era, transport, target, log):
    with open(log, "a") as errors:
        server = target if transport == "http" else stdio_client(parameters(target), errlog=errors)
        logs, messages = [], python_checks.Messages()
        options = {
            "mode": MODES[era],
            "read_timeout_seconds": 30,
            "logging_callback": python_checks.keep(logs),
            "message_handler": messages.see,
            "elicitation_callback": fill_in,
            "sampling_callback": sample,
            "list_roots_callback": list_roots,
        }
        async with Client(server, **options) as client:
            yield PythonClient(client, logs, messages)


async def fill_in(_context, form):
    return python_checks.fill_in(form)


async def sample(_context, _params):
    content = TextContent(type="text", text=python_checks.MODEL_TEXT)
    return CreateMessageResult(role="assistant", model="none", content=content)


async def list_roots(_context):
    return ListRootsResult(roots=[Root(uri=python_checks.ROOT)])


def parameters(command):
    return StdioServerParameters(command=command, args=["--stdio"])


class PythonClient:
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
        return (await self.client.list_tools()).tools

    async def call(self, name, arguments=None, progress=None, meta=None):
        return await self.client.call_tool(name, arguments, progress_callback=progress, meta=meta)

    async def resources(self):
        return (await self.client.list_resources()).resources

    async def templates(self):
        return (await self.client.list_resource_templates()).resource_templates

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents

    async def prompts(self):
        return (await self.client.list_prompts()).prompts

    async def prompt(self, name, arguments=None):
        return await self.client.get_prompt(name, arguments)

    async def complete(self, ref, name, value):
        return (await self.client.complete(ref, {"name": name, "value": value})).completion

    def changes(self):
        return python_checks.changes(self.client.session, self.revision(), self.messages)


if __name__ == "__main__":
    # The client logs what it retries; a failed check says enough.
    logging.disable(logging.CRITICAL)
    python_checks.main("python", connect)
