# shellcheck shell=bash
# check.sh: for scripts that run several checks. They set work, a directory for files.
: "${work:?}"

passed=0 failed=0
# check NAME COMMAND...: runs one check and prints the output of a failed one.
check() {
  local name=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
    echo "ok   $name"
  else
    failed=$((failed + 1))
    echo "FAIL $name"
    tail -n 60 "$work/out"
  fi
}

# tally: prints the number of passed and failed checks, as the last line. Its status is 0 if none failed.
tally() {
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
