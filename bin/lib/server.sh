# An example server for a script's own use, on a port that the system chooses.

# start_server LOG [OPTION...]: sets `url` once the server listens, and stops it when the script ends.
start_server() {
  local log=$1
  shift
  # An earlier server's URL would be taken for this one's.
  : >"$log"
  "$ROOT/bin/serve" --port 0 "$@" >>"$log" 2>&1 &
  server=$!
  trap stop_server EXIT
  until url=$(grep -om1 'https\?://127.0.0.1:[0-9]*/mcp' "$log"); do
    kill -0 "$server" 2>/dev/null || fail "The server did not start: $(cat "$log")"
    sleep 0.2
  done
}

stop_server() {
  kill -TERM "$server" 2>/dev/null || true
  wait "$server" || true
}
