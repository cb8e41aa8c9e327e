"""A coding agent: paths, log lines, versions and code, all of which stay word for word."""

from __future__ import annotations

from incumbent import Memory, Source
from incumbent.testing import SteppingClock
from tests.context.situations.scene import Scene

LOG_LINE = (
    "2026-01-05T08:14:02.113Z ERROR [worker-3] psycopg.OperationalError: connection to server at "
    '"10.0.3.17", port 5432 failed: FATAL: too many clients already'
)
SNIPPET = "def retry(fn, n=3):\n    for _ in range(n):\n        try:\n            return fn()"
PAGE_LINE = 'render failed: <div class="row"><span>{{ user.name }}</span></div>'
PATTERN = r"^(?P<major>\d+)\.(?P<minor>\d+)(?:-rc\.\d+)?$"


def agent(memory: Memory, clock: SteppingClock) -> list[Scene]:
    """An agent in the middle of an upgrade."""
    dev = memory.session(
        user_id="kai",
        user_name="Kai Brandt",
        authority="engineer",
        organization="orbital",
        task_id="upgrade-pg",
        session_id="pairing",
    )
    dev.write("python_version", "3.11.9", id="f-python-1")
    dev.write("entry_point", "src/orbital/server/__main__.py", id="f-entry")
    dev.write("config_file", r"C:\ProgramData\Orbital\config.toml", id="f-config")
    dev.write("version_pattern", PATTERN, id="f-pattern")
    dev.write("queue_type", "std::map<std::string, std::vector<int>>", id="f-queue")
    dev.write("count_errors_command", "grep -c ERROR app.log | sort -n > /tmp/errors", id="f-shell")
    dev.write("retry_helper", SNIPPET, id="f-snippet")
    dev.write("last_log_line", LOG_LINE, source=Source(ref="log#8812"), id="f-log")
    dev.write("template_error", PAGE_LINE, id="f-page")
    dev.write("db_pool_max", 20, id="f-pool-1")
    dev.write("tracker", "issue #12, https://git.example/orbital/issues/12#note-3", id="f-issue")
    dev.write(
        "flaky_tests",
        ["tests/test_pool.py::test_reconnect[3-5]", "tests/test_queue.py::test_fifo"],
        id="f-flaky",
    )
    dev.write(
        "heuristic.pool",
        "Raising the pool above the server's max_connections makes it worse.",
        source="heuristic",
        id="f-heuristic",
    )
    dev.note("turn_1", "python 3.11.9 here, pool max is 20")
    clock.advance(minutes=50)
    dev.write("python_version", "3.13.1", id="f-python-2")
    dev.write("db_pool_max", 80, id="f-pool-2")
    dev.note("plan", ["raise max_connections", "restart worker-3", "re-run test_reconnect"])
    query = "Why does the database connection fail, and which config file and pool size do we use?"
    says = (LOG_LINE, PAGE_LINE, PATTERN, "3.13.1", "std::map<std::string, std::vector<int>>")
    return [
        Scene("coding-agent", dev.context(query), says=says, dead=("3.11.9", "max: 20", "is 20")),
        Scene(
            "coding-agent-annotated",
            dev.context(query, style="annotated"),
            says=(*says, "ref log#8812"),
            dead=("3.11.9", "max: 20", "is 20"),
        ),
    ]
