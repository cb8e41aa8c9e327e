"""The server for models (Model Context Protocol). `incumbent mcp` runs it."""

from incumbent.mcp.seats import Seats, Sitting
from incumbent.mcp.server import protocol_server

__all__ = ["Seats", "Sitting", "protocol_server"]
