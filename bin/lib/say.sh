# Words to the person at the terminal, always on standard error: standard output may belong to a client.

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "$*"
  exit 1
}
