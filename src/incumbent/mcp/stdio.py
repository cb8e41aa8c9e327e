"""The protocol over the standard streams, for a client that starts this process itself."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

import anyio

from incumbent.mcp.lone_surrogates import AnsweringStream
from incumbent.mcp.package import standard_streams
from incumbent.mcp.seats import Seats
from incumbent.mcp.server import protocol_server


def serve(seats: Seats, leave: Callable[[], None]) -> None:
    """Answer requests until the client closes the stream, or a signal to stop.

    `leave` puts everything in order before a signal ends the process.
    """
    seats.here().session()  # what is wrong with the identity is told at once, not at the first call
    anyio.run(_serve, seats, leave)


async def _serve(seats: Seats, leave: Callable[[], None]) -> None:
    server = protocol_server(seats)
    async with anyio.create_task_group() as tasks:
        if sys.platform != "win32":
            tasks.start_soon(_await_signal, leave)
        async with standard_streams() as (read, write):
            options = server.create_initialization_options()
            await server.run(AnsweringStream(read, write), write, options)
        tasks.cancel_scope.cancel()


async def _await_signal(leave: Callable[[], None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            await anyio.to_thread.run_sync(leave)
            # A thread waits for the client's next line, and nothing else would wake it.
            os._exit(0 if number is signal.SIGTERM else 128 + number)
