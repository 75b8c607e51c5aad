# shellcheck shell=bash
# What the reports of test runs say: which tests were skipped, and which fail only sometimes.

# If a step has at most this many failures, the failed tests run again.
repeated_tests=10

# So many flaky tests don't let a run fail.
# shellcheck disable=SC2034 # used by stages.sh
tolerated_flaky=1

# The limit for one repeated test, as `stage` has it.
test_limit=900

flaky=()
declare -A skipped=()

test_report() { "$(dirname -- "${BASH_SOURCE[0]}")/test-report" "$@" 2>/dev/null; }

# all_pass_alone NAME REPORT RUNNER OPTION...: runs each failed test again, alone, and records those that pass. Fails if
# a test fails again, or if the report does not name the failed tests, as after a crash.
all_pass_alone() {
  local name=$1 report=$2 runner=$3 failed line status=0
  # The log and the outcome of the step stay as they are.
  # shellcheck disable=SC2034 # used and set by run_limited
  local stage_log=/dev/null outcome
  shift 3
  mapfile -t failed < <(test_report failed "$report")
  ((${#failed[@]} && ${#failed[@]} <= repeated_tests)) || return 1
  for line in "${failed[@]}"; do
    say "$name: again, alone: ${line%%$'\t'*}"
    rm -f -- "$report.again"
    # Runners do not report a filter without matches as a failure.
    if run_limited time "$test_limit" "again_$runner" "$report.again" "${line%%$'\t'*}" "$@" &&
      grep -q '<testcase' "$report.again"; then
      flaky+=("$name: ${line/$'\t'/: }")
    else
      status=1
    fi
  done
  rm -f -- "$report.again"
  return "$status"
}

# Records the names of skipped tests; a test that two steps skip counts once.
note_skipped() {
  local test reason
  while IFS=$'\t' read -r test reason; do
    skipped["$reason"$'\t'"$test"]=
  done < <(test_report skipped "$1")
}

# Prints the skipped tests by their requirements.
print_skipped() {
  local test reason last=
  ((${#skipped[@]})) || return 0
  printf '\n%d tests skipped:\n' "${#skipped[@]}"
  while IFS=$'\t' read -r reason test; do
    if [ "$reason" != "$last" ]; then printf '  %s\n' "$reason"; fi
    printf '    %s\n' "$test"
    last=$reason
  done < <(printf '%s\n' "${!skipped[@]}" | sort)
  printf '\n'
}

print_flaky() {
  local line
  for line in "${flaky[@]}"; do printf 'flaky: %s\n' "$line"; done
}
