# shellcheck shell=bash
# What the scripts need from the system, and how it is called there.

# need      test for it                                  apt            dnf, yum           zypper          pacman
package_table() {
  cat <<'TABLE'
git         git                                          git            git                git             git
pkg-config  pkg-config                                   pkg-config     pkgconf-pkg-config pkgconf-pkg-config pkgconf
libsodium   pkg-config:libsodium                         libsodium-dev  libsodium-devel    libsodium-devel libsodium
sqlite      pkg-config:sqlite3                           libsqlite3-dev sqlite-devel       sqlite3-devel   sqlite
dpkg-dev    dpkg-shlibdeps                               dpkg-dev       dpkg-dev           dpkg           dpkg
debootstrap debootstrap                                  debootstrap    debootstrap        debootstrap    debootstrap
keyctl      keyctl                                       keyutils       keyutils           keyutils        keyutils
libsecret   pkg-config:libsecret-1                       libsecret-1-dev libsecret-devel   libsecret-devel libsecret
secret-tool secret-tool                                  libsecret-tools libsecret         secret-tool     libsecret
dbus        dbus-daemon                                  dbus-daemon    dbus-daemon        dbus-1-daemon   dbus
dbus-send   dbus-send                                    dbus-bin       dbus-tools         dbus-1-tools    dbus
gnome-keyring gnome-keyring-daemon                       gnome-keyring  gnome-keyring      gnome-keyring   gnome-keyring
keepassxc   keepassxc                                    keepassxc      keepassxc          keepassxc       keepassxc
pass        pass                                         pass           pass               password-store  pass
age         age                                          age            age                age             age
valgrind    valgrind                                     valgrind       valgrind           valgrind        valgrind
xvfb        Xvfb                                         xvfb           xorg-x11-server-Xvfb xorg-x11-server-Xvfb xorg-server-xvfb
strace      strace                                       strace         strace             strace          strace
python      python:venv,ensurepip                        python3-venv   python3            python3         python
mandoc      mandoc                                       mandoc         mandoc             mandoc          mandoc
man         man                                          man-db         man-db             man             man-db
groff       troff                                        groff-base     groff-base         groff           groff
zsh         zsh                                          zsh            zsh                zsh             zsh
fish        fish                                         fish           fish               fish            fish
shellcheck  shellcheck                                   shellcheck     ShellCheck         ShellCheck      shellcheck
ssh         ssh-keygen                                   openssh-client openssh-clients   openssh-clients openssh
tmux        tmux                                         tmux           tmux               tmux            tmux
make        make                                         make           make               make            make
python-keyring system-python:keyring                     python3-keyring python3-keyring   python3-keyring python-keyring
secretstorage system-python:secretstorage                python3-secretstorage python3-secretstorage python3-SecretStorage python-secretstorage
python-gi   system-python:gi                             python3-gi     python3-gobject    python3-gobject python-gobject
secret-gi   system-python:gi.repository.Secret           gir1.2-secret-1 libsecret         typelib-1_0-Secret-1 libsecret
docker-helper docker-credential-secretservice            golang-docker-credential-helpers golang-github-docker-credential-helpers docker-credential-helpers docker-credential-helpers
ca-certificates /usr/share/ca-certificates/mozilla    ca-certificates ca-certificates  ca-certificates ca-certificates
curl        curl                                         curl           curl               curl            curl
libcurl     pkg-config:libcurl                           libcurl4-openssl-dev libcurl-devel libcurl-devel  curl
etcd        etcd                                         etcd-server    etcd               etcd            etcd
etcdctl     etcdctl                                      etcd-client    etcd               etcdctl         etcd
ip          ip                                           iproute2       iproute            iproute2        iproute2
openssl     openssl                                      openssl        openssl            openssl         openssl
jq          jq                                           jq             jq                 jq              jq
skopeo      skopeo                                       skopeo         skopeo             skopeo          skopeo
podman      podman                                       podman         podman             podman          podman
newuidmap   newuidmap                                    uidmap         shadow-utils       shadow          shadow
psql        psql                                         postgresql-client postgresql      postgresql      postgresql
restic      restic                                       restic         restic             restic          restic
borg        borg                                         borgbackup     borgbackup         borgbackup      borg
ansible     ansible-vault                                ansible-core   ansible-core       ansible         ansible-core
gpg         gpg                                          gnupg          gnupg2             gpg2            gnupg
mysql       mysql                                        default-mysql-client mysql        mysql-client    mariadb-clients
mkfs.ext4   mkfs.ext4                                    e2fsprogs      e2fsprogs          e2fsprogs       e2fsprogs
ntfs-3g     ntfs-3g                                      ntfs-3g        ntfs-3g            ntfs-3g         ntfs-3g
ntfsprogs   ntfscluster                                  ntfs-3g        ntfsprogs          ntfsprogs       ntfs-3g
TABLE
}

