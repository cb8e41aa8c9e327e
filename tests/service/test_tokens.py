"""Signed tokens: only what the issuer signed for us counts, and only as far as it goes."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

import incumbent
from incumbent.http import credentials
from incumbent.http.configuration import Tokens
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.service.running import Running, a_key, problem

ISSUER = "https://login.example.com"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())


def jwks() -> dict[str, Any]:
    one = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(RSA.public_key()))
    two = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(CURVE.public_key()))
    return {"keys": [{**one, "kid": "one", "alg": "RS256"}, {**two, "kid": "two", "alg": "ES256"}]}


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    made = {
        "iss": ISSUER,
        "aud": "incumbent",
        "sub": "bob",
        "exp": now + 600,
        "iat": now,
        "organization": "acme",
        "scope": "read write openid",
        "authority": "manager",
        "permissions": ["travel"],
    }
    return {k: v for k, v in {**made, **changes}.items() if v is not None}


def signed(
    key: Any = RSA, algorithm: str = "RS256", kid: str | None = "one", **changes: Any
) -> str:
    headers = {} if kid is None else {"kid": kid}
    return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that believes the issuer's tokens."""
    folder = tmp_path_factory.mktemp("tokens")
    (folder / "keys.json").write_text(json.dumps(jwks()))
    tokens = Tokens(issuer=ISSUER, audience="incumbent", keys=str(folder / "keys.json"), leeway=5)
    with (
        incumbent.open(folder / "agent.db", settings=QUICK) as memory,
        Running(memory, credentials=True, tokens=tokens) as running,
    ):
        yield running


def test_a_token_says_who_is_asking(service: Running) -> None:
    """Person, organization, authority and permissions are those of the claims."""
    made = service.post("write", {"key": "desk", "value": 7}, key=signed())
    assert made.status_code == 200, made.text
    fact = service.post("get", {"fact_id": made.json()["fact_id"]}, key=signed()).json()
    assert (fact["owner"], fact["organization"], fact["authority"]) == ("bob", "acme", "manager")
    by_curve = signed(CURVE, "ES256", "two")
    assert service.post("current", {"key": "desk"}, key=by_curve).json() == 7


