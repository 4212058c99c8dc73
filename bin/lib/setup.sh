# Installs what a build needs. Every step looks first and does nothing when it finds what it wants.

CARGO_FLOOR=1.91
ELIXIR_FLOOR=1.14

# Rust first: it is the one thing that has to be there.
need_rust() {
  command -v cargo >/dev/null || PATH=$HOME/.cargo/bin:$PATH
  command -v cargo >/dev/null ||
    fail "BeamMCP needs Rust $CARGO_FLOOR or newer: install it from https://rustup.rs and run this again."
  local found
  found=$(cargo --version | cut -d' ' -f2)
  at_least "$CARGO_FLOOR" "$found" ||
    fail "BeamMCP needs Rust $CARGO_FLOOR or newer and found $found: run 'rustup update stable'."
  command -v cc >/dev/null || install_packages "a C linker, which Rust needs" gcc libc6-dev
}

# erlang-dev carries headers that `mix` looks for; the rest comes with the package of Elixir.
need_elixir() {
  command -v mix >/dev/null || install_packages "Elixir and Erlang/OTP" elixir erlang-dev
  local found
  found=$(elixir --short-version)
  at_least "$ELIXIR_FLOOR" "$found" ||
    fail "BeamMCP needs Elixir $ELIXIR_FLOOR or newer and found $found: https://elixir-lang.org/install.html"
}

# For the suite and the clients of others; whichever is too old for them brings a newer one along.
need_node() { command -v npm >/dev/null || install_packages "Node.js" nodejs npm; }

# install_packages WHAT PACKAGE...
install_packages() {
  local what=$1
  shift
  command -v apt-get >/dev/null ||
    fail "$what is missing. Install it with this system's package manager (on Debian: apt-get install $*)," \
      "see https://elixir-lang.org/install.html, and run this again."
  say "Installing $what: apt-get install $*"
  {
    as_root apt-get -qq update &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"
  } >&2 </dev/null || fail "apt-get could not install $*: see above."
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "Root is needed for: $*"
  fi
}

# at_least FLOOR VERSION
at_least() { [[ $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -1) == "$1" ]]; }

# Builds one at a time: clients may start several servers at once.
one_at_a_time() {
  mkdir -p "$ROOT/.cache"
  if command -v flock >/dev/null; then
    flock "$ROOT/.cache/build.lock" "$@"
  else
    "$@"
  fi
}
