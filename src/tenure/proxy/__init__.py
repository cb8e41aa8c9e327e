"""The proxy between an application and its model provider. `tenure proxy` runs it; `application` is
an ASGI application."""

try:
    import httpx as _httpx  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'tenure[service]'") from error

from tenure.proxy.app import application
from tenure.proxy.configuration import ProxySettings
from tenure.proxy.local import LocalProxy

__all__ = ["LocalProxy", "ProxySettings", "application"]
