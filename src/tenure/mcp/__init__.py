"""The server for models (Model Context Protocol). `tenure mcp` runs it."""

try:
    import mcp as _mcp  # noqa: F401
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'tenure[mcp]'") from error

from tenure.mcp.seats import Seats, Sitting
from tenure.mcp.server import protocol_server

__all__ = ["Seats", "Sitting", "protocol_server"]
