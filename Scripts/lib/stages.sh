# shellcheck shell=bash
# Steps under a limit, each with a line that says how it went and how long it took. Several lanes of steps can run at
# the same time, each in a shell of its own.

# shellcheck source=SCRIPTDIR/failures.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/failures.sh"
# shellcheck source=SCRIPTDIR/privileges.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/privileges.sh"
# shellcheck source=SCRIPTDIR/reports.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/reports.sh"

# Steps leave here what the script reads at the end: a folder for each, in the order in which they began. The script
# makes it.
steps=

# The running step: its folder, its log and its process; and the processor time before it.
step=
stage_log=/dev/null
running=
used=0

# Whether steps of other lanes run, too.
in_lane=no

# Prints the processes below another, except those of this look. A list of the children of one (/proc/PID/task/TID/children)
# is incomplete while others of them end.
descendants() {
  local look=$BASHPID
  cat /proc/[0-9]*/stat 2>/dev/null | awk -v top="$1" -v look="$look" '
    /^[0-9]+ \(/ {
      pid = $1
      sub(/.*\) /, "")
      parent[pid] = $2
    }
    END {
      for (pid in parent) {
        for (above = pid; above in parent && above != top && above != look; above = parent[above]) { }
        if (above == top && pid != top) print pid
      }
    }' | sort -n
}

# Ends all processes below another: those of a step at its limit, or of all lanes at an interrupt. Process groups are
# not enough: SwiftPM starts compilers and tests in other groups, and does not pass the signal on. All are stopped before,
# because a process whose parent has ended is no longer found.
end_below() {
  local all=() before=none
  while mapfile -t all < <(descendants "$1") && [ "${all[*]}" != "$before" ]; do
    kill -STOP "${all[@]}" 2>/dev/null || true
    before=${all[*]}
  done
  kill -KILL "${all[@]}" 2>/dev/null || true
  # Only the superuser can end processes that run through sudo.
  "${superuser[@]}" kill -KILL "${all[@]}" 2>/dev/null || true
}
trap 'end_below $$; exit 130' INT TERM HUP

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

# Writes the log of the running step, and shows it, unless other steps would be shown between its lines.
show_running() {
  if [ "$in_lane" = yes ]; then cat >"$stage_log"; else tee -- "$stage_log"; fi
}

# Runs a function or command: run_limited KIND SECONDS COMMAND... Sets `outcome`, and fails unless that is ok. `set -e`
# has no effect inside, as in any condition.
run_limited() {
  local kind=$1 limit=$2 status=0
  shift 2
  outcome=ok
  # Job control gives the step its own process group, in which interrupts are not ignored.
  set -m
  (set +m && "$@" 2>&1 | show_running) </dev/null &
  running=$!
  set +m
  if ! wait_for_running "$kind" "${limit}000000"; then
    outcome="FAILED (more than $limit s of $kind)"
    end_below "$running"
    kill -KILL "$running" 2>/dev/null || true
  fi
  wait "$running" || status=$?
  running=
  if ((status)) && [ "$outcome" = ok ]; then outcome="FAILED (exit code $status)"; fi
  [ "$outcome" = ok ]
}

# Sets `used` to the processor time of this shell's ended commands, in seconds: on a busy machine this says more than the
# clock.
note_processor_time() {
  local fields
  read -ra fields <"/proc/$BASHPID/stat"
  used=$(((fields[15] + fields[16]) / $(getconf CLK_TCK)))
}

# Lets a command print while no other lane does.
undisturbed() { { flock 9 && "$@"; } 9<"$steps"; }

begin_stage() {
  step=$(mktemp -d "$steps/${EPOCHREALTIME/[.,]/}.XXXX")
  stage_log=$step/log
  printf '%s\n' "$1" >"$step/name"
  : >"$stage_log"
  undisturbed say "$1"
}

# show_end MESSAGE
show_end() {
  if [ "$in_lane" = yes ]; then cat -- "$stage_log"; fi
  say "$1"
}

