# shellcheck shell=bash
# Steps under a time limit, each with a line that says how it went and how long it took.

# shellcheck source=SCRIPTDIR/failures.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/failures.sh"
# shellcheck source=SCRIPTDIR/privileges.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/privileges.sh"
# shellcheck source=SCRIPTDIR/reports.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/reports.sh"

stage_lines=()
failed_stages=0
flaky_stages=0
used=0
running=

# The log of the running step, if a script searches it for failures.
stage_log=/dev/null

descendants() {
  local child
  cat "/proc/$1/task/"*/children 2>/dev/null | tr ' ' '\n' | while read -r child; do
    echo "$child"
    descendants "$child"
  done
}

# Ends all processes of a step at its limit or at an interrupt. Its process group is not enough: SwiftPM starts
# compilers and tests in other groups, and does not pass the signal on.
end_running() {
  local all
  [ -n "$running" ] || return 0
  mapfile -t all < <(descendants "$running")
  kill -KILL "$running" "${all[@]}" 2>/dev/null || true
  # Only the superuser can end processes that run through sudo.
  "${superuser[@]}" kill -KILL "${all[@]}" 2>/dev/null || true
}
trap 'end_running; exit 130' INT TERM HUP

# Waits for the step to end, with a limit in seconds. It runs in the background, because a trap runs during `wait`, but
# only after a command in the foreground.
wait_for_running() {
  timeout "$1" tail --pid="$running" -s 0.2 -f /dev/null &
  wait $!
}

# Runs a function or command: run_limited SECONDS COMMAND... Sets `outcome`, and fails unless that is ok. `set -e` has
# no effect inside, as in any condition.
run_limited() {
  local limit=$1 status=0
  shift
  outcome=ok
  # Job control gives the step its own process group, in which interrupts are not ignored.
  set -m
  (set +m && "$@" 2>&1 | tee -- "$stage_log") </dev/null &
  running=$!
  set +m
  if ! wait_for_running "$limit"; then
    outcome="FAILED (more than $limit s)"
    end_running
  fi
  wait "$running" || status=$?
  running=
  if ((status)) && [ "$outcome" = ok ]; then outcome="FAILED (exit code $status)"; fi
  [ "$outcome" = ok ]
}

# Sets `used` to the processor time of ended commands, in seconds: on a busy machine this says more than the clock.
note_processor_time() {
  local fields
  read -ra fields <"/proc/$$/stat"
  used=$(((fields[15] + fields[16]) / $(getconf CLK_TCK)))
}

# end_stage NAME START: records the outcome of a step, and fails if the step failed.
end_stage() {
  local took=$((SECONDS - $2)) before=$used
  note_processor_time
  if [[ $outcome == FAILED* ]]; then
    failed_stages=$((failed_stages + 1))
    note_failures "$1" "$stage_log"
  fi
  stage_lines+=("$(printf '%6d s %6d s  %-28s %s' "$took" "$((used - before))" "$1" "$outcome")")
  say "$1: $outcome, $took s"
  [[ $outcome != FAILED* ]]
}

# Runs a step: stage NAME SECONDS COMMAND...
stage() {
  local name=$1 limit=$2 start=$SECONDS outcome
  shift 2
  say "$name"
  run_limited "$limit" "$@" || true
  end_stage "$name" "$start"
}

# Runs a step of tests: test_stage NAME SECONDS RUNNER OPTION... `run_RUNNER REPORT OPTION...` runs them and writes a
# report, `again_RUNNER REPORT TEST OPTION...` runs one of them. A test that passes when repeated alone is flaky.
test_stage() {
  local name=$1 limit=$2 runner=$3 start=$SECONDS outcome report
  shift 3
  report=$(mktemp "${TMPDIR:-/tmp}/test-report.XXXXXX")
  say "$name"
  run_limited "$limit" "run_$runner" "$report" "$@" || true
  note_skipped "$report"
  if [ "$outcome" = "FAILED (exit code 1)" ] && all_pass_alone "$name" "$report" "$runner" "$@"; then
    outcome="ok, but flaky"
    flaky_stages=$((flaky_stages + 1))
  fi
  rm -f -- "$report"
  end_stage "$name" "$start"
}

# Prints the result of every step and, at the end, the failures; fails if there are any.
finish_stages() {
  if ((${#flaky[@]} > tolerated_flaky)); then
    failed_stages=$((failed_stages + flaky_stages))
    failures+=("flaky tests: ${#flaky[@]}, and no more than $tolerated_flaky may be")
  fi
  printf '\n' >&2
  printf '%s\n' "${stage_lines[@]}" >&2
  printf '%6d s %6d s  of the processors, in all\n' "$SECONDS" "$used" >&2
  print_skipped >&2
  printf 'steps: %d passed, %d failed\n' \
    $((${#stage_lines[@]} - failed_stages)) "$failed_stages"
  print_flaky
  ((failed_stages)) || return 0
  print_failures
  exit 1
}
