# shellcheck shell=bash
# What failed, in a few lines, from what a step printed: CI shows the end of the output only.

# The maximum number of lines of one step, and of all together.
step_failure_lines=15
failure_lines=40

# Prints the first line about each failed test (Swift Testing, pytest), errors of compilers, and tests that had not
# ended when their process did.
named_failures() {
  tr -d '\000' <"$1" | LC_ALL=C awk '
    # A value in the output of a test may be long.
    function note(key, line) { if (!noted[key]++) print substr(line, 1, 200) }
    /^[^ ]+ Test (run|case) / { next }
    /^[^ ]+ Test / {
      name = $0
      sub(/^[^ ]+ Test /, "", name)
      if (sub(/ started\.$/, "", name)) { begun[name] = 1; next }
      hasEnded = sub(/( with [0-9]+ test cases?)? (passed|failed) after [0-9.]+ seconds.*/, "", name)
      if (hasEnded || sub(/ skipped(\.|: ).*/, "", name)) delete begun[name]
      if (sub(/ recorded an issue .*/, "", name) || $0 ~ / failed after [0-9.]+ seconds/) note(name, $0)
    }
    /^(FAILED|ERROR) [^ ]+::/ || /^[^ ]+:[0-9]+:[0-9]+: error: / || /^error: / { note($0, $0) }
    END { for (name in begun) note(name, "not finished: " name) }
  '
}

# Records the failures in the output of a step: note_failures NAME FILE.
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

# Prints the recorded failures, up to the limit.
print_failures() {
  printf '%s\n' "${failures[@]:0:failure_lines}"
}
