# shellcheck shell=bash
# What failed, in a few lines, from what a step printed: CI shows the end of the output only.

# The most lines of one step, and of all together.
step_failure_lines=15
failure_lines=40

# Prints the first line about each failed test (Swift Testing, pytest), the errors of compilers, and
# the tests that had begun when their process ended.
named_failures() {
  tr -d '\000' <"$1" | LC_ALL=C awk '
    # A value that a test printed may be long.
    function tell(key, line) { if (!told[key]++) print substr(line, 1, 200) }
    /^[^ ]+ Test (run|case) / { next }
    /^[^ ]+ Test / {
      name = $0
      sub(/^[^ ]+ Test /, "", name)
      if (sub(/ started\.$/, "", name)) { begun[name] = 1; next }
      hasEnded = sub(/( with [0-9]+ test cases?)? (passed|failed) after [0-9.]+ seconds.*/, "", name)
      if (hasEnded || sub(/ skipped(\.|: ).*/, "", name)) delete begun[name]
      if (sub(/ recorded an issue .*/, "", name) || $0 ~ / failed after [0-9.]+ seconds/) tell(name, $0)
    }
    /^(FAILED|ERROR) [^ ]+::/ || /^[^ ]+:[0-9]+:[0-9]+: error: / || /^error: / { tell($0, $0) }
    END { for (name in begun) tell(name, "not finished: " name) }
  '
}

# Keeps what the output of a step says about failures: note_failures NAME FILE.
failures=()
note_failures() {
  local lines rest
  mapfile -t lines < <(named_failures "$2")
  ((${#lines[@]})) || lines=("its output names nothing")
  rest=$((${#lines[@]} - step_failure_lines))
  lines=("${lines[@]:0:step_failure_lines}")
  ((rest <= 0)) || lines+=("and $rest more")
  failures+=("${lines[@]/#/$1: }")
}

# Prints what was kept, as far as it is short.
tell_failures() {
  printf '%s\n' "${failures[@]:0:failure_lines}"
}
