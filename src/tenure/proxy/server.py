"""Serving: the proxy on a socket, until it is told to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable

import uvicorn

from tenure.http.configuration import Service
from tenure.http.crew import unavailable
from tenure.http.server import SWITCH, listening
from tenure.memory import Memory
from tenure.proxy.app import Admit, application
from tenure.proxy.configuration import ProxySettings


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
    memory: Memory, settings: ProxySettings, service: Service, announce: Callable[[str], None]
) -> None:
    """Pass requests on until a signal to stop; those under way are finished first."""
    server = proxy_server(memory, settings, service, announce)
    sys.setswitchinterval(SWITCH)
    try:
        server.run()
    except SystemExit as ended:
        if server.started:
            raise
        raise unavailable(service.host, service.port, None) from ended
