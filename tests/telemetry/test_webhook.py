"""Webhooks: signed, in order, at least once, through everything that a receiver may do."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import incumbent
from incumbent.audit.position import AuditPosition, PositionFile, check_position
from incumbent.audit.webhook import Sender, Webhook, WebhookAnswer, is_signed, signature
from incumbent.clock import system_clock
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.telemetry.receiver import (
    SECRET,
    Behaviour,
    Receiver,
    certificate,
    garbage,
    hang_up,
    silence,
    status,
    trickle,
)

NOW = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[incumbent.Memory]:
    with incumbent.open(":memory:", settings=QUICK) as memory:
        yield memory


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(user_id="alice", organization="acme")


@dataclass
class Sending:
    """Sends the log of acme in pages of a few entries, from where it stopped."""

    memory: incumbent.Memory
    file: PositionFile
    told: list[str] = field(default_factory=list)

    def send(
        self,
        url: str,
        *,
        size: int = 3,
        timeout: float = PATIENCE,
        values: bool = False,
        **options: Any,
    ) -> Sender:
        kept = self.file.read()
        entries = list(self.memory.audit("acme", after=kept.seq if kept else 0, values=values))
        pages = [entries[start : start + size] for start in range(0, len(entries), size)]
        sender = Sender(
            Webhook(url, SECRET, timeout),
            self.file,
            system_clock,
            **{"first_pause": 0.01, "tell": self.told.append, **options},
        )
        sender.send(pages)
        return sender


@pytest.fixture
def sending(memory: incumbent.Memory, tmp_path: Path) -> Sending:
    return Sending(memory, PositionFile(tmp_path / "audit.state"))


def write(alice: incumbent.Session, count: int) -> None:
    alice.write_many({"key": f"k{number}", "value": number} for number in range(count))


def test_entries_arrive_in_order_and_signed(alice: incumbent.Session, sending: Sending) -> None:
    """Batches in order, each with a signature that a receiver can check, and the position kept."""
    write(alice, 8)
    with Receiver() as receiver:
        assert sending.send(receiver.url).delivered == 8
    assert [len(batch) for batch in receiver.batches] == [3, 3, 2]
    assert receiver.seqs == [1, 2, 3, 4, 5, 6, 7, 8]
    assert receiver.forged == 0
    assert json.loads(receiver.bodies[0])["organization"] == "acme"
    kept = sending.file.read()
    assert kept is not None
    assert (kept.organization, kept.seq) == ("acme", 8)


TROUBLES: list[Behaviour] = [
    status(500),
    status(503),
    status(400),
    status(404),
    status(429, Retry_After="0"),
    status(302, Location="http://127.0.0.1:9/"),
    hang_up,
    garbage,
]


def test_whatever_the_receiver_does_nothing_is_skipped(
    alice: incumbent.Session, sending: Sending
) -> None:
    """Errors, redirects, closed connections and nonsense are tried again until it is taken."""
    write(alice, 9)
    with Receiver(*TROUBLES) as receiver:
        sending.send(receiver.url)
    assert receiver.refused == len(TROUBLES)
    assert receiver.seqs == list(range(1, 10))
    assert len(sending.told) == len(TROUBLES)
    assert all("did not take entries 1 to 3" in line for line in sending.told)
    assert "of=acme" not in "".join(sending.told), "an address may hold a token"


@pytest.mark.parametrize("behaviour", [silence, trickle], ids=lambda one: one.__name__)
def test_a_receiver_that_never_finishes_is_given_up_on(
    alice: incumbent.Session, sending: Sending, behaviour: Behaviour
) -> None:
    """An attempt takes so long at most, however the time is spent."""
    write(alice, 2)
    with Receiver(behaviour) as receiver:
        sending.send(receiver.url, timeout=0.4)
    assert receiver.seqs == [1, 2]
    assert len(sending.told) == 1


def test_a_receiver_is_believed_only_with_a_certificate(
    alice: incumbent.Session, sending: Sending, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TLS a certificate that nobody vouches for gets no entry; one that is trusted does."""
    write(alice, 2)
    files = certificate(tmp_path)
    with Receiver(certificate=files) as receiver:
        with pytest.raises(incumbent.NotDelivered, match="SSLCertVerificationError"):
            sending.send(receiver.url, retry_for=0)
        assert receiver.seqs == []
        monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
        sending.send(receiver.url)
        assert receiver.seqs == [1, 2]


