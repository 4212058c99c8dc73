"""The OAuth flow of the Python client (PyPI `mcp`), unchanged, against the protected example server.

  oauth_client.py ERA URL

ERA is modern or legacy. The user is played by this program: it follows the authorization URL, and the issuer consents.
"""

import logging
import sys
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp import MCPError
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

MODES = {"modern": "auto", "legacy": "legacy"}
REDIRECT_URI = "http://127.0.0.1:1/callback"
BASIC_SCOPES = ["mcp:tools:read", "mcp:tools:call"]


async def main(era, url):
    user, seen = User(), []
    metadata = OAuthClientMetadata(redirect_uris=[REDIRECT_URI], client_name="python")
    provider = OAuthClientProvider(url, metadata, Storage(), user.visit, user.come_back)
    async with create_mcp_http_client(auth=provider) as http:
        http.event_hooks["response"].append(keep(seen))
        async with Client(streamable_http_client(url, http_client=http), mode=MODES[era]) as client:
            given = Given(client, user, seen)
            return [await passes(check, given) for check in CHECKS].count(False)


class Given:
    def __init__(self, client, user, seen):
        self.client = client
        self.user = user
        self.seen = seen

    def statuses(self):
        return [status for status, method in self.seen if method == "POST"]


class Storage(TokenStorage):
    """What a client remembers."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class User:
    """Follows the authorization URL, and is sent back."""

    def __init__(self):
        self.scopes, self.answer = [], None

    async def visit(self, url):
        self.scopes.append(parse_qs(urlsplit(url).query)["scope"][0].split())
        async with httpx2.AsyncClient() as browser:
            response = await browser.get(url)
        self.answer = parse_qs(urlsplit(response.headers["location"]).query)

    async def come_back(self):
        code, state, iss = (self.answer[name][0] for name in ("code", "state", "iss"))
        return AuthorizationCodeResult(code=code, state=state, iss=iss)


def keep(seen):
    async def see(response):
        seen.append((response.status_code, response.request.method))

    return see


async def passes(check, given):
    try:
        await check(given)
    except Exception as error:
        print(f"FAILED {check.__name__}: {error!r}", flush=True)
        return False
    print(f"ok {check.__name__}", flush=True)
    return True


async def sign_in(given):
    equal(given.seen[0], (401, "POST"))
    equal(given.user.scopes, [BASIC_SCOPES])


async def call(given):
    caller = (await given.client.call_tool("whoami", {})).structured_content
    equal((caller["user"], caller["sender"], caller["scopes"]), ("alice", "bearer", BASIC_SCOPES))


async def list_without_hidden_tools(given):
    names = [tool.name for tool in (await given.client.list_tools()).tools]
    equal(names, ["whoami", "read_notes", "write_note"])


async def step_up(given):
    given.seen.clear()
    result = await given.client.call_tool("write_note", {"text": "rye"})
    equal((result.is_error, result.content[0].text), (False, "Written."))
    equal(given.statuses(), [403, 200, 200])
    equal(given.user.scopes[1:], [BASIC_SCOPES + ["notes:write"]])


async def call_after_step_up(given):
    given.seen.clear()
    result = await given.client.call_tool("read_notes", {})
    equal((result.structured_content["notes"][-1], given.statuses()), ("rye", [200]))


async def hidden_tool(given):
    errors = [await error_of(given.client.call_tool(name, {})) for name in ("erase_notes", "no_such_tool")]
    equal(errors[0].replace("erase_notes", "no_such_tool"), errors[1])


async def error_of(answer):
    try:
        await answer
    except MCPError as error:
        return f"{error.error.code} {error.error.message}"
    raise AssertionError("no error")


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r}, wanted {wanted!r}")


CHECKS = [sign_in, call, list_without_hidden_tools, step_up, call_after_step_up, hidden_tool]

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.exit(1 if anyio.run(main, *sys.argv[1:]) else 0)
