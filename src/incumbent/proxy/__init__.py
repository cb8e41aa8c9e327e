"""The proxy between an application and its model provider. `incumbent proxy` runs it;
`application` is an ASGI application."""

try:
    import httpx as _httpx  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'incumbent[service]'") from error

from incumbent.proxy.app import application
from incumbent.proxy.configuration import ProxySettings
from incumbent.proxy.local import LocalProxy

__all__ = ["LocalProxy", "ProxySettings", "application"]
