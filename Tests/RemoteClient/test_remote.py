"""Loads preferences from servers that answer well, badly, slowly, or without end."""

import json
import os
import plistlib
import stat
import subprocess
import time

import pytest

from server import Server, response

TOOL = os.environ["REMOTE_TOOL"]
JSON = b'{"colour": "red", "size": 3, "on": true}'


def run(url, **options):
    """What the tool prints, a dictionary for each load."""
    arguments = [f"{name}={value}" for name, value in options.items()]
    done = subprocess.run(
        [TOOL, url, *arguments], capture_output=True, check=True, timeout=120, text=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def load(url, **options):
    (outcome,) = run(url, **options)
    return outcome


def always(answer):
    return Server(lambda request, connection: answer)


def test_json_is_merged():
    with always(response(body=JSON)) as server:
        outcome = load(server.url)
    assert outcome["origin"] == "server"
    assert outcome["values"] == {
        "colour": "red", "size": "3", "on": "true", "local": "kept",
    }


@pytest.mark.parametrize("form", [plistlib.FMT_XML, plistlib.FMT_BINARY])
def test_property_lists_are_merged(form):
    body = plistlib.dumps({"colour": "red", "list": [1]}, fmt=form)
    with always(response(body=body)) as server:
        outcome = load(server.url, format="plist")
    assert outcome["values"]["colour"] == "red" and outcome["values"]["list"] == "[1]"


@pytest.mark.parametrize("spelling", ["await", "handler"])
@pytest.mark.parametrize("form", ["json", "plist", "any"])
def test_the_spellings_on_preferences(spelling, form):
    body = plistlib.dumps({"colour": "red"}) if form == "plist" else JSON
    with always(response(body=body)) as server:
        outcome = load(server.url, spelling=spelling, format=form)
    assert outcome["origin"] == "server" and outcome["values"]["colour"] == "red"


@pytest.mark.parametrize(
    "body, error",
    [
        (b"", "malformed"),
        (b"\x00\xff garbage", "malformed"),
        (b"{", "malformed"),
        (b"[" * 100_000, "malformed"),
        (b"[1]", "notADictionary"),
        (b'{"size": 3}', "invalid"),
    ],
)
def test_garbage_sets_nothing(body, error):
    with always(response(body=body)) as server:
        outcome = load(server.url, require="colour")
        assert len(server.requests) == 1, "garbage is not asked for again"
    assert outcome["error"] == error
    assert outcome["values"] == {"colour": "local", "local": "kept"}


@pytest.mark.parametrize(
    "body",
    [
        b"<plist>" + b"<array>" * 100_000,
        b"<plist>" + b"<dict><key>a</key>" * 100_000,
        b"bplist00" + b"\xff" * 100,
        b"<!DOCTYPE plist [<!ENTITY a 'b'>]><plist>&a;</plist>",
    ],
)
def test_garbage_instead_of_a_property_list(body):
    with always(response(body=body)) as server:
        outcome = load(server.url, format="plist", limit=1 << 22)
    assert outcome["error"] in ("malformed", "notADictionary")


def test_what_has_not_changed_is_not_sent_again(tmp_path):
    def answer(request, connection):
        if request.headers.get("if-none-match") == '"1"':
            return b"HTTP/1.1 304 Not Modified\r\n\r\n"
        return response(body=JSON, ETag='"1"', Last_Modified="Sat, 21 Nov 2026 10:00:00 GMT")

    with Server(answer) as server:
        first, second = run(server.url, times=2)
        third = load(server.url, copy=tmp_path / "copy")
        fourth = load(server.url, copy=tmp_path / "copy")
        conditions = [request.headers.get("if-modified-since") for request in server.requests]
    assert [one["origin"] for one in (first, second, third, fourth)] == [
        "server", "unchanged", "server", "unchanged",
    ]
    assert fourth["values"]["colour"] == "red", "the values are those of the copy"
    assert conditions == [None, "Sat, 21 Nov 2026 10:00:00 GMT"] * 2


def test_an_offline_start_has_the_last_good_copy(tmp_path):
    copy = tmp_path / "copy"
    with always(response(body=JSON)) as server:
        load(server.url, copy=copy)
        url = server.url
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    outcome = load(url, copy=copy, retries=0)
    assert (outcome["origin"], outcome["failure"]) == ("copy", "unreachable")
    assert outcome["values"]["colour"] == "red"
    assert load(url, copy=copy, retries=0, require="missing")["error"] == "unreachable"


def test_bad_answers_leave_the_copy_alone(tmp_path):
    copy = tmp_path / "copy"
    answers = [response(body=JSON), response(body=b"garbage"), response("404 Not Found")]
    with Server(lambda request, connection: answers.pop(0)) as server:
        load(server.url, copy=copy)
        good = copy.read_bytes()
        outcomes = [load(server.url, copy=copy) for _ in range(2)]
    assert [one["failure"] for one in outcomes] == ["malformed", "status"]
    assert all(one["values"]["colour"] == "red" for one in outcomes)
    assert copy.read_bytes() == good


@pytest.mark.parametrize("damage", [b"", b"garbage", b"bplist00"])
def test_a_damaged_copy_is_loaded_anew(tmp_path, damage):
    copy = tmp_path / "copy"
    copy.write_bytes(damage)
    with always(response(body=JSON)) as server:
        assert load(server.url, copy=copy)["origin"] == "server"
    assert len(copy.read_bytes()) > len(JSON)


def test_a_copy_of_another_url_is_not_used(tmp_path):
    copy = tmp_path / "copy"
    with always(response(body=JSON)) as server:
        load(server.url + "/one", copy=copy)
        url = server.url
    assert load(url + "/two", copy=copy, retries=0)["error"] == "unreachable"


def test_values_are_set_although_the_copy_cannot_be_written():
    with always(response(body=JSON)) as server:
        outcome = load(server.url, copy="/proc/nowhere/copy")
    assert outcome["origin"] == "server" and outcome["values"]["colour"] == "red"
    assert "/proc/nowhere/copy" in outcome["failure"]


@pytest.mark.parametrize("status", ["503 Service Unavailable", "429 Too Many Requests"])
def test_what_may_pass_is_tried_again(status):
    answers = [response(status), response(status), response(body=JSON)]
    with Server(lambda request, connection: answers.pop(0)) as server:
        assert load(server.url)["origin"] == "server"
        assert len(server.requests) == 3


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found"])
def test_what_stays_is_not_tried_again(status):
    with always(response(status, body=JSON)) as server:
        outcome = load(server.url)
        assert outcome["error"] == "status" and status[:3] in outcome["message"]
        assert len(server.requests) == 1


def test_trying_again_is_bounded():
    with always(response("500 Internal Server Error")) as server:
        assert load(server.url, retries=3)["error"] == "status"
        assert len(server.requests) == 4


def test_a_server_may_ask_to_wait():
    answers = [response("503 Service Unavailable", Retry_After="1"), response(body=JSON)]
    begin = time.monotonic()
    with Server(lambda request, connection: answers.pop(0)) as server:
        assert load(server.url)["origin"] == "server"
    assert time.monotonic() - begin > 1
    with always(response("503 Service Unavailable", Retry_After="3600")) as server:
        assert load(server.url)["error"] == "status", "so long nobody waits"
        assert len(server.requests) == 1


def test_an_answer_that_breaks_off_is_tried_again():
    broken = response(body=JSON)[:-10]
    answers = [broken, response(body=JSON)]
    with Server(lambda request, connection: answers.pop(0)) as server:
        assert load(server.url)["values"]["colour"] == "red"
    with always(broken) as server:
        outcome = load(server.url, retries=1)
        assert outcome["error"] == "unreachable" and len(server.requests) == 2
    assert outcome["values"]["colour"] == "local"


def test_no_server():
    with always(b"") as server:
        url = server.url
    assert load(url)["error"] == "unreachable"
    assert load("http://no-such-host.invalid", retries=0)["error"] == "unreachable"


@pytest.mark.parametrize("part", [b"", b"HTTP/1.1 200 OK\r\n", response(body=JSON)[:-10]])
def test_a_silent_server_costs_no_more_than_the_timeout(part):
    def answer(request, connection):
        connection.sendall(part)
        server.ending.wait(60)

    begin = time.monotonic()
    with Server(answer) as server:
        assert load(server.url, timeout=1)["error"] == "timedOut"
        assert time.monotonic() - begin < 30


def test_a_server_that_drips_costs_no_more_than_the_timeout():
    def answer(request, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not server.ending.wait(0.05):
            connection.sendall(b" ")

    begin = time.monotonic()
    with Server(answer) as server:
        assert load(server.url, timeout=1)["error"] == "timedOut"
        assert time.monotonic() - begin < 30


def test_redirections_are_followed():
    def answer(request, connection):
        if request.path == "/":
            return response("302 Found", Location="/other?x=1")
        return response(body=JSON)

    with Server(answer) as server:
        assert load(server.url)["values"]["colour"] == "red"
        assert [request.path for request in server.requests] == ["/", "/other?x=1"]


def test_redirections_end():
    with always(response("301 Moved Permanently", Location="/")) as server:
        assert load(server.url)["error"] == "refused"
        assert len(server.requests) == 6


def test_another_server_gets_no_secrets():
    with always(response(body=JSON)) as other:
        with always(response("307 Temporary Redirect", Location=other.url)) as server:
            load(server.url, authorization="secret")
            assert server.requests[0].headers["authorization"] == "secret"
        assert "authorization" not in other.requests[0].headers


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/", "//", ""])
def test_redirections_to_elsewhere_are_refused(location):
    with always(response("302 Found", Location=location)) as server:
        assert "error" in load(server.url)
        assert len(server.requests) <= 6


def test_plain_http_is_refused_unless_asked_for():
    with always(response(body=JSON)) as server:
        assert load(server.url, plain="no")["error"] == "refused"
        assert server.requests == []


@pytest.mark.parametrize("url", ["", "no url", "file:///etc/passwd", "http://", "/a"])
def test_what_is_no_url(url):
    assert load(url)["error"] == "invalidURL"


def endless(connection, head):
    """Sends a GiB, unless the client goes away before."""
    connection.sendall(head)
    part = b"x" * 65536
    if head.endswith(b"chunked\r\n\r\n"):
        part = b"10000\r\n" + part + b"\r\n"
    for _ in range((1 << 30) // 65536):
        connection.sendall(part)


OVERSIZED = {
    "honest": b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n",
    "lying": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "until the end": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    "header": b"HTTP/1.1 200 OK\r\nX: ",
    "chunk's extension": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=",
    "trailer": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
}


@pytest.mark.parametrize("head", OVERSIZED.values(), ids=OVERSIZED.keys())
def test_an_endless_answer_takes_bounded_memory(head):
    def answer(request, connection):
        endless(connection, head)

    with always(response(body=JSON)) as server:
        usual = load(server.url)["peak"]
    with Server(answer) as server:
        outcome = load(server.url, limit=1_000_000, retries=0, timeout=60)
    assert outcome["error"] in ("tooLarge", "unreachable")
    print(f"peak {outcome['peak']} KiB, after a small answer {usual} KiB")
    assert outcome["peak"] - usual < 16_000, "the limit is 1 MB; the rest is buffers and noise"


def test_an_answer_as_long_as_the_limit_is_read():
    body = b'{"colour": "' + b"x" * 1000 + b'"}'
    with always(response(body=body)) as server:
        assert load(server.url, limit=len(body))["origin"] == "server"
        assert load(server.url, limit=len(body) - 1)["error"] == "tooLarge"


def test_refreshing_goes_on_until_it_is_cancelled():
    count = 0

    def answer(request, connection):
        nonlocal count
        count += 1
        return response(body=json.dumps({"count": count}).encode())

    with Server(answer) as server:
        *outcomes, last = run(server.url, **{"every": 0.2, "for": 3})
        assert last == {"cancelled": True}, "nothing is told afterwards"
    counts = [int(one["values"]["count"]) for one in outcomes]
    assert len(counts) >= 2 and counts == sorted(counts)


def test_refreshing_survives_failures():
    answers = [response("404 Not Found"), response(body=JSON)]
    with Server(lambda request, connection: answers.pop(0) if answers else None) as server:
        outcomes = run(server.url, **{"every": 0.2, "for": 3, "retries": 0})
    assert outcomes[0]["error"] == "status" and outcomes[1]["origin"] == "server"