def test_nobody_listening_is_an_error_after_a_while(
    alice: incumbent.Session, sending: Sending
) -> None:
    """Where trying has a limit, it ends with an error, and the position stays before the batch."""
    write(alice, 4)
    with Receiver() as receiver:
        url = receiver.url
    with pytest.raises(incumbent.NotDelivered, match="entries 1 to 3"):
        sending.send(url, retry_for=0.2)
    assert sending.file.read() is None
    with Receiver(status(500), status(500), status(500)) as receiver:
        with pytest.raises(incumbent.NotDelivered, match="status 500"):
            sending.send(receiver.url, retry_for=0)
        sending.send(receiver.url)
        assert receiver.seqs == [1, 2, 3, 4]


def test_large_entries_go_in_several_requests(alice: incumbent.Session, sending: Sending) -> None:
    """A batch of large values is cut into requests of a megabyte, and nothing of it is lost."""
    alice.write_many({"key": f"k{number}", "value": "x" * 400_000} for number in range(5))
    alice.write("k0", "y" * 900_000)
    with Receiver() as receiver:
        sending.send(receiver.url, size=100, values=True)
    assert [len(batch) for batch in receiver.batches] == [2, 2, 1, 1]
    assert receiver.seqs == [1, 2, 3, 4, 5, 6]
    assert max(map(len, receiver.bodies)) < 1_000_000


def test_stopping_ends_the_waiting(alice: incumbent.Session, sending: Sending) -> None:
    """Who is told to stop does not wait out a pause, and keeps the position."""
    write(alice, 2)
    stop = Event()
    stop.set()
    with Receiver(status(503, Retry_After="600")) as receiver:
        assert sending.send(receiver.url, stop=stop).delivered == 0
    assert sending.file.read() is None


def test_pauses_grow_and_a_longer_one_is_granted(
    alice: incumbent.Session, sending: Sending
) -> None:
    """Each pause is twice as long, with some chance in it; Retry-After makes it longer."""
    write(alice, 1)
    script = [status(500)] * 3 + [status(503, Retry_After="1")]
    with Receiver(*script) as receiver:
        sending.send(receiver.url, chance=lambda: 1.0)
    pauses = [line.rsplit(" in ", 1)[1] for line in sending.told]
    assert pauses == ["0.0 s", "0.0 s", "0.0 s", "1.0 s"]
    sender = Sender(Webhook("http://localhost/", SECRET), sending.file, system_clock)
    bounds = [(0.25, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 4.0)]
    for attempt, (least, most) in enumerate(bounds):
        found = {sender._pause(attempt, _refused()) for _ in range(50)}
        assert least <= min(found) < max(found) <= most
    assert sender._pause(1000, _refused()) <= 60


def _refused() -> WebhookAnswer:
    return WebhookAnswer(500)


def test_the_next_sender_goes_on_where_the_last_stopped(
    alice: incumbent.Session, sending: Sending
) -> None:
    """What was taken is not sent again, and what came since is."""
    write(alice, 5)
    with Receiver() as receiver:
        sending.send(receiver.url)
        write(alice, 3)
        sending.send(receiver.url)
    assert receiver.seqs == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_batch_whose_position_was_not_kept_comes_again(
    alice: incumbent.Session, sending: Sending
) -> None:
    """At least once: who dies between the answer and the file sends the same entries again."""
    write(alice, 3)

    class Dying(PositionFile):
        def write(self, position: AuditPosition) -> None:
            raise KeyboardInterrupt

    with Receiver() as receiver:
        whole, sending.file = sending.file, Dying(sending.file.path)
        with pytest.raises(KeyboardInterrupt):
            sending.send(receiver.url)
        sending.file = whole
        sending.send(receiver.url)
    assert receiver.seqs == [1, 2, 3, 1, 2, 3]
    ids = [entry["id"] for batch in receiver.batches for entry in batch]
    assert ids[:3] == ids[3:]


