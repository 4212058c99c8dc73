"""What a Python client is made to do against the example server, whichever client it is.

A client here is the small face that each client's program puts on it: `ERROR` is what it raises for a JSON-RPC error.
"""

import sys
import time

import anyio

REVISIONS = {"modern": "2026-07-28", "legacy": "2025-11-25"}


class Given:
    """The client under test, and what a check needs to know besides."""

    def __init__(self, client, name, era, log):
        self.client = client
        self.name = name
        self.era = era
        self.log = log


def main(name, connect):
    """Runs every check in one connection: NAME ERA TRANSPORT TARGET LOG."""
    era, transport, target, log = sys.argv[1:]
    failed = anyio.run(run, name, connect, era, transport, target, log)
    sys.exit(1 if failed else 0)


async def run(name, connect, era, transport, target, log):
    failed = 0
    async with connect(era, transport, target, log) as client:
        given = Given(client, name, era, log)
        for check in CHECKS:
            failed += not await passes(check, given)
    return failed


async def passes(check, given):
    try:
        await check(given)
    except Exception as error:
        print(f"FAILED {check.__name__}: {error!r}", flush=True)
        return False
    print(f"ok {check.__name__}", flush=True)
    return True


async def connect(given):
    equal(given.client.revision(), REVISIONS[given.era])
    equal(given.client.server_name(), "everything")


async def list_tools(given):
    names = [tool.name for tool in await given.client.tools()]
    equal(names[0], "test_simple_text")
    equal({"greet", "add", "slow_compute"} - set(names), set())


async def call(given):
    result = await given.client.call("greet", {"name": "Ada"})
    equal((result.is_error, result.content[0].text), (False, "Hello, Ada!"))


async def structured_result(given):
    result = await given.client.call("add", {"a": 2, "b": 3})
    equal(result.structured_content, {"sum": 5})


async def content_blocks(given):
    result = await given.client.call("test_multiple_content_types")
    equal([block.type for block in result.content], ["text", "image", "resource"])


async def mirrored_argument(given):
    await given.client.tools()
    result = await given.client.call("test_x_mcp_header", {"value": " Grüße "})
    equal(result.content[0].text, "Header and body:  Grüße ")


async def tool_error(given):
    result = await given.client.call("test_error_handling")
    equal((result.is_error, result.content[0].text), (True, "This tool fails on purpose."))


async def bad_arguments(given):
    result = await given.client.call("greet", {"name": 7})
    equal(result.is_error, True)
    contains(result.content[0].text, "/name")


async def unknown_tool(given):
    await refused(given, -32602, given.client.call("no_such_tool"))


async def concurrent_calls(given):
    answers = {}

    async def echo(text):
        answers[text] = (await given.client.call("echo", {"text": text})).content[0].text

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(echo, f"text {number}")
    equal(answers, {f"text {n}": f"text {n}" for n in range(20)})


async def cancel(given):
    label = f"{given.name}-{given.era}-{time.time_ns()}"
    with anyio.move_on_after(0.5) as scope:
        await given.client.call("slow_compute", {"seconds": 30, "label": label})
    equal(scope.cancelled_caught, True)
    await logged(given.log, f"slow_compute {label} was cancelled")
    await call(given)


async def refused(given, code, answer):
    try:
        await answer
    except given.client.ERROR as error:
        equal(error.error.code, code)
    else:
        raise AssertionError(f"no error {code}")


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
