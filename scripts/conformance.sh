#!/usr/bin/env bash
# Runs the official MCP conformance suite against a daemon, on both wires, and the lifecycle scenario of the older ones.
# usage: conformance.sh [http://localhost:PORT/mcp [DIRECTORY]]
# Without a URL a daemon is started for it, with the tools in tests/conformance/plugin.
# Exit 0: nothing fails but what the baselines in tests/conformance expect of a server that offers tools only, and
# nothing of that passes. The URL must say `localhost`: one scenario compares Host and Origin with it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -lt 1 ]; then
  cd "$root" && exec .venv/bin/python -m tests.conformance.run
fi
url=$1
results=${2:-$(mktemp -d -t rpcgw-conformance-XXXXXX)}
mkdir -p "$results"

suite() {
  "$root/.cache/bin/node" "$root/.cache/node/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$url" "$@"
}

# report NAME FROM COMMAND...: run, keep the output, print it from the line FROM on, remember a failure
failed=0
report() {
  local name=$1 from=$2
  shift 2
  echo "--- $name"
  "$@" >"$results/$name.log" 2>&1 || failed=1
  sed -n "/$from/,\$p" "$results/$name.log"
}

for revision in 2026-07-28 2025-11-25; do
  baseline=$root/tests/conformance/expected-failures.tools-only.$revision.yml
  report "all-$revision" "=== SUMMARY" \
    suite --suite all --spec-version "$revision" --expected-failures "$baseline" -o "$results/$revision"
done
for revision in 2025-06-18 2025-03-26; do
  report "lifecycle-$revision" "Passed:" suite --scenario server-session-lifecycle --spec-version "$revision"
done
for revision in 2026-07-28 2025-11-25; do
  echo "$revision: $(sed -n 's/^Total: \([0-9]*\) passed.*/\1/p' "$results/all-$revision.log") checks passed"
done
echo "results in $results"
exit "$failed"
