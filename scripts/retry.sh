# shellcheck shell=bash
# retry.sh: for scripts that download.

# retry COMMAND...: runs a command until it succeeds, four times at most, with longer and longer
# pauses. A mirror that restarts or is being updated fails for a moment. RETRY_PAUSES lists other
# pauses, in seconds.
retry() {
  local pause
  for pause in ${RETRY_PAUSES:-5 20 60}; do
    "$@" && return 0
    echo "Failed, will be retried in $pause s: $*" >&2
    sleep "$pause"
  done
  "$@"
}