class TestSignature:
    body = b'{"entries":[]}'

    def test_a_signature_is_checked_with_the_secret_the_body_and_the_time(self) -> None:
        """It holds for this body, this secret, and a few minutes."""
        header = signature(SECRET, self.body, NOW)
        assert is_signed(SECRET, self.body, header, NOW)
        assert is_signed(SECRET, self.body, header, NOW + timedelta(minutes=4))
        assert not is_signed(SECRET, self.body, header, NOW + timedelta(minutes=6))
        assert not is_signed(SECRET, self.body, header, NOW - timedelta(minutes=6))
        assert not is_signed(SECRET, self.body + b" ", header, NOW)
        assert not is_signed(SECRET + b"!", self.body, header, NOW)

    def test_the_time_is_signed_too(self) -> None:
        """Nobody can keep a delivery and date it anew."""
        old = signature(SECRET, self.body, NOW - timedelta(days=1))
        dated = f"t={int(NOW.timestamp())},{old.partition(',')[2]}"
        assert not is_signed(SECRET, self.body, dated, NOW)

    @pytest.mark.parametrize(
        "header", ["", "v1=", "t=,v1=", "t=x,v1=0", "t=1767603600", "ünï", ","]
    )
    def test_nonsense_is_no_signature(self, header: str) -> None:
        """A header of another form is refused, and raises nothing."""
        assert not is_signed(SECRET, self.body, header, NOW)

    def test_it_is_plain_hmac(self) -> None:
        """A receiver in any language can check it by the documented recipe."""
        seconds = int(NOW.timestamp())
        mac = hmac.new(SECRET, f"{seconds}.".encode() + self.body, hashlib.sha256).hexdigest()
        assert signature(SECRET, self.body, NOW) == f"t={seconds},v1={mac}"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/audit",
        "ftp://example.com/",
        "http://",
        "https:///audit",
        "http://user:pass@example.com/",
        "http://example.com:port/",
        "http://example.com/a b",
        "http://example.com/\r\nX: y",
        "http://[::1/",
    ],
)
def test_an_address_that_cannot_be_posted_to_is_refused(url: str) -> None:
    """Before anything is sent, and without repeating the address, which may hold a password."""
    with pytest.raises(incumbent.InvalidInput, match="webhook") as refused:
        Webhook(url, SECRET)
    assert "pass@" not in str(refused.value)


def test_a_short_secret_is_refused() -> None:
    """A secret that could be guessed is none."""
    with pytest.raises(incumbent.InvalidInput, match="16 bytes"):
        Webhook("https://example.com/", b"short")
    assert "secret of" not in repr(Webhook("https://example.com/", SECRET))


class TestPosition:
    def test_a_file_that_holds_none_is_refused(self, tmp_path: Path) -> None:
        """What is in the file is a position, or the file is not ours to replace."""
        for content in ("", "{}", "null", "[1]", '{"format": "incumbent-audit-position"}', "\x00"):
            (tmp_path / "state").write_text(content)
            with pytest.raises(incumbent.InvalidInput, match="holds no position"):
                PositionFile(tmp_path / "state").read()

    def test_a_folder_that_is_missing_is_told(self, tmp_path: Path) -> None:
        """A position that cannot be kept is an error before anything goes out."""
        file = PositionFile(tmp_path / "missing" / "state")
        with pytest.raises(incumbent.InvalidInput, match="cannot write"):
            file.write(AuditPosition("acme", 1, "id"))
        with pytest.raises(incumbent.InvalidInput, match="cannot write"), file.held():
            pass

    def test_two_cannot_send_from_one(self, tmp_path: Path) -> None:
        """A second sender would send things twice and out of order."""
        file = PositionFile(tmp_path / "state")
        with (
            file.held(),
            pytest.raises(incumbent.InvalidInput, match="another process"),
            PositionFile(tmp_path / "state").held(),
        ):
            pass
        with file.held():
            pass

    def test_a_position_of_another_log_is_refused(
        self, memory: incumbent.Memory, alice: incumbent.Session
    ) -> None:
        """A store that was restored, or another organization: going on would skip entries."""
        verdict = alice.write("city", "Bern")
        check_position(memory.store, "acme", AuditPosition("acme", 1, verdict.id))
        check_position(memory.store, "acme", AuditPosition("acme", 0, None))
        wrong: list[Callable[[], AuditPosition]] = [
            lambda: AuditPosition("globex", 1, verdict.id),
            lambda: AuditPosition("acme", 1, "another"),
            lambda: AuditPosition("acme", 2, verdict.id),
        ]
        for position in wrong:
            with pytest.raises(incumbent.InvalidInput):
                check_position(memory.store, "acme", position())
