# shellcheck shell=bash
# Steps under a limit, each with a line that says how it went and how long it took.

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

# How often the running step is looked at, in seconds.
interval=5

# Waits for the step to end, or for the next look at it. It runs in the background, because a trap runs during `wait`,
# but only after a command in the foreground.
wait_for_interval() {
  timeout "$interval" tail --pid="$running" -s 0.2 -f /dev/null &
  wait $!
}

# Prints a time in microseconds, the length of the log, and processor time in ticks: what there was, what all processes
# took, and what the step and its descendants took.
look_at_running() {
  # The step may not have begun its log.
  printf '%s %s ' "${EPOCHREALTIME/[.,]/}" "$(stat -L -c %s -- "$stage_log" 2>/dev/null || echo 0)"
  cat /proc/stat /proc/[0-9]*/stat 2>/dev/null | awk -v step="$running" '
    $1 == "cpu" { for (i = 2; i <= 9; i++) all += $i; idle = $5 + $6 }
    /^[0-9]+ \(/ {
      pid = $1
      sub(/.*\) /, "")
      parent[pid] = $2
      used[pid] = $12 + $13 + $14 + $15
    }
    END {
      for (pid in parent) {
        for (above = pid; above in parent && above != step; above = parent[above]) { }
        if (above == step) own += used[pid]
      }
      printf "%d %d %d\n", all, all - idle, own
    }'
}

# Both set `counted` to what an interval counts against the limit of a step: count_KIND TIME LOG ALL BUSY OWN, by how
# much each has grown.

# The time that others left to the step, at least a tenth: on a busy machine, the same work takes longer.
count_time() {
  local time=$1 total=$3 others=$(($4 - $5))
  ((others > 0)) || others=0
  ((total > others)) || total=$((others + 1))
  counted=$((time * (total - others) / total))
  ((counted >= time / 10)) || counted=$((time / 10))
}

# The time without progress: new lines, or processor time, of which waiting takes next to nothing. So it begins anew
# after each interval with progress.
count_standstill() {
  if (($2 > 0 || $5 * 100 > $3 / $(nproc))); then counted=-$limit; else counted=$1; fi
}

# Waits for the step to end: wait_for_running KIND MICROSECONDS.
wait_for_running() {
  local kind=$1 limit=$2 left=$2 counted index old now
  read -ra old < <(look_at_running)
  until wait_for_interval; do
    read -ra now < <(look_at_running)
    for index in "${!now[@]}"; do old[index]=$((now[index] - old[index])); done
    "count_$kind" "${old[@]}"
    left=$((left - counted < limit ? left - counted : limit))
    ((left > 0)) || return 1
    old=("${now[@]}")
  done
}

# Runs a function or command: run_limited KIND SECONDS COMMAND... Sets `outcome`, and fails unless that is ok. `set -e`
# has no effect inside, as in any condition.
run_limited() {
  local kind=$1 limit=$2 status=0
  shift 2
  outcome=ok
  # Job control gives the step its own process group, in which interrupts are not ignored.
  set -m
  (set +m && "$@" 2>&1 | tee -- "$stage_log") </dev/null &
  running=$!
  set +m
  if ! wait_for_running "$kind" "${limit}000000"; then
    outcome="FAILED (more than $limit s of $kind)"
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

# Runs a step: stage NAME SECONDS COMMAND... Only the part of its time counts that others left to it.
stage() {
  local name=$1 limit=$2 start=$SECONDS outcome
  shift 2
  say "$name"
  run_limited time "$limit" "$@" || true
  end_stage "$name" "$start"
}

# Runs a step that takes as long as it does, and is ended after five minutes without progress: build_stage NAME COMMAND...
build_stage() {
  local name=$1 start=$SECONDS outcome
  shift
  say "$name"
  run_limited standstill 300 "$@" || true
  end_stage "$name" "$start"
}

# Runs a step of tests: test_stage NAME SECONDS RUNNER OPTION... `run_RUNNER REPORT OPTION...` runs them and writes a
# report, `again_RUNNER REPORT TEST OPTION...` runs one of them. A test that passes when repeated alone is flaky.
test_stage() {
  local name=$1 limit=$2 runner=$3 start=$SECONDS outcome report
  shift 3
  report=$(mktemp "${TMPDIR:-/tmp}/test-report.XXXXXX")
  say "$name"
  run_limited time "$limit" "run_$runner" "$report" "$@" || true
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
