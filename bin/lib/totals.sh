# Adds up what test runners say of themselves. Reads their output from files.

# cargo: "test result: ok. 12 passed; 0 failed; 1 ignored; ..." once for each test binary.
cargo_passed() { awk '/^test result:/ { n += $4 } END { print n + 0 }' "$1"; }
cargo_failed() { awk '/^test result:/ { n += $6 } END { print n + 0 }' "$1"; }

# ExUnit: "2 doctests, 31 tests, 1 failure, 1 skipped", or "Result: 32 passed, 1 failed" from Elixir 1.20 on.
exunit_passed() {
  awk -F', ' '
    /^([0-9]+ (doctest|propert|test)[a-z]*, )+[0-9]+ failure/ {
      for (i = 1; i <= NF; i++) {
        split($i, word, " ")
        n += word[2] ~ /^(doctest|propert|test)/ ? word[1] : word[2] ~ /^(failure|skipped|excluded)/ ? -word[1] : 0
      }
    }
    /^Result: / { sub(/^Result: /, ""); for (i = 1; i <= NF; i++) if ($i ~ / passed/) n += $i + 0 }
    END { print n + 0 }' "$1"
}

exunit_failed() {
  awk -F', ' '
    /^([0-9]+ (doctest|propert|test)[a-z]*, )+[0-9]+ failure/ { for (i = 1; i <= NF; i++) if ($i ~ / failure/) n += $i + 0 }
    /^Result: / { sub(/^Result: /, ""); for (i = 1; i <= NF; i++) if ($i ~ / failed/) n += $i + 0 }
    END { print n + 0 }' "$1"
}
