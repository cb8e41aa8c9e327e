"""The HTTP service. `incumbent serve` runs it; `application(memory)` is an ASGI application."""

try:
    import fastapi as _fastapi  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'incumbent[service]'") from error

from incumbent.http.app import application
from incumbent.http.configuration import Service

__all__ = ["Service", "application"]
