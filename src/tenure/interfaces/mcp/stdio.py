"""The protocol over the standard streams, for a client that starts this process itself."""

from __future__ import annotations

import anyio
from mcp.server.stdio import stdio_server

from tenure.interfaces.mcp.seats import Seats
from tenure.interfaces.mcp.server import protocol_server


def serve(seats: Seats) -> None:
    """Answer requests until the client closes the stream."""
    seats.here().session()  # what is wrong with the identity is told at once, not at the first call
    anyio.run(_serve, seats)


async def _serve(seats: Seats) -> None:
    server = protocol_server(seats)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
