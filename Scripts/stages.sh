# shellcheck shell=bash
# How Scripts/test runs its stages and counts what they say. It sets `records`, the folder of what stages print, and has a function
# `stage_NAME` for each; `say` comes from machine.sh.

passed=0
failed=0
skipped=0
summary=()
# Lines of the records that say what did not hold: the end of a long record may be all that somebody gets to see.
troubles=()

# Adds what a stage's record says of tests: Swift Testing's lines, and "N passed, N failed" of the other stages.
count() {
  local record=$1 ran wrong left held line
  ran=$(sed -n 's/.*Test run with \([0-9]*\) tests\{0,1\} .*/\1/p' "$record" | awk '{ sum += $1 } END { print sum + 0 }')
  wrong=$(grep '^✘ Test ' "$record" | grep -v '^✘ Test run with ' | grep -cE ' failed after [0-9.]+ seconds' || true)
  left=$(grep -c '^➜ Test ' "$record" || true)
  # Tests that held when they were run once more stand there twice: as failed, and as passed.
  held=$(sed -n 's/^held when run once more: \([0-9]*\)$/\1/p' "$record" | awk '{ sum += $1 } END { print sum + 0 }')
  stage_passed=$((ran - wrong - left)) stage_failed=$((wrong - held)) stage_skipped=$left
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$record" | tail -n 1 || true)
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    stage_passed=$((stage_passed + BASH_REMATCH[1])) stage_failed=$((stage_failed + BASH_REMATCH[2]))
  fi
}

# Keeps the first lines of a stage's record that say what did not hold.
keep_troubles() {
  local stage=$1 line
  while IFS= read -r line; do
    troubles+=("$stage: ${line:0:400}")
  done < <(grep -E '^(✘ Test .* recorded an issue|FAILED  |missed  |held when run once more|(/.*: )?error: )' "$records/$stage.txt" | head -n 12)
}

run() {
  local stage=$1 begin=$SECONDS status
  say "== $stage"
  set +e
  (
    set -e
    "stage_$stage"
  ) 2>&1 | tee "$records/$stage.txt"
  status=${PIPESTATUS[0]}
  set -e
  conclude "$stage" "$status" $((SECONDS - begin))
}

# Adds a stage's tests to the sums, and says how it went.
conclude() {
  local stage=$1 status=$2 took=$3 verdict="ok" counts="" text
  count "$records/$stage.txt"
  keep_troubles "$stage"
  if ((status != 0 && stage_failed == 0)); then stage_failed=1; fi
  passed=$((passed + stage_passed)) failed=$((failed + stage_failed)) skipped=$((skipped + stage_skipped))
  ((stage_failed == 0)) || verdict="FAILED"
  if ((stage_passed + stage_failed + stage_skipped)); then counts=", $stage_passed passed, $stage_failed failed"; fi
  if ((stage_skipped)); then counts+=", $stage_skipped skipped"; fi
  text=$(printf '%-11s %-7s %4d s%s' "$stage" "$verdict" "$took" "$counts")
  summary+=("$text")
  say "== $text"
}

# These keep one processor busy, or wait for a browser: others run meanwhile, up to those that need the machine for themselves.
declare -A beside=()
runs_beside() { [[ $1 == docs || $1 == console ]]; }
needs_all() { [[ $1 == kill || $1 == hostile || $1 == example || $1 == benchmarks ]]; }

start_beside() {
  local stage=$1
  say "== $stage, beside the next ones"
  (
    begin=$SECONDS
    set +e
    (
      set -e
      "stage_$stage"
    ) >"$records/$stage.txt" 2>&1
    echo "$? $((SECONDS - begin))" >"$records/$stage.status"
  ) &
  beside[$stage]=$!
}

join_beside() {
  local stage status took
  for stage in "${!beside[@]}"; do
    wait "${beside[$stage]}" || true
    say "== $stage"
    cat "$records/$stage.txt"
    read -r status took <"$records/$stage.status"
    conclude "$stage" "$status" "$took"
  done
  beside=()
}
# What interrupts it ends them all.
trap 'trap - INT TERM; ((${#beside[@]} == 0)) || kill 0; exit 130' INT TERM
