"""Tasks by FastMCP's client and its package of the extension (PyPI `fastmcp-tasks`), unchanged, against the example server.

  fastmcp_tasks_client.py modern stdio COMMAND LOG

The arguments are those of python_client.py. It has an environment of its own: the package wants an older FastMCP. Over HTTP
its requests lack the header `Mcp-Name`, which the extension asks for, and are refused.
"""

import logging
import time
from contextlib import asynccontextmanager
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp_tasks.client import call_tool_task

import python_checks
from python_checks import equal, logged


@asynccontextmanager
async def connect(_era, _transport, command, log):
    server = StdioTransport(command, ["--stdio"], keep_alive=False, log_file=Path(log))
    async with Client(server, mode="auto", timeout=30, elicitation_handler=fill_in) as client:
        yield client


async def fill_in(_message, _type, form, _context):
    return python_checks.fill_in(form)


async def job(given):
    task = await call_tool_task(given.client, "slow_compute", {"seconds": 0.2, "label": "sum"})
    equal((await task.status()).status, "working")
    equal(text(await task.result()), "sum took 0.2 s.")


async def job_behind_a_call(given):
    equal(text(await given.client.call_tool("slow_compute", {"seconds": 0.2, "label": "sum"})), "sum took 0.2 s.")


async def job_that_asks(given):
    task = await call_tool_task(given.client, "confirm_delete", {"filename": "a.txt"})
    asking = await task.wait(state="input_required", timeout=5)
    equal(list(asking.input_requests), ["confirm"])
    equal(text(await task.result()), "a.txt would be deleted now.")


async def job_after_a_question(given):
    equal(text(await given.client.call_tool("test_tool_with_task")), "Done, Ada.")


async def job_that_fails(given):
    failed = await call_tool_task(given.client, "failing_job", raise_on_error=False)
    result = await failed.result()
    equal((result.is_error, text(result)), (True, "The job has failed."))
    equal((await failed.status()).status, "completed")


async def cancelled_job(given):
    label = f"{given.name}-{time.time_ns()}"
    task = await call_tool_task(given.client, "slow_compute", {"seconds": 30, "label": label})
    await task.cancel()
    equal((await task.wait(timeout=5)).status, "cancelled")
    await logged(given.log, f"slow_compute {label} was cancelled")


def text(result):
    return result.content[0].text


CHECKS = [job, job_behind_a_call, job_that_asks, job_after_a_question, job_that_fails, cancelled_job]


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    python_checks.main("fastmcp-tasks", connect, CHECKS)
