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

# How a whole run lies in time. Stages that mostly wait, for a browser, a server that starts, a timer, run a few at once. The
# documentation, for which nobody waits, has what the others leave of the processors. The rest has the machine for itself.
declare -A beside=()
at_once_max=$(($(nproc) < 4 ? $(nproc) + 1 : 4))
runs_beside() {
  case $1 in
    readme | console | replay | drill | disk | cluster | trap | upgrade | library | clients | admins | mail | pages | messages | openapi) ;;
    monitoring | links | documents | platforms | package | image) ;;
    *) return 1 ;;
  esac
}
fills_gaps() { [[ $1 == docs ]]; }

# Starts a stage that runs while others do; what it prints is shown when it has ended.
start_beside() {
  local stage=$1
  say "== $stage, beside others"
  rm -f "$records/$stage.status"
  (
    if fills_gaps "$stage"; then renice -n 19 -p "$BASHPID" >/dev/null 2>&1 || true; fi
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

# Waits for one of them, shows what it printed and counts it. One that was killed has left no status: it failed.
join() {
  local stage=$1 status=1 took=0
  wait "${beside[$stage]}" || true
  unset "beside[$stage]"
  if [[ -e $records/$stage.status ]]; then read -r status took <"$records/$stage.status"; fi
  say "== $stage"
  cat "$records/$stage.txt"
  conclude "$stage" "$status" "$took"
}

# Waits until fewer than so many stages run at once; what fills gaps is not counted.
join_until_below() {
  local most=$1 stage ended pids
  while true; do
    pids=()
    for stage in "${!beside[@]}"; do
      if ! fills_gaps "$stage"; then pids+=("${beside[$stage]}"); fi
    done
    if ((${#pids[@]} < most)); then return; fi
    ended=""
    wait -n -p ended "${pids[@]}" || true
    for stage in "${!beside[@]}"; do
      if [[ ${beside[$stage]} == "$ended" ]] || ! kill -0 "${beside[$stage]}" 2>/dev/null; then join "$stage"; fi
    done
  done
}

join_beside() {
  local stage
  join_until_below 1
  for stage in "${!beside[@]}"; do join "$stage"; done
}
# Runs the stages; `tests` says afterwards whether one of them counts tests.
tests=0
run_stages() {
  local stage
  for stage in "$@"; do
    case $stage in format | build | docs | release | benchmarks) ;; *) tests=1 ;; esac
    if [[ -v beside[$stage] ]]; then
      join "$stage"
    elif [[ $stage == "${*: -1}" && ${#beside[@]} == 0 ]]; then
      run "$stage"
    elif runs_beside "$stage"; then
      join_until_below "$at_once_max"
      start_beside "$stage"
      continue
    elif [[ $stage == docs ]]; then
      start_beside "$stage"
      continue
    elif [[ $stage == kill ]]; then
      # The documentation is built meanwhile.
      join_until_below 1
      run "$stage"
    else
      join_beside
      run "$stage"
    fi
    case $stage in
      build | release)
        # What does not build cannot be tested.
        if ((stage_failed)); then
          summary+=("The stages after $stage did not run.")
          break
        fi
        if [[ $stage == build ]]; then skip_build=(--skip-build --ignore-lock); fi
        ;;
    esac
  done
  join_beside
}

# What interrupts it ends them all.
trap 'trap - INT TERM; ((${#beside[@]} == 0)) || kill 0; exit 130' INT TERM
