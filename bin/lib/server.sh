# An example server for a script's own use, on a port that the system chooses.

BRIDGE=supergateway
BRIDGE_VERSION=4.0.0
# The last thing that the example servers print once they listen.
BANNER_END='"mcpServers"\|^The token:'

# start_server LOG [OPTION...]: sets `url` once the server has printed all that it prints, and stops it when the script ends.
start_server() {
  local log=$1
  shift
  # An earlier server's words would be taken for this one's.
  : >"$log"
  "$ROOT/bin/serve" --port 0 "$@" >>"$log" 2>&1 &
  server=$!
  trap stop_server EXIT
  wait_for "$BANNER_END" "$log" "$server" >/dev/null
  url=$(grep -om1 'https\?://127.0.0.1:[0-9]*/mcp' "$log")
}

# wait_for PATTERN LOG PROCESS: the first match, once the process has written it.
wait_for() {
  until grep -som1 "$1" "$2"; do
    kill -0 "$3" 2>/dev/null || fail "It ended before it wrote $1: $(cat "$2")"
    sleep 0.2
  done
}

# start_bridge LOG: the same through a bridge that speaks HTTP on one side and starts `bin/serve --stdio` on the other.
start_bridge() {
  local log=$1 home=$ROOT/.cache/bridge
  [[ -d $home/node_modules/$BRIDGE ]] ||
    npm install --silent --no-package-lock --prefix "$home" "$BRIDGE@$BRIDGE_VERSION" >&2
  # Built once: the sessions' servers would wait for each other.
  "$ROOT/bin/serve" --stdio </dev/null >/dev/null 2>>"$log"
  local port
  port=$(node -p 'const s = require("net").createServer().listen(0); const { port } = s.address(); s.close(); port')
  url=http://127.0.0.1:$port/mcp
  node "$home/node_modules/$BRIDGE/dist/index.js" --stdio "$ROOT/bin/serve --stdio" \
    --outputTransport streamableHttp --stateful --port "$port" >>"$log" 2>&1 &
  server=$!
  trap stop_server EXIT
  wait_for "Listening on port $port" "$log" "$server" >/dev/null
}

stop_server() {
  kill -TERM "$server" 2>/dev/null || true
  wait "$server" || true
}
