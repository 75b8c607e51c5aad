# shellcheck shell=bash
# What is installed with `prefs`: manual pages, completions, and a service of systemd that is not enabled.

# Installs a file that is made, readable for everybody.
install_made() {
  (umask 022 && mkdir -p -- "$(dirname -- "$2")") && install -m 644 -- "$1" "$2"
}

# Prints the service that keeps shared preferences in step, with a path of `prefs`.
make_unit() {
  local line path=$1
  # systemd reads these in a path.
  path=${path//\\/\\\\}
  path=${path//\"/\\\"}
  path=${path//%/%%}
  while IFS= read -r line; do
    case $line in
      ExecStart=*) printf 'ExecStart="%s" sync run\n' "$path" ;;
      *) printf '%s\n' "$line" ;;
    esac
  done <"${root:?}/Scripts/systemd/prefs-sync.service"
}

# Removes pages of commands that no longer exist. The names belong to this program alone.
install_pages() {
  local page
  for page in "$2"/prefs.1 "$2"/prefs-keychain*.1; do
    [ -e "$1/${page##*/}" ] || rm -f -- "$page" || return
  done
  for page in "$1"/*; do install_made "$page" "$2/${page##*/}" || return; done
}

# install_help PROGRAM SHARE PATH: installs into the folder SHARE what PROGRAM generates, and the service, which starts
# PATH. `prefs` also works without them.
install_help() {
  local program=$1 share=$2 path=$3 made status=0
  made=$(mktemp -d)
  {
    make_unit "$path" >"$made/unit" &&
      install_made "$made/unit" "$share/systemd/user/prefs-sync.service" &&
      "$program" --generate-completion-script bash >"$made/bash" &&
      install_made "$made/bash" "$share/bash-completion/completions/prefs" &&
      "$program" --generate-completion-script zsh >"$made/zsh" &&
      install_made "$made/zsh" "$share/zsh/site-functions/_prefs" &&
      "$program" --generate-completion-script fish >"$made/fish" &&
      install_made "$made/fish" "$share/fish/vendor_completions.d/prefs.fish" &&
      "$program" --generate-man-pages "$made/man" &&
      install_pages "$made/man" "$share/man/man1"
  } || status=$?
  rm -rf -- "$made"
  return "$status"
}
