"""Loads preferences from servers that are slow, or send without end."""

import time

import pytest

from client import JSON, always, load
from server import Server, response


def test_trying_again_is_bounded():
    with always(response("500 Internal Server Error")) as server:
        assert load(server.url, retries=3)["error"] == "status"
        assert len(server.requests) == 4


@pytest.mark.parametrize("part", [b"", b"HTTP/1.1 200 OK\r\n", response(body=JSON)[:-10]])
def test_silent_server_ends_at_timeout(part):
    def answer(request, connection):
        connection.sendall(part)
        server.ending.wait(60)

    begin = time.monotonic()
    with Server(answer) as server:
        assert load(server.url, timeout=1)["error"] == "timedOut"
        assert time.monotonic() - begin < 30


def test_dripping_server_ends_at_timeout():
    def answer(request, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not server.ending.wait(0.05):
            connection.sendall(b" ")

    begin = time.monotonic()
    with Server(answer) as server:
        assert load(server.url, timeout=1)["error"] == "timedOut"
        assert time.monotonic() - begin < 30


def test_redirections_end():
    with always(response("301 Moved Permanently", Location="/")) as server:
        assert load(server.url)["error"] == "refused"
        assert len(server.requests) == 6


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


def test_answer_of_maximum_length_is_read():
    body = b'{"colour": "' + b"x" * 1000 + b'"}'
    with always(response(body=body)) as server:
        assert load(server.url, limit=len(body))["origin"] == "server"
        assert load(server.url, limit=len(body) - 1)["error"] == "tooLarge"
