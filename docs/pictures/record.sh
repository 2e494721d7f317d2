#!/usr/bin/env bash
# Records the session of kill-and-recover.svg and draws it. Usage: docs/pictures/record.sh EVERLOOP
#
# Everything in the picture is real except for the model, which is a script of three replies: the
# processes, the signal, the database and every line of output come from the binary that is given.
set -euo pipefail

everloop=$(realpath "${1:?the path of an everloop binary}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
socket=everloop-picture-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
columns=108

source "$here/../recording.sh"

# record LANGUAGE GOAL ANSWER FILE TITLE
record() {
    local lang=$1 goal=$2 answer=$3 file=$4 title=$5 home=$work/$1
    mkdir -p "$home/bin" "$home/invoices"
    ln -s "$everloop" "$home/bin/everloop"
    cat >"$home/script.json" <<END
{"replies": [
  {"calls": [{"tool": "shell", "args": {"command": "echo paid >> ledger.txt; sleep 60"}}]},
  {"calls": [{"tool": "read_file", "args": {"path": "ledger.txt"}}]},
  {"text": "$answer"}]}
END
    tmux -L "$socket" -f /dev/null new-session -d -x "$columns" -y 40 -c "$home/invoices" \
        env -i HOME="$home" PATH="$home/bin:/usr/bin:/bin" TERM=xterm-256color LANG=C.UTF-8 \
        EVERLOOP_HOME="$home/data" EVERLOOP_LANG="$lang" EVERLOOP_MODEL="scripted/$home/script.json" \
        OPENAI_BASE_URL=http://127.0.0.1:9/v1 PS1='$ ' bash --noprofile --norc
    wait_for '^\$'
    type_line "everloop run --loop react --yes \"$goal\" & sleep 4; kill -9 \$!; sleep 1"
    wait_for '^→ \$'
    wait_for '^\$$'
    wait_for Killed
    local run
    run=$(screen | grep -oE '(Run|任务) [0-9a-z]{8}' | head -1 | grep -oE '[0-9a-z]{8}$')
    type_line "everloop runs resume $run"
    wait_for 'runs settle'
    wait_for '^\$$'
    type_line 'echo "exit code $?"; cat ledger.txt'
    wait_for '^paid'
    screen | sed -e '/^\$\{0,1\}$/d' | draw "$title" >"$here/$file"
    tmux -L "$socket" kill-server
}

# Draws the lines of a terminal as an SVG picture; long lines are folded at a space.
draw() {
    fold_lines | awk -v title="$1" -v columns="$columns" '
        function escape(text) {
            gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text)
            return text
        }
        function class_of(line) {
            if (line ~ /^\$ /) return "typed"
            if (line ~ /Killed/) return "bad"
            if (line ~ /^ *✖/) return "bad"
            if (line ~ /^ *✔/) return "good"
            if (line ~ /^↻/) return "new"
            if (line ~ /^→/) return "call"
            if (line ~ /^(exit code|paid)/) return "good"
            return "plain"
        }
        { lines[NR] = $0 }
        END {
            width = columns * 7.82 + 32; height = NR * 19 + 58
            printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n", width, height
            printf "<title>%s</title>\n", escape(title)
            print "<style>"
            print "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,\"Noto Sans Mono CJK SC\",monospace;white-space:pre}"
            print ".plain{fill:#c9d1d9}.typed{fill:#fff;font-weight:bold}.bad{fill:#ff7b72}.good{fill:#7ee787}"
            print ".new{fill:#e3b341}.call{fill:#79c0ff}.title{fill:#8b949e}"
            print "</style>"
            printf "<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#0d1117\" stroke=\"#30363d\"/>\n", width, height
            print "<circle cx=\"20\" cy=\"18\" r=\"5\" fill=\"#ff5f56\"/><circle cx=\"38\" cy=\"18\" r=\"5\" fill=\"#ffbd2e\"/>" \
                "<circle cx=\"56\" cy=\"18\" r=\"5\" fill=\"#27c93f\"/>"
            printf "<text class=\"title\" x=\"%d\" y=\"22\" text-anchor=\"middle\">%s</text>\n", width / 2, escape(title)
            for (at = 1; at <= NR; at++) {
                if (lines[at] !~ /^\001/) class = class_of(lines[at])
                sub(/^\001/, "", lines[at])
                printf "<text class=\"%s\" x=\"16\" y=\"%d\" xml:space=\"preserve\">%s</text>\n", class, at * 19 + 38, escape(lines[at])
            }
            print "</svg>"
        }'
}

# A line that is too long goes on below, with "\001" before the rest; wide letters count twice.
fold_lines() {
    COLUMNS=$columns perl -CSD -ne '
        chomp; my ($line, $width) = ("", 0);
        for my $word (split /(?<= )/) {
            my $cells = length($word) + (() = $word =~ /[\p{Han}\x{3000}-\x{303f}\x{ff00}-\x{ff60}]/g);
            if ($width + $cells > $ENV{COLUMNS}) { print "$line\n"; ($line, $width) = ("\001    ", 4); }
            $line .= $word; $width += $cells;
        }
        print "$line\n";'
}

record en "Pay invoice 7, note it in ledger.txt" \
    "The payment was interrupted. The ledger shows one entry, so I did not pay again." \
    kill-and-recover.svg "kill -9 in the middle of a payment, and the recovery"
record zh-CN "支付 7 号发票，记入 ledger.txt" \
    "付款被中断。账本里已有一笔记录，所以我没有再付。" \
    kill-and-recover.zh-CN.svg "付款执行到一半时 kill -9，然后恢复"
