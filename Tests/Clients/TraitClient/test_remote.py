"""Loads preferences from working servers, once and repeatedly."""

import json
import plistlib
import stat

import pytest

from client import JSON, always, load, run
from server import Server, response


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


def test_a_copy_of_another_url_is_not_used(tmp_path):
    copy = tmp_path / "copy"
    with always(response(body=JSON)) as server:
        load(server.url + "/one", copy=copy)
        url = server.url
    assert load(url + "/two", copy=copy, retries=0)["error"] == "unreachable"


def test_values_are_set_if_copy_is_unwritable():
    with always(response(body=JSON)) as server:
        outcome = load(server.url, copy="/proc/nowhere/copy")
    assert outcome["origin"] == "server" and outcome["values"]["colour"] == "red"
    assert "/proc/nowhere/copy" in outcome["failure"]


def test_refreshing_goes_on_until_it_is_cancelled():
    count = 0

    def answer(request, connection):
        nonlocal count
        count += 1
        return response(body=json.dumps({"count": count}).encode())

    with Server(answer) as server:
        outcomes = run(server.url, every=0.2, loads=4)
    assert len(outcomes) == 4, "nothing is told afterwards"
    counts = [int(one["values"]["count"]) for one in outcomes]
    assert counts == sorted(set(counts))


def test_refreshing_survives_failures():
    answers = [response("404 Not Found"), response(body=JSON)]
    with Server(lambda request, connection: answers.pop(0) if answers else None) as server:
        outcomes = run(server.url, every=0.2, loads=3, retries=0)
    assert outcomes[0]["error"] == "status" and outcomes[1]["origin"] == "server"
    assert (outcomes[2]["origin"], outcomes[2]["failure"]) == ("copy", "unreachable")
