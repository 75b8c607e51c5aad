# shellcheck shell=bash
# How tests that need the superuser run for everybody else.

# Whether a command can become the superuser of a user namespace of its own, with file systems of its own.
has_user_namespace() { unshare --user --map-root-user --mount "$@" true >/dev/null 2>&1; }

superuser=()

# shellcheck disable=SC2034 # used by the scripts that source this
set_superuser() { superuser=("$@"); }

# Sets `superuser` to the words before a command that make it the superuser's: the machine's where sudo
# asks for nothing, or that of a user namespace, which owns other users' files only where those users'
# numbers are mapped. Fails where there is neither.
find_superuser() {
  local namespace=(unshare --user --map-root-user --mount)
  if has_command sudo && sudo -n true 2>/dev/null; then
    set_superuser sudo -n
  elif has_user_namespace --map-auto; then
    set_superuser "${namespace[@]}" --map-auto
  elif has_user_namespace; then
    set_superuser "${namespace[@]}"
  else
    return 1
  fi
}
