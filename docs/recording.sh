# What the scripts that record a terminal share. They set `socket` and `work`, and source this file.

# The screen, without blanks at the ends of lines; the home of the recording is `~`.
screen() { tmux -L "$socket" capture-pane -p -J | sed -e 's/[[:space:]]*$//' -e "s|$work/[a-zA-Z_-]*|~|g"; }

type_line() {
    tmux -L "$socket" send-keys -l "$1"
    tmux -L "$socket" send-keys Enter
}

# Waits until a line of the screen matches the pattern $1.
wait_for() {
    for _ in $(seq 300); do
        if screen | grep -qE "$1"; then return; fi
        sleep 0.1
    done
    echo "the screen never showed: $1" >&2
    screen >&2
    exit 1
}
