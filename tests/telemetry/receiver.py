"""A real HTTP server that takes deliveries, or does not, in the ways in which servers do not."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from types import TracebackType
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from incumbent.audit.webhook import SIGNATURE, is_signed

SECRET = b"a secret of at least sixteen bytes"
Behaviour = Callable[["Handler"], None]


def status(code: int, **headers: str) -> Behaviour:
    """Answers with a status."""

    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def hang_up(handler: Handler) -> None:
    """Closes the connection without a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def garbage(handler: Handler) -> None:
    """Says something that is no HTTP."""
    handler.wfile.write(b"\x00\x01 what? \r\n\r\n")
    handler.close_connection = True


def silence(handler: Handler) -> None:
    """Says nothing for longer than anybody waits."""
    handler.server.released.wait(30)  # type: ignore[attr-defined]
    handler.close_connection = True


def trickle(handler: Handler) -> None:
    """Sends a byte now and then, so that no single read takes long."""
    for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 1000:
        if handler.server.released.is_set():  # type: ignore[attr-defined]
            break
        try:
            handler.wfile.write(bytes([byte]))
        except OSError:
            break
        time.sleep(0.05)
    handler.close_connection = True


def certificate(folder: Path) -> tuple[Path, Path]:
    """The files of a certificate for this machine that nobody vouches for, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    here = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(made.public_bytes(Encoding.PEM))
    files[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return files


class Handler(BaseHTTPRequestHandler):
    """Behaves as the next of the script says, then takes everything."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return  # whoever sent it was killed meanwhile
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        behaviour = receiver.next_behaviour()
        if behaviour is None:
            receiver.take(body, self.headers.get(SIGNATURE, ""))
            behaviour = status(204)
        else:
            receiver.refused += 1
        behaviour(self)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Receiver:
    """Keeps what it took: a list of batches, each a list of entries."""

    def __init__(self, *script: Behaviour, certificate: tuple[Path, Path] | None = None) -> None:
        self.script = list(script)
        self.batches: list[list[dict[str, Any]]] = []
        self.bodies: list[bytes] = []
        self.forged = 0
        self.refused = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._scheme = "http" if certificate is None else "https"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.receiver = self  # type: ignore[attr-defined]
        self._server.released = threading.Event()  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}/audit?of=acme"

    @property
    def seqs(self) -> list[int]:
        return [entry["seq"] for batch in self.batches for entry in batch]

    def has(self, count: int) -> Callable[[], bool]:
        """Whether so many entries arrived, repeated ones included."""
        return lambda: len(self.seqs) >= count

    def next_behaviour(self) -> Behaviour | None:
        with self._lock:
            return self.script.pop(0) if self.script else None

    def take(self, body: bytes, header: str) -> None:
        with self._lock:
            if not is_signed(SECRET, body, header, datetime.now(UTC)):
                self.forged += 1
            self.bodies.append(body)
            self.batches.append(json.loads(body)["entries"])

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.released.set()  # type: ignore[attr-defined]
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
