"""Serving: the proxy on a socket, until it is told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from incumbent.http.configuration import Service
from incumbent.http.server import listening, run
from incumbent.memory import Memory
from incumbent.proxy.app import Admit, application
from incumbent.proxy.configuration import ProxySettings


def proxy_server(
    memory: Memory,
    settings: ProxySettings,
    service: Service,
    announce: Callable[[str], None],
    admit: Admit | None = None,
) -> uvicorn.Server:
    """A proxy that is ready to run."""
    made = application(memory, settings, service, admit)
    return listening(made, service, announce, lifespan="on")


def serve(
    memory: Memory,
    settings: ProxySettings,
    service: Service,
    announce: Callable[[str], None],
    place: socket.socket | None = None,
) -> None:
    """Pass requests on until a signal to stop; those under way are finished first.

    The address is the service's, or that of a `place` that is bound already.
    """
    run(proxy_server(memory, settings, service, announce), service, place)
