# Sourced by the tests of the checkers: small trees with planted breaches, and what must be found.
set -euo pipefail
style=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools/style" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# plant FILE: writes standard input to FILE of the tree.
plant() {
  mkdir -p "$(dirname "$tree/$1")"
  cat > "$tree/$1"
}

# clear: an empty tree again.
clear() { rm -rf "${tree:?}"/*; }

# passes NAME CHECKER [ARGUMENT...]: the checker finds nothing.
passes() {
  local name=$1 checker=$2 status=0 output
  shift 2
  output=$("$style/$checker" "$tree" "$@" 2>&1) || status=$?
  [ $status = 0 ] && return
  echo "FAILED $name: exit $status where nothing is wrong"$'\n'"$output"
  failures=$((failures + 1))
}

# finds NAME TEXT CHECKER [ARGUMENT...]: the checker exits 1 and a line of its output begins so.
finds() {
  local name=$1 text=$2 checker=$3 status=0 output
  shift 3
  output=$("$style/$checker" "$tree" "$@" 2>&1) || status=$?
  if [ $status = 1 ] && awk -v text="$text" 'index($0, text) == 1 { found = 1 }
                                             END { exit !found }' <<<"$output"; then
    return
  fi
  echo "FAILED $name: exit $status, expected a line '$text...'"$'\n'"$output"
  failures=$((failures + 1))
}

# verdict: the exit status of the test.
verdict() {
  [ $failures = 0 ] || exit 1
  echo "$(basename "$0"): all breaches found"
}
