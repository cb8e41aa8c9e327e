"""The server for models (Model Context Protocol). `tenure mcp` runs it."""

from tenure.mcp.seats import Seats, Sitting
from tenure.mcp.server import protocol_server

__all__ = ["Seats", "Sitting", "protocol_server"]