# end_stage START: records the outcome of a step, and fails if the step failed.
end_stage() {
  local took=$((SECONDS - $1)) before=$used name
  name=$(<"$step/name")
  note_processor_time
  printf '%6d s %6d s' "$took" "$((used - before))" >"$step/time"
  printf '%s\n' "$outcome" >"$step/outcome"
  undisturbed show_end "$name: $outcome, $took s"
  [[ $outcome != FAILED* ]]
}

# Runs a step: stage NAME SECONDS COMMAND... Only the part of its time counts that others left to it.
stage() {
  local name=$1 limit=$2 start=$SECONDS outcome
  shift 2
  begin_stage "$name"
  run_limited time "$limit" "$@" || true
  end_stage "$start"
}

# Runs a step that takes as long as it does, and is ended after five minutes without progress: build_stage NAME COMMAND...
build_stage() {
  local name=$1 start=$SECONDS outcome
  shift
  begin_stage "$name"
  run_limited standstill 300 "$@" || true
  end_stage "$start"
}

# Runs a step of tests: test_stage NAME SECONDS RUNNER OPTION... `run_RUNNER REPORT OPTION...` runs them and writes a
# report, `again_RUNNER REPORT TEST OPTION...` runs one of them, as finish_stages does with those that failed.
test_stage() {
  local name=$1 limit=$2 runner=$3 start=$SECONDS outcome
  shift 3
  begin_stage "$name"
  run_limited time "$limit" "run_$runner" "$step/report" "$@" || true
  if [ "$outcome" = "FAILED (exit code 1)" ]; then printf '%s\0' "$runner" "$@" >"$step/again"; fi
  end_stage "$start"
}

run_lane() {
  set +m
  in_lane=yes
  used=0
  "$1"
}

# Records a step that does not run: skip_stage NAME REASON
skip_stage() {
  local outcome="skipped: $2"
  begin_stage "$1"
  end_stage "$SECONDS"
}

# Runs functions with steps at the same time, each in a lane: lanes FUNCTION... A lane that breaks off is a failed step.
lanes() {
  local lane started=() outcome
  # In process groups of their own, so that an interrupt from the terminal reaches this shell alone, which ends them.
  set -m
  for lane in "$@"; do
    run_lane "$lane" &
    started+=($!)
  done
  set +m
  for lane in "$@"; do
    wait "${started[0]}" || {
      begin_stage "$lane"
      outcome="FAILED (the lane broke off)"
      end_stage "$SECONDS" || true
    }
    started=("${started[@]:1}")
  done
  # What the lanes took is none of the next step's.
  note_processor_time
}

# Runs the failed tests of a step again, alone, since no other step runs any more; those that pass are flaky.
repeat_failed() {
  local words
  [ -e "$1/again" ] || return 0
  mapfile -d '' -t words <"$1/again"
  if all_pass_alone "$(<"$1/name")" "$1/report" "${words[@]}"; then echo "ok, but flaky" >"$1/outcome"; fi
}

# Prints the result of every step and, at the end, the failures; fails if there are any.
finish_stages() {
  local folder name outcome good=0 bad=0 lines=()
  for folder in "$steps"/*/; do
    repeat_failed "$folder"
    note_skipped "$folder/report"
  done
  if ((${#flaky[@]} > tolerated_flaky)); then
    failures+=("flaky tests: ${#flaky[@]}, and no more than $tolerated_flaky may be")
  fi
  for folder in "$steps"/*/; do
    name=$(<"$folder/name") outcome=$(<"$folder/outcome")
    lines+=("$(printf '%s  %-28s %s' "$(<"$folder/time")" "$name" "$outcome")")
    if [[ $outcome == FAILED* ]]; then note_failures "$name" "$folder/log"; fi
    if [[ $outcome == FAILED* || ($outcome == *flaky && ${#flaky[@]} -gt $tolerated_flaky) ]]; then
      bad=$((bad + 1))
    else
      good=$((good + 1))
    fi
  done
  note_processor_time
  printf '\n' >&2
  printf '%s\n' "${lines[@]}" >&2
  printf '%6d s %6d s  of the processors, in all\n' "$SECONDS" "$used" >&2
  print_skipped >&2
  printf 'steps: %d passed, %d failed\n' "$good" "$bad"
  print_flaky
  ((bad)) || return 0
  print_failures
  exit 1
}
