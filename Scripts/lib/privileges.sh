# shellcheck shell=bash
# How tests that need the superuser run for everybody else.

# The words before a command that run it as the superuser.
superuser=()

# Sets `superuser`: to the machine's own if sudo needs no password, or else to that of a user namespace. Fails if
# neither is available.
find_superuser() {
  if has_command sudo && sudo -n true 2>/dev/null; then
    superuser=(sudo -n)
  else
    superuser=("$(dirname -- "${BASH_SOURCE[0]}")/user-namespace")
    "${superuser[@]}" true 2>/dev/null || { superuser=() && return 1; }
  fi
}
