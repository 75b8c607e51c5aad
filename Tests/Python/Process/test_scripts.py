"""How `Scripts/test` treats failed and skipped tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from prefs_testing import LIMIT, ROOT

LIBRARY = ROOT / "Scripts" / "lib"

# Tests that fail at first, or always, and a report of each run, as a runner writes it.
STEPS = r"""
set -euo pipefail
root=$PWD
superuser=()
say() { printf '==> %s\n' "$*" >&2; }
source "$LIBRARY/stages.sh"
steps=$PWD/folders
mkdir "$steps"
tolerated_flaky=${TOLERATED:-$tolerated_flaky}
run_fake() {
  cp -- "$2" "$1"
  exit "$3"
}
again_fake() {
  printf '%s\n' "$2" >>again
  cp -- "${2##*[./]}.xml" "$1"
  ! grep -q '<failure' "$1"
}
run_steps() {
  while read -r name report code; do test_stage "$name" 60 fake "$report" "$code" || true; done <"$1"
}
run_steps steps
finish_stages
"""


def case(name: str, result: str = "", message: str = "") -> str:
  module, _, test = name.rpartition(".")
  inside = f"<{result} message={quoteattr(message)}/>" if result else ""
  return f"<testcase classname={quoteattr(module)} name={quoteattr(test)}>{inside}</testcase>"


def sourced(script: str) -> str:
  """What a script prints that uses the library."""
  begun = "set -euo pipefail; superuser=(); say() { :; }; source \"$LIBRARY/stages.sh\"; stage_log=$PWD/log\n"
  return subprocess.run(
    ["bash", "-c", begun + script], timeout=LIMIT, check=True, capture_output=True, text=True,
    env={"PATH": "/usr/bin:/bin", "LIBRARY": str(LIBRARY)}).stdout


class Run:
  """A run of steps whose reports are made up."""

  def __init__(self, folder: Path) -> None:
    self.folder = folder
    self.steps: list[str] = []

  def report(self, name: str, *cases: str) -> None:
    (self.folder / name).write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")

  def step(self, name: str, *cases: str, code: int = 1) -> None:
    self.report(f"{name}.report", *cases)
    self.steps.append(f"{name} {name}.report {code}\n")

  def fails_at_first(self, *names: str) -> list[str]:
    """The results of tests that pass when they run again."""
    for name in names:
      self.report(f"{name.rpartition('.')[2]}.xml", case(name))
    return [case(name, "failure", "one\ntwo") for name in names]

  def fails_always(self, name: str) -> str:
    failed = case(name, "failure", "wrong")
    self.report(f"{name.rpartition('.')[2]}.xml", failed)
    return failed

  def end(self, **environment: str) -> tuple[int, list[str], str]:
    """The exit code, the lines from the closing one on, and what came before them."""
    (self.folder / "steps").write_text("".join(self.steps))
    ended = subprocess.run(
      ["bash", "-c", STEPS], cwd=self.folder, timeout=LIMIT, capture_output=True, text=True,
      env={"PATH": "/usr/bin:/bin", "LIBRARY": str(LIBRARY), "TMPDIR": str(self.folder)} | environment)
    lines = ended.stdout.splitlines()
    closing = next(number for number, line in enumerate(lines) if line.startswith("steps: "))
    return ended.returncode, lines[closing:], ended.stderr

  @property
  def again(self) -> list[str]:
    path = self.folder / "again"
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def run(tmp_path) -> Run:
  return Run(tmp_path)


def test_passing_alone_is_flaky(run):
  run.step("first", case("M.good"), *run.fails_at_first("M.Suite.bad()", "M.free()"))
  run.step("second", case("M.good"), code=0)
  code, lines, _ = run.end(TOLERATED="2")
  assert (code, lines) == (0, [
    "steps: 2 passed, 0 failed", "flaky: first: M.Suite/bad(): one", "flaky: first: M.free(): one"])
  assert run.again == ["M.Suite/bad()", "M.free()"]


def test_two_flaky_ones_are_too_many(run):
  run.step("first", *run.fails_at_first("M.a"))
  run.step("second", *run.fails_at_first("M.b"))
  code, lines, _ = run.end()
  assert code == 1 and lines[0] == "steps: 0 passed, 2 failed"
  assert [line.startswith("flaky: ") for line in lines[1:3]] == [True] * 2


def test_strict_runs_tolerate_no_flaky_test(run):
  run.step("first", *run.fails_at_first("M.a"))
  assert run.end(TOLERATED="0")[:2] == (1, [
    "steps: 0 passed, 1 failed", "flaky: first: M.a: one",
    "flaky tests: 1, and no more than 0 may be"])


def test_failing_again_fails(run):
  run.step("first", *run.fails_at_first("M.a"), run.fails_always("M.b"))
  code, lines, _ = run.end()
  assert code == 1 and lines[:2] == ["steps: 0 passed, 1 failed", "flaky: first: M.a: one"]
  assert lines[2].startswith("first: ")


def test_missing_the_second_time_fails(run):
  run.step("first", *run.fails_at_first("M.a"))
  run.report("a.xml")
  assert run.end()[0] == 1 and run.again == ["M.a"]


def test_many_failures_are_not_flaky(run):
  run.step("first", *run.fails_at_first(*(f"M.t{number}" for number in range(11))))
  assert run.end()[0] == 1 and run.again == []


def test_a_run_that_broke_off_is_not_repeated(run):
  run.step("first", *run.fails_at_first("M.a"))
  (run.folder / "first.report").write_text("<testsuites>")
  assert run.end()[0] == 1 and run.again == []


def test_runner_with_other_errors_is_not_repeated(run):
  run.step("first", *run.fails_at_first("M.a"), code=2)
  assert run.end()[0] == 1 and run.again == []


def test_skipped_tests_are_listed_once_by_need(run):
  cases = [case("M.a", "skipped", "needs tracing: none"), case("M.b", "skipped", "needs a desk"),
           case("M.c", "skipped", "needs tracing: none")]
  run.step("first", *cases, code=0)
  run.step("second", cases[0], code=0)
  code, lines, before = run.end()
  assert (code, lines) == (0, ["steps: 2 passed, 0 failed"])
  assert ("3 tests skipped:\n  needs a desk\n    M.b\n"
          "  needs tracing: none\n    M.a\n    M.c\n") in before


def test_a_test_in_python_has_its_file(run):
  run.step("first", '<testcase classname="Tests.test_x" file="Tests/test_x.py" name="test_y[a]">'
           '<failure message="m"/></testcase>')
  run.report("py::test_y[a].xml", case("M.a"))
  assert run.end()[1][1] == "flaky: first: Tests/test_x.py::test_y[a]: m"


LANES = r"""
set -euo pipefail
root=$PWD superuser=()
say() { printf '==> %s\n' "$*"; }
source "$LIBRARY/stages.sh"
steps=$PWD/folders
mkdir "$steps"
await() { until [ -e "$1" ]; do sleep 0.05; done; }
"""


def start_lanes(folder: Path, script: str) -> subprocess.Popen:
  """Runs the lanes `one` and `two`, which a script defines."""
  return subprocess.Popen(
    ["bash", "-c", f"{LANES}{script}\nlanes one two\nfinish_stages"], cwd=folder, text=True,
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, env={
      "PATH": "/usr/bin:/bin", "LIBRARY": str(LIBRARY), "TMPDIR": str(folder)})


def ran_lanes(folder: Path, script: str) -> tuple[int, str]:
  with start_lanes(folder, script) as process:
    try:
      return process.wait(LIMIT), process.stdout.read()
    finally:
      process.kill()


def test_lanes_run_together_and_show_one_step_at_a_time(tmp_path):
  code, shown = ran_lanes(tmp_path, """
    first() { echo 1; >a; await b; echo 2; }
    second() { await a; echo 3; >b; }
    one() { stage first 60 first; }
    two() { stage second 60 second; }""")
  assert code == 0 and "steps: 2 passed, 0 failed" in shown
  assert "\n1\n2\n==> first: ok" in shown and "\n3\n==> second: ok" in shown
  assert [shown.count(f"\n{line}\n") for line in "123"] == [1, 1, 1]


def test_failed_tests_run_again_when_no_lane_runs(tmp_path):
  (tmp_path / "report").write_text(f"<testsuites>{case('M.a', 'failure', 'm')}</testsuites>")
  code, shown = ran_lanes(tmp_path, """
    run_fake() { cp report "$1"; >failed; exit 1; }
    again_fake() { echo >>again; [ -e ended ]; sed s/failure/passed/ report >"$1"; }
    last() { await failed; sleep 0.5; >ended; }
    one() { test_stage fake 60 fake || true; }
    two() { stage last 60 last; }""")
  assert (code, shown.splitlines()[-2:]) == (0, ["steps: 2 passed, 0 failed", "flaky: fake: M.a: m"])
  assert (tmp_path / "again").read_text() == "\n"


def test_a_lane_that_breaks_off_is_a_failed_step(tmp_path):
  code, shown = ran_lanes(tmp_path, """
    one() { stage good 60 true; false; stage never 60 true; }
    two() { stage good 60 true; }""")
  assert code == 1 and "steps: 2 passed, 1 failed" in shown and "never" not in shown
  assert "one: FAILED (the lane broke off)" in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_all_lanes(tmp_path, number):
  with start_lanes(tmp_path, """
    long() { setsid sh -c 'echo $$ >"$1.new"; mv "$1.new" "$1"; sleep 1000; :' sh "$1"; }
    one() { stage one 60 long first; }
    two() { stage two 60 long second; }""") as process:
    try:
      started = [tmp_path / "first", tmp_path / "second"]
      wait_until(lambda: all(path.exists() for path in started))
      # As from a terminal, to the whole process group.
      os.killpg(process.pid, number)
      assert process.wait(LIMIT) == 130
      wait_until(lambda: not any(Path("/proc", path.read_text().strip()).exists() for path in started))
    finally:
      process.kill()


def wait_until(condition) -> None:
  deadline = time.monotonic() + LIMIT
  while not condition():
    assert time.monotonic() < deadline
    time.sleep(0.02)


# Of 5 s: how much the log grew; the processor time in all, of all processes, and of the step.
@pytest.mark.parametrize("numbers, counted", [
  ("0 1000 500 500", 5000000), ("0 1000 1000 1000", 5000000), ("0 1000 1000 500", 2500000),
  ("0 1000 750 0", 1250000), ("0 1000 1000 0", 500000), ("0 0 0 0", 5000000), ("0 1000 400 600", 5000000)])
def test_time_that_others_use_does_not_count(numbers, counted):
  assert sourced(f"count_time 5000000 {numbers}; echo $counted") == f"{counted}\n"


@pytest.mark.parametrize("numbers, stands", [
  ("0 1000 1000 0", True), ("0 1000 1000 4", True), ("1 1000 1000 0", False), ("0 1000 1000 400", False)])
def test_a_build_goes_on_while_it_prints_or_computes(numbers, stands):
  found = sourced(f"nproc() {{ echo 2; }}; limit=300; count_standstill 5 {numbers}; echo $counted")
  assert found == ("5\n" if stands else "-300\n")


@pytest.mark.parametrize("kind", ["time", "standstill"])
def test_hanging_test_is_ended(tmp_path, kind):
  script = f"cd {tmp_path}; stage_log=$PWD/log; interval=0.2; run_limited {kind} 1 sleep 1000 || echo $outcome"
  assert sourced(script) == f"FAILED (more than 1 s of {kind})\n"


def test_the_time_of_a_step_has_its_descendants(tmp_path):
  busy = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo >done; sleep 1000; :'"
  script = (f"cd {tmp_path}; stage_log=/dev/null; {busy} & running=$!; until [ -e done ]; do sleep 0.1; done; "
            "read -ra now < <(look_at_running); end_below $$; "
            "((now[4] > 0 && now[3] > now[4])) && echo ok")
  assert sourced(script) == "ok\n"


# A machine without mandoc and zsh, for somebody who is not the superuser, and whom sudo would ask for a password.
WITHOUT = """
source "$LIBRARY/packages.sh"
fail() { echo "$*"; exit 1; }
say() { echo "$*"; }
id() { echo 1000; }
sudo() { return 1; }
package_manager() { echo apt-get; }
is_present() { [[ $1 != mandoc && $1 != zsh ]]; }
"""


def test_a_package_that_only_the_superuser_can_install_is_named_once():
  told = sourced(WITHOUT + "find_lacking git mandoc zsh; echo ${lacking[*]}; lacking_words").splitlines()
  assert told == [
    "Missing: mandoc zsh. What needs them is skipped.",
    "As root, run: env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends mandoc zsh",
    "mandoc zsh", "mandoc mandoc", "zsh zsh"]


def test_what_is_there_is_not_lacking():
  assert sourced(WITHOUT + "find_lacking git tmux; echo ${#lacking[@]}") == "0\n"


@pytest.mark.parametrize("lacking, ended", [("", "failed"), ("absent-program", "skipped"), ("absent", "failed")])
def test_a_test_that_fails_without_a_missing_program_is_skipped(tmp_path, lacking, ended):
  (tmp_path / "test_it.py").write_text(
    "import subprocess\ndef test_it():\n  subprocess.run(['absent-program'])\n")
  ran = subprocess.run(
    [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "lacking", "--rootdir", tmp_path, tmp_path],
    capture_output=True, text=True, timeout=LIMIT, env={
      "PATH": "/usr/bin:/bin", "LACKING": lacking, "PYTHONPATH": str(ROOT / "Tests" / "Python" / "Process")})
  assert f"1 {ended}" in ran.stdout, ran.stdout
