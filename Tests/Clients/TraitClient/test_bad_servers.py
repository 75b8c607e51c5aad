"""Loads preferences from servers that answer badly, or not at all."""

import time

import pytest

from client import JSON, always, load
from server import Server, response


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
def test_a_damaged_copy_is_loaded_again(tmp_path, damage):
    copy = tmp_path / "copy"
    copy.write_bytes(damage)
    with always(response(body=JSON)) as server:
        assert load(server.url, copy=copy)["origin"] == "server"
    assert len(copy.read_bytes()) > len(JSON)


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


def test_redirections_are_followed():
    def answer(request, connection):
        if request.path == "/":
            return response("302 Found", Location="/other?x=1")
        return response(body=JSON)

    with Server(answer) as server:
        assert load(server.url)["values"]["colour"] == "red"
        assert [request.path for request in server.requests] == ["/", "/other?x=1"]


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
