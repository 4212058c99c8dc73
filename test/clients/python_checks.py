"""What a Python client is made to do against the example server, whichever client it is.

A client here is the small face that each client's program puts on it: `ERROR` is what it raises for a JSON-RPC error.
"""

import base64
import json
import sys
import time
import warnings
from contextlib import asynccontextmanager

import anyio
from mcp.client.subscriptions import listen
from mcp_types import ElicitResult, PromptReference, ResourceTemplateReference

NOT_FOUND = {"modern": -32602, "legacy": -32002}
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
REVISIONS = {"modern": "2026-07-28", "legacy": "2025-11-25"}
WATCHED = "test://watched-resource"

# What the user types into forms, what the user's model writes, and where the user works.
FORM = {"username": "Ada", "email": "ada@example.org", "name": "Ada", "color": "teal", "ok": True, "context": "rye", "confirm": True}
MODEL_TEXT = "Paris"
ROOT = "file:///project"


class Given:
    """The client under test, and what a check needs to know besides."""

    def __init__(self, client, name, era, log):
        self.client = client
        self.name = name
        self.era = era
        self.log = log


def main(name, connect, checks=None):
    """Runs every check in one connection: NAME ERA TRANSPORT TARGET LOG."""
    era, transport, target, log = sys.argv[1:]
    # Clients warn of what the newest revision has no more; the legacy era is made of it.
    warnings.simplefilter("ignore")
    failed = anyio.run(run, checks or CHECKS, name, connect, era, transport, target, log)
    sys.exit(1 if failed else 0)


async def run(checks, name, connect, era, transport, target, log):
    failed = 0
    async with connect(era, transport, target, log) as client:
        given = Given(client, name, era, log)
        for check in checks:
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


async def list_resources(given):
    uris = [resource.uri for resource in await given.client.resources()]
    equal({"test://static-text", "test://static-binary"} - set(map(str, uris)), set())
    templates = [template.uri_template for template in await given.client.templates()]
    equal(templates, ["test://template/{id}/data"])


async def read_text(given):
    [content] = await given.client.read("test://static-text")
    equal((content.mime_type, content.text[:7]), ("text/plain", "This is"))


async def read_binary(given):
    [content] = await given.client.read("test://static-binary")
    equal((content.mime_type, base64.b64decode(content.blob)[1:4]), ("image/png", b"PNG"))


async def read_template(given):
    [content] = await given.client.read("test://template/1%202/data")
    equal(json.loads(content.text)["id"], "1 2")


async def unknown_resource(given):
    await refused(given, NOT_FOUND[given.era], given.client.read("test://no-such-resource"))


async def list_prompts(given):
    prompts = {prompt.name: prompt for prompt in await given.client.prompts()}
    arguments = prompts["test_prompt_with_arguments"].arguments
    equal([(argument.name, argument.required) for argument in arguments], [("arg1", True), ("arg2", True)])


async def get_prompt(given):
    prompt = await given.client.prompt("test_prompt_with_arguments", {"arg1": "rye", "arg2": "oat"})
    [message] = prompt.messages
    equal(message.role, "user")
    contains(message.content.text, "rye")
    contains(message.content.text, "oat")


async def prompt_blocks(given):
    prompt = await given.client.prompt("test_prompt_with_image")
    equal([message.content.type for message in prompt.messages], ["image", "text"])


async def missing_prompt_argument(given):
    await refused(given, -32602, given.client.prompt("test_prompt_with_arguments", {"arg1": "rye"}))


async def complete_prompt(given):
    ref = PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
    completion = await given.client.complete(ref, "arg1", "test")
    equal(completion.values, ["test", "testing", "tested"])


async def complete_template(given):
    ref = ResourceTemplateReference(type="ref/resource", uri="test://template/{id}/data")
    completion = await given.client.complete(ref, "id", "9")
    equal((len(completion.values), completion.total, completion.has_more), (100, 111, True))


async def progress(given):
    seen = []

    async def see(done, total, message):
        seen.append((done, total, message))

    await given.client.call("test_tool_with_progress", progress=see)
    equal(seen, [(done, 100, f"{done} of 100") for done in (0, 50, 100)])


