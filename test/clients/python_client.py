"""The Python client (PyPI `mcp`), unchanged, in both eras, against the example server.

  python_client.py ERA TRANSPORT TARGET LOG

ERA is modern or legacy. TARGET is a URL (http) or a command (stdio). LOG is where the server's own log is found: over
HTTP somebody else writes it, over stdio this program has the server write it.
"""

import logging
import sys
import time

import anyio
from mcp import MCPError, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

REVISIONS = {"modern": "2026-07-28", "legacy": "2025-11-25"}
MODES = {"modern": "auto", "legacy": "legacy"}


def main():
    # The client logs what it retries; a failed check says enough.
    logging.disable(logging.CRITICAL)
    era, transport, target, log = sys.argv[1:]
    failed = anyio.run(run, era, transport, target, log)
    sys.exit(1 if failed else 0)


async def run(era, transport, target, log):
    failed = 0
    with open(log, "a") as errors:
        server = target if transport == "http" else stdio_client(parameters(target), errlog=errors)
        async with Client(server, mode=MODES[era], read_timeout_seconds=30) as client:
            for check in CHECKS:
                failed += not await passes(check, client, era, log)
    return failed


def parameters(command):
    return StdioServerParameters(command=command, args=["--stdio"])


async def passes(check, client, era, log):
    try:
        await check(client, era, log)
    except Exception as error:
        print(f"FAILED {check.__name__}: {error!r}", flush=True)
        return False
    print(f"ok {check.__name__}", flush=True)
    return True


async def connect(client, era, _log):
    equal(client.protocol_version, REVISIONS[era])
    equal(client.server_info.name, "everything")


async def list_tools(client, _era, _log):
    names = [tool.name for tool in (await client.list_tools()).tools]
    equal(names[0], "test_simple_text")
    equal({"greet", "add", "slow_compute"} - set(names), set())


async def call(client, _era, _log):
    result = await client.call_tool("greet", {"name": "Ada"})
    equal((result.is_error, result.content[0].text), (False, "Hello, Ada!"))


async def structured_result(client, _era, _log):
    result = await client.call_tool("add", {"a": 2, "b": 3})
    equal(result.structured_content, {"sum": 5})


async def content_blocks(client, _era, _log):
    result = await client.call_tool("test_multiple_content_types")
    equal([block.type for block in result.content], ["text", "image", "resource"])


async def mirrored_argument(client, _era, _log):
    await client.list_tools()
    result = await client.call_tool("test_x_mcp_header", {"value": " Grüße "})
    equal(result.content[0].text, "Header and body:  Grüße ")


async def tool_error(client, _era, _log):
    result = await client.call_tool("test_error_handling")
    equal((result.is_error, result.content[0].text), (True, "This tool fails on purpose."))


async def bad_arguments(client, _era, _log):
    result = await client.call_tool("greet", {"name": 7})
    equal(result.is_error, True)
    contains(result.content[0].text, "/name")


async def unknown_tool(client, _era, _log):
    try:
        await client.call_tool("no_such_tool")
    except MCPError as error:
        equal(error.error.code, -32602)
    else:
        raise AssertionError("an unknown tool was called")


async def concurrent_calls(client, _era, _log):
    answers = {}

    async def echo(text):
        answers[text] = (await client.call_tool("echo", {"text": text})).content[0].text

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(echo, f"text {number}")
    equal(answers, {f"text {n}": f"text {n}" for n in range(20)})


async def cancel(client, era, log):
    label = f"python-{era}-{time.time_ns()}"
    with anyio.move_on_after(0.5) as scope:
        await client.call_tool("slow_compute", {"seconds": 30, "label": label})
    equal(scope.cancelled_caught, True)
    await logged(log, f"slow_compute {label} was cancelled")
    await call(client, era, log)


async def logged(log, line):
    with anyio.fail_after(5):
        while line not in await anyio.Path(log).read_text():
            await anyio.sleep(0.05)


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, wanted {wanted!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{text!r} lacks {part!r}")


CHECKS = [
    connect,
    list_tools,
    call,
    structured_result,
    content_blocks,
    mirrored_argument,
    tool_error,
    bad_arguments,
    unknown_tool,
    concurrent_calls,
    cancel,
]

if __name__ == "__main__":
    main()