def unsigned(**header: Any) -> str:
    parts = ({"alg": "none", "typ": "JWT", **header}, claims())
    coded = [base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=").decode() for p in parts]
    return ".".join([*coded, ""])


def resigned_with_the_public_key() -> str:
    """HS256 with the public key as the secret, which is what a careless check would accept."""
    import hashlib
    import hmac

    public = RSA.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    head, body, _ = unsigned(alg="HS256", kid="one").split(".")
    made = hmac.new(public, f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"


def tampered() -> str:
    head, body, signature = signed().split(".")
    said = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    said["authority"] = "policy"
    other = base64.urlsafe_b64encode(json.dumps(said).encode()).rstrip(b"=").decode()
    return f"{head}.{other}.{signature}"


def deep_header() -> str:
    nested = base64.urlsafe_b64encode(b'{"a":' + b"[" * 9000).rstrip(b"=").decode()
    return f"{nested}.e30.e30"


BAD = {
    "tampered": tampered,
    "cut": lambda: signed()[:-4],
    "alg none": unsigned,
    "alg None": lambda: unsigned(alg="NONE"),
    "alg none with a known key": lambda: unsigned(kid="one"),
    "signed with the public key": resigned_with_the_public_key,
    "signed by somebody else": lambda: signed(OTHER),
    "another algorithm for the key": lambda: signed(RSA, "RS512"),
    "the key of another algorithm": lambda: signed(CURVE, "ES256", "one"),
    "run out": lambda: signed(exp=int(time.time()) - 60),
    "not yet valid": lambda: signed(nbf=int(time.time()) + 600),
    "issued in the future": lambda: signed(iat=int(time.time()) + 6000),
    "never runs out": lambda: signed(exp=None),
    "runs out at infinity": lambda: signed(exp=float("inf")),
    "another issuer": lambda: signed(iss="https://evil.example.com"),
    "no issuer": lambda: signed(iss=None),
    "another audience": lambda: signed(aud="payroll"),
    "no audience": lambda: signed(aud=None),
    "nobody": lambda: signed(sub=None),
    "an empty name": lambda: signed(sub=""),
    "no organization": lambda: signed(organization=None),
    "a list of organizations": lambda: signed(organization=["acme"]),
    "an empty organization": lambda: signed(organization=""),
    "permissions of another form": lambda: signed(permissions="payroll"),
    "a number among the scopes": lambda: signed(scope=["read", 1]),
    "an unknown key": lambda: signed(kid="three"),
    "no key named among two": lambda: signed(kid=None),
    "a key by address": lambda: jwt.encode(
        claims(), OTHER, "RS256", headers={"kid": "x", "jku": "https://evil.example.com/k"}
    ),
    "a key that it brings along": lambda: jwt.encode(
        claims(),
        OTHER,
        "RS256",
        headers={"jwk": json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(OTHER.public_key()))},
    ),
    "a header that never ends": deep_header,
    "three dots": lambda: "..",
    "too long": lambda: "a" * 20_000,
    "two words": lambda: f"{signed()} {signed()}",
}


@pytest.mark.parametrize("name", BAD)
def test_a_token_that_is_not_in_order_lets_nobody_in(service: Running, name: str) -> None:
    """It is refused with 401, and nothing of it comes back."""
    before = list(service.memory.export("acme"))
    token = BAD[name]()  # type: ignore[no-untyped-call]
    answer = service.post("write", {"key": "a", "value": 1}, key=token)
    problem(answer, 401, "Unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    if token.strip(". "):
        assert token not in answer.text
    assert list(service.memory.export("acme")) == before


def test_missing_claims_grant_nothing(service: Running) -> None:
    """Without an authority a token is a guest's, without permissions it has none, and without a
    scope of ours it is good for nothing."""
    bare = signed(authority=None, permissions=None)
    made = service.post("write", {"key": "lamp", "value": 1}, key=bare).json()
    assert (
        service.post("get", {"fact_id": made["fact_id"]}, key=bare).json()["authority"] == "guest"
    )
    asked = {"session": {"permissions": ["travel"]}, "key": "lamp"}
    problem(service.post("current", asked, key=bare), 403)
    problem(service.post("current", {"key": "lamp"}, key=signed(scope="openid profile")), 403)
    problem(service.post("current", {"key": "lamp"}, key=signed(scope=None)), 403)


@pytest.mark.parametrize(
    "session",
    [
        {"user_id": "ann"},
        {"organization": "globex"},
        {"authority": "executive"},
        {"permissions": ["payroll"]},
        {"permissions": ["authority:*"]},
    ],
    ids=lambda given: next(iter(given)),
)
def test_no_body_goes_beyond_the_claims(service: Running, session: dict[str, Any]) -> None:
    """Whatever the session of a request says."""
    body = {"session": session, "key": "a", "value": 1}
    problem(service.post("write", body, key=signed()), 403, "NotPermitted")


def test_a_token_is_no_admin_of_other_people(service: Running) -> None:
    """One with `erase` has only its own person's facts forgotten; with `read` alone nothing."""
    ann = service.memory.session(user_id="ann", organization="acme")
    ann.write("phone", "555-0100")
    problem(service.post("forget", {"user_id": "ann"}, key=signed(scope="erase")), 403)
    problem(service.post("forget", {"user_id": "bob"}, key=signed(scope="read write")), 403)
    assert ann.current("phone") == "555-0100"


def test_two_people_are_never_taken_for_one(service: Running) -> None:
    """Names with colons in them do not run into each other, so that no kept answer goes astray."""
    body = {"key": "motto", "value": "CANARY-MOTTO"}
    one = signed(organization="a:b", sub="c")
    other = signed(organization="a", sub="b:c")
    first = service.post("write", body, key=one, Idempotency_Key="k1")
    second = service.post("write", body, key=other, Idempotency_Key="k1")
    assert first.json()["id"] != second.json()["id"]
    assert "idempotency-replayed" not in second.headers


def test_keys_and_tokens_go_side_by_side(service: Running) -> None:
    """A service that believes an issuer takes keys too."""
    key = a_key(service.memory)
    answer = service.post("current", {"session": {"user_id": "bob"}, "key": "x"}, key=key)
    assert answer.status_code == 200


class Issuer:
    """An issuer that hands out its keys over HTTP, and counts how often."""

    def __init__(self) -> None:
        self.asked = 0
        self.keys = jwks()
        self.works = True
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked += 1
                body = json.dumps(issuer.keys).encode()
                self.send_response(200 if issuer.works else 500)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/keys"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.stop()


def test_strangers_cannot_make_us_ask_the_issuer_again_and_again(
    issuer: Issuer, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens that name keys nobody has cost one request to the issuer, not one each; tokens in
    order go on being accepted."""
    monkeypatch.setattr(credentials, "_KEYS_ASKED_AFTER", PATIENCE)
    tokens = Tokens(issuer=ISSUER, audience="incumbent", keys=issuer.address)
    with (
        incumbent.open(store_path, settings=QUICK) as memory,
        Running(memory, credentials=True, tokens=tokens) as service,
    ):
        body = {"key": "a"}
        assert service.post("current", body, key=signed()).status_code == 200
        for number in range(12):
            problem(service.post("current", body, key=signed(kid=f"k{number}")), 401)
        assert issuer.asked == 1
        issuer.works = False
        assert service.post("current", body, key=signed()).status_code == 200


def test_an_issuer_that_does_not_answer_is_not_the_callers_fault(
    issuer: Issuer, store_path: Path
) -> None:
    """Where the keys were never had, callers are told to come back."""
    issuer.works = False
    tokens = Tokens(issuer=ISSUER, audience="incumbent", keys=issuer.address)
    with (
        incumbent.open(store_path, settings=QUICK) as memory,
        Running(memory, credentials=True, tokens=tokens) as service,
    ):
        problem(service.post("current", {"key": "a"}, key=signed()), 503, "Unavailable")


@pytest.mark.parametrize(
    "given",
    [
        {"algorithms": ("HS256",)},
        {"algorithms": ("none",)},
        {"keys": "http://login.example.com/keys"},
        {"keys": "http://localhost:1@evil.example.com/keys"},
        {"issuer": ""},
        {"audience": ""},
    ],
    ids=str,
)
def test_a_careless_setting_is_refused(given: dict[str, Any]) -> None:
    """Shared secrets, unsigned tokens, key sets in the clear, and tokens for anybody."""
    said: dict[str, Any] = {"issuer": ISSUER, "audience": "incumbent", "keys": "keys.json", **given}
    with pytest.raises(incumbent.InvalidInput):
        Tokens(**said)