async def log_messages(given):
    given.client.logs.clear()
    await given.client.call("test_tool_with_logging", meta={LOG_LEVEL: "info"})
    wanted = [("info", "everything", f"The work has {step}.") for step in ("begun", "gone on", "ended")]
    equal([(log.level, log.logger, log.data) for log in given.client.logs], wanted)


async def form(given):
    result = await given.client.call("test_elicitation", {"message": "Who are you?"})
    action, content = result.content[0].text.split(", content: ")
    equal((action, json.loads(content)), ("Action: accept", {"username": "Ada", "email": "ada@example.org"}))


async def declined_form(given):
    result = await given.client.call("test_elicitation", {"message": "Please decline."})
    equal(result.content[0].text, "Action: decline")


async def sampling(given):
    result = await given.client.call("test_sampling", {"prompt": "What is the capital of France?"})
    equal(result.content[0].text, "The model says: Paris")


async def roots(given):
    result = await given.client.call("test_input_required_result_list_roots")
    equal(result.content[0].text, f"The client works in {ROOT}.")


async def one_question_after_another(given):
    result = await given.client.call("test_input_required_result_multi_round")
    equal(result.content[0].text, "Ada likes teal.")


async def several_questions_at_once(given):
    result = await given.client.call("test_input_required_result_multiple_inputs")
    equal(result.content[0].text, "3 answers: client_roots, greeting, user_name")


async def prompt_that_asks(given):
    prompt = await given.client.prompt("test_input_required_result_prompt")
    equal(prompt.messages[0].content.text, "Keep in mind: rye")


async def resource_that_asks(given):
    [content] = await given.client.read("test://personal-note")
    equal(content.text, "Hello, Ada!")


async def changes_of_lists(given):
    async with given.client.changes() as heard:
        for _added_or_taken_away in range(2):
            await given.client.call("test_trigger_tool_change")
            await hear(heard, "tools")


async def changes_of_resources(given):
    async with given.client.changes() as heard:
        await given.client.call("test_trigger_resource_change")
        await hear(heard, WATCHED)


async def response_in_two_parts(given):
    result = await given.client.call("test_reconnection")
    contains(result.content[0].text, "came back")


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


def fill_in(form):
    """What the user does with a form."""
    if "decline" in form.message:
        return ElicitResult(action="decline")
    fields = form.requested_schema["properties"]
    return ElicitResult(action="accept", content={name: FORM[name] for name in fields if name in FORM})


class Messages:
    """Notifications that come without a request: what the era before subscriptions had."""

    def __init__(self):
        self.sender, self.heard = anyio.create_memory_object_stream(100)

    async def see(self, message):
        self.sender.send_nowait(message)


@asynccontextmanager
async def changes(session, revision, messages):
    """What a client hears of changes to the tools and to the watched resource."""
    if revision == REVISIONS["modern"]:
        async with listen(session, tools_list_changed=True, resource_subscriptions=[WATCHED]) as subscription:
            yield subscription
    else:
        await session.subscribe_resource(WATCHED)
        yield messages.heard
        await session.unsubscribe_resource(WATCHED)


async def hear(heard, wanted):
    with anyio.fail_after(5):
        async for event in heard:
            if wanted in changed(event):
                return
    raise AssertionError(f"nobody told of {wanted}")


def changed(event):
    """The list or the resource that an event of any client is about."""
    if "ToolsListChanged" in type(event).__name__ or "ToolListChanged" in type(event).__name__:
        return ["tools"]
    return [str(getattr(holder, "uri", "")) for holder in (event, getattr(event, "params", None))]


def keep(logs):
    """What a client calls with each log message."""

    async def log(message):
        logs.append(message)

    return log


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
    list_resources,
    read_text,
    read_binary,
    read_template,
    unknown_resource,
    list_prompts,
    get_prompt,
    prompt_blocks,
    missing_prompt_argument,
    complete_prompt,
    complete_template,
    progress,
    log_messages,
    form,
    declined_form,
    sampling,
    roots,
    one_question_after_another,
    several_questions_at_once,
    prompt_that_asks,
    resource_that_asks,
    changes_of_lists,
    changes_of_resources,
    response_in_two_parts,
    concurrent_calls,
    cancel,
]
