#!/usr/bin/env bash
# Lays the Elixir and Erlang/OTP of another Debian suite beside the system's, which it leaves as they are.
#
#   .ci/other-beam.sh SUITE
#
# SUITE is trixie (Elixir 1.18, OTP 27) or sid (Elixir 1.20, OTP 29). The result is .cache/beam/SUITE with bin/erl,
# bin/elixir, bin/mix and so on; they find each other and the machine's own cargo and git. Deleting the folder undoes
# everything: packages are unpacked, not installed, and their programs use the C library unpacked with them.
#
# Does nothing when the folder is complete. Needs apt-get, dpkg-deb and patchelf.
set -euo pipefail

ROOT=$(cd "$(dirname "$0")/.." && pwd)
PACKAGES=(elixir erlang-dev erlang-tools erlang-eunit erlang-xmerl)
source "$ROOT/bin/lib/say.sh"
source "$ROOT/bin/lib/setup.sh"

main() {
  [[ $# == 1 ]] || fail "usage: .ci/other-beam.sh trixie|sid"
  suite=$1 place=$ROOT/.cache/beam/$1
  [[ ! -e $place/complete ]] || exit 0
  command -v patchelf >/dev/null || install_packages "patchelf" patchelf
  say "Unpacking Elixir and Erlang/OTP of Debian $suite into ${place#"$ROOT"/}."
  rm -rf "$place"
  mkdir -p "$place"/{root,bin,apt/lists/partial,apt/archives/partial}
  download
  unpack
  use_own_libraries
  write_commands
  rm -rf "$place/apt"
  "$place/bin/elixir" --version >&2
  touch "$place/complete"
}

# An apt state of its own, in which nothing counts as installed, so that every dependency comes along.
download() {
  local apt=$place/apt
  : >"$apt/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main" >"$apt/sources.list"
  local options=(
    -qq
    -o Dir::Etc::SourceList="$apt/sources.list"
    -o Dir::Etc::SourceParts=/dev/null
    -o Dir::Etc::Preferences=/dev/null
    -o Dir::Etc::PreferencesParts=/dev/null
    -o Dir::State::Lists="$apt/lists"
    -o Dir::State::status="$apt/status"
    -o Dir::State::extended_states="$apt/extended"
    -o Dir::Cache::Archives="$apt/archives"
    -o Acquire::Languages=none
    -o APT::Sandbox::User=root
  )
  apt-get "${options[@]}" update >&2
  apt-get "${options[@]}" install -y --no-install-recommends --download-only "${PACKAGES[@]}" >&2
}

# The mirror that this machine uses already.
mirror() {
  local found
  found=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
  [[ -n $found ]] || found=$(grep -ohE '^deb .*' /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    grep -oE '[a-z+]+://[^ ]+' | head -1 || true)
  [[ -n $found ]] || fail "No mirror is named in this machine's apt sources."
  echo "$found"
}

unpack() {
  local name deb
  # As on a merged /usr: what a package puts into /lib lands in /usr/lib.
  for name in bin sbin lib lib64; do
    mkdir -p "$place/root/usr/$name"
    ln -s "usr/$name" "$place/root/$name"
  done
  for deb in "$place"/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" |
      tar -x -C "$place/root" --keep-directory-symlink --no-same-owner --exclude='./usr/share/doc'
  done
}

# Programs of the suite need its C library; that of the machine is older.
use_own_libraries() {
  local libraries loader file
  libraries=$place/root/usr/lib/$(uname -m)-linux-gnu
  loader=$(echo "$libraries"/ld-linux-*.so.*)
  while IFS= read -r -d '' file; do
    [[ $(head -c4 "$file" | tail -c3) == ELF ]] || continue
    patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$file"
  done < <(find "$place/root/usr/lib/erlang" -type f -perm -u+x ! -name '*.so' -print0)
  # Start scripts and release files name the folder that they would have been installed into.
  grep -rlIZ /usr/lib/erlang "$place"/root/usr/lib/erlang/{bin,erts-*/bin,releases} |
    xargs -0 sed -i "s#/usr/lib/erlang#$place/root/usr/lib/erlang#g"
}

# Each suite has a build folder of its own, so that none evicts another's.
write_commands() {
  local command
  for command in erl erlc escript epmd; do
    write_command "$command" "$place/root/usr/lib/erlang/bin/$command"
  done
  for command in elixir elixirc iex; do
    write_command "$command" "$place/root/usr/lib/elixir/bin/$command"
  done
  write_command mix "$place/bin/elixir" "$place/root/usr/lib/elixir/bin/mix"
}

# write_command NAME PROGRAM [ARGUMENT]
write_command() {
  local name=$1
  shift
  cat >"$place/bin/$name" <<SH
#!/bin/sh
export PATH="$place/bin:\$PATH" MIX_HOME="$place/mix" MIX_BUILD_ROOT="\${MIX_BUILD_ROOT:-_build/$suite}"
exec $(printf '"%s" ' "$@")"\$@"
SH
  chmod +x "$place/bin/$name"
}

main "$@"
