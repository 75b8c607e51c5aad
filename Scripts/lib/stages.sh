# shellcheck shell=bash
# Steps under a time limit, each with a line that says how it went and how long it took.

# shellcheck source=SCRIPTDIR/failures.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/failures.sh"

stage_lines=()
failed_stages=0
running=

# Where a script wants what the running step prints, so that failures are found in it.
stage_log=/dev/null

descendants() {
  local child
  cat "/proc/$1/task/"*/children 2>/dev/null | tr ' ' '\n' | while read -r child; do
    echo "$child"
    descendants "$child"
  done
}

# Nothing of a step outlives its limit or an interrupt. Its process group would not do: SwiftPM gives
# compilers and tests groups of their own, and does not pass the signal on.
end_running() {
  local all
  [ -n "$running" ] || return 0
  mapfile -t all < <(descendants "$running")
  kill -KILL "$running" "${all[@]}" 2>/dev/null || true
}
trap 'end_running; exit 130' INT TERM HUP

# Waits for the step to end, so many seconds at most. In the background, since a trap runs during
# `wait`, but not before a command in the foreground has ended.
wait_for_running() {
  timeout "$1" tail --pid="$running" -s 0.2 -f /dev/null &
  wait $!
}

# Runs a function or command: stage NAME SECONDS COMMAND...
# `set -e` has no effect in it, as it has none in a condition.
stage() {
  local name=$1 limit=$2 start=$SECONDS status=0 outcome=ok
  shift 2
  say "$name"
  # With job control, the step gets its process group, and interrupts aren't ignored in it.
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
  if [ "$outcome" != ok ]; then
    failed_stages=$((failed_stages + 1))
    note_failures "$name" "$stage_log"
  fi
  stage_lines+=("$(printf '%6d s  %-28s %s' "$((SECONDS - start))" "$name" "$outcome")")
  say "$name: $outcome, $((SECONDS - start)) s"
  [ "$outcome" = ok ]
}

# Says how every step went and, at the very end, what failed; fails if something did.
finish_stages() {
  printf '\n' >&2
  printf '%s\n' "${stage_lines[@]}" >&2
  printf '%d s in all\n' "$SECONDS" >&2
  printf 'steps: %d passed, %d failed\n' \
    $((${#stage_lines[@]} - failed_stages)) "$failed_stages"
  ((failed_stages)) || return 0
  tell_failures
  exit 1
}
