"""FastMCP on uvicorn (uvloop, httptools), stateless, answers as plain JSON."""

import os

import uvicorn
from fastmcp import FastMCP

mcp = FastMCP("fastmcp")


@mcp.tool(description="Returns its text", output_schema=None)
async def echo(
    text: str,
    count: int | None = None,
    ratio: float | None = None,
    flag: bool | None = None,
    tags: list[str] | None = None,
) -> str:
    return text


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        print(f"READY {self.config.port}", flush=True)


app = mcp.http_app(path="/mcp", stateless_http=True, json_response=True)
port = int(os.environ["PORT"])
Server(uvicorn.Config(app, port=port, log_level="warning", access_log=False)).run()