# Returns whether the requirement in the table's second column is met.
is_present() {
  case $1 in
    pkg-config:*) has_command pkg-config && pkg-config --exists "${1#*:}" ;;
    system-python:*) /usr/bin/python3 -c "import ${1#*:}" >/dev/null 2>&1 ;;
    /*) [ -e "$1" ] ;;
    python:*) python3 -c "import ${1#*:}" >/dev/null 2>&1 ;;
    *) has_command "$1" ;;
  esac
}

package_manager() {
  local manager
  for manager in apt-get dnf yum zypper pacman; do
    if has_command "$manager"; then
      echo "$manager"
      return
    fi
  done
}

# Prints the missing packages for the given needs, with the names of a package manager.
missing_packages() {
  local manager=$1 need test apt dnf zypper pacman
  shift
  while read -r need test apt dnf zypper pacman; do
    [[ " $* " == *" $need "* ]] || continue
    is_present "$test" && continue
    case $manager in
      apt-get) echo "$apt" ;;
      dnf | yum) echo "$dnf" ;;
      zypper) echo "$zypper" ;;
      pacman) echo "$pacman" ;;
      *) echo "$need" ;;
    esac
  done < <(package_table)
}

# Prints a package manager's own command to install packages.
install_command() {
  local manager=$1
  shift
  case $manager in
    apt-get) echo "env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $*" ;;
    dnf | yum) echo "$manager install -y $*" ;;
    zypper) echo "zypper --non-interactive install $*" ;;
    pacman) echo "pacman -S --needed --noconfirm $*" ;;
  esac
}

install_packages() {
  local words
  # A broken source of a third party need not affect the requested packages.
  [ "$1" != apt-get ] || as_root apt-get update -q || true
  read -ra words < <(install_command "$@")
  as_root "${words[@]}"
}

# Installs what is missing for the given needs. If that takes a superuser who is not here, sets `lacking` to the needs,
# and prints the line that installs them.
lacking=()
find_lacking() {
  local need manager missing
  manager=$(package_manager)
  mapfile -t missing < <(missing_packages "$manager" "$@")
  ((${#missing[@]})) || return 0
  if [ -n "$manager" ] && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    require_packages "$@"
    return
  fi
  for need in "$@"; do
    [ -z "$(missing_packages "" "$need")" ] || lacking+=("$need")
  done
  say "Missing: ${lacking[*]}. What needs them is skipped."
  if [ -n "$manager" ]; then say "As root, run: $(install_command "$manager" "${missing[@]}")"; fi
}

# Prints the words by which a failed test can name what is lacking: needs, programs and modules.
lacking_words() {
  local need test rest
  while read -r need test rest; do
    [[ " ${lacking[*]} " != *" $need "* ]] || echo "$need ${test##*:}"
  done < <(package_table)
}

# Installs what is missing for the given needs. If nothing is missing, needs no network and no superuser.
require_packages() {
  local manager missing
  manager=$(package_manager)
  mapfile -t missing < <(missing_packages "$manager" "$@")
  ((${#missing[@]})) || return 0
  if [ -z "$manager" ]; then
    fail "these are missing, and no package manager known here was found: ${missing[*]}" \
      "Install them, with the headers of the libraries, and run this script again."
  fi
  if ! can_be_root; then
    fail "these packages are missing, and installing them needs the superuser: ${missing[*]}" \
      "There is no sudo here. As root, run this, and then this script again:" \
      "$(install_command "$manager" "${missing[@]}")"
  fi
  say "Installing ${missing[*]} with $manager"
  install_packages "$manager" "${missing[@]}" >&2 </dev/null ||
    fail "$manager could not install: ${missing[*]}" \
      "Its own words are above. Where a package is unknown, its repository must be enabled first" \
      "(libsodium is in EPEL on RHEL and its relatives)."
  mapfile -t missing < <(missing_packages "$manager" "$@")
  ((${#missing[@]} == 0)) ||
    fail "$manager reported success, but these are still not found: ${missing[*]}"
}
