#!/usr/bin/env bash
# Records the transcripts of this folder. Usage: docs/transcripts/record.sh EVERLOOP
#
# Everything in them is real except for the model, which is a script of nine replies: the processes,
# the signal, the database and every line of output come from the binary that is given.
set -euo pipefail

everloop=$(realpath "${1:?the path of an everloop binary}")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
socket=everloop-transcript-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

source "$here/../recording.sh"

# Writes the whole screen, without the empty lines at its end, below a heading.
part() {
    printf '\n#### %s\n\n' "$1"
    screen | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

clear_screen() {
    tmux -L "$socket" send-keys C-l
    tmux -L "$socket" clear-history
}

# script NOTE ITEM1 ITEM2 ITEM2_AT REVIEW QUESTION ANSWER: the replies of the model.
script() {
    python3 - "$@" <<'PYTHON'
import json, sys
report, first, second, second_at, review, question, answer = sys.argv[1:]

def reply(value, delay_ms=0):
    return {"text": json.dumps(value, ensure_ascii=False), "delay_ms": delay_ms}

def act(tool, command):
    return {"status": "continue", "current_step": "", "question": None, "response": None,
            "next_action": {"tool": tool, "input": {"command": command}}}

def done(text):
    return {"status": "done", "current_step": "", "question": None, "response": text, "next_action": None}

def replanned(*items):
    return {"status": "replanned", "plan": [{"task": text, "completed": is_done} for text, is_done in items]}

ask = {"status": "ask_user", "current_step": "", "question": question, "response": None, "next_action": None}
replies = [
    reply({"status": "planned", "plan": [first, second]}),
    reply(act("todo", f'/todo add {report} --due "2030-05-06 18:00"')),
    reply(done(first), 4000),
    reply(replanned((first, True), (second, False))),
    reply(ask),
    reply(replanned((first, True), (second_at, False))),
    reply(act("schedule", f"/schedule add 2030-05-06 09:00 {review} --duration 30")),
    reply(done(second_at)),
    reply({"status": "done", "response": answer}),
]
print(json.dumps({"replies": replies}, ensure_ascii=False))
PYTHON
}

# begin LANGUAGE ZONE: a terminal with a home of its own.
begin() {
    local home=$work/$1
    mkdir -p "$home/bin" "$home/notes"
    ln -s "$everloop" "$home/bin/everloop"
    tmux -L "$socket" -f /dev/null new-session -d -x 92 -y 34 -c "$home/notes" \
        env -i HOME="$home" PATH="$home/bin:/usr/bin:/bin" TERM=xterm-256color LANG="$1.UTF-8" TZ="$2" \
        PS1='$ ' bash --noprofile --norc
    wait_for '^\$'
    clear_screen
}

# kill_everloop: what another terminal would do.
kill_everloop() {
    local shell child
    shell=$(tmux -L "$socket" display-message -p '#{pane_pid}')
    child=$(pgrep -P "$shell" -x everloop)
    kill -9 "$child"
    wait_for 'Killed'
}

record_english() {
    begin en_US Europe/Rome
    script "write the report" "note the report" "arrange the review" "arrange the review at 9:00" \
        review "At what time on 6 May is the review?" \
        "The report is on your list, due 6 May at 18:00; the review is on the same day at 9:00, for 30 minutes." \
        >"$work/en_US/notes/script.json"
    echo "# everloop, really run in tmux (92×34). The model is scripted; all the rest is real."
    echo "# Each part is the whole screen at that moment, wrapped lines joined; lines that begin with #### were added."
    type_line everloop
    wait_for 'Language'
    type_line 2
    wait_for '^›'
    type_line 0
    wait_for '^You ›'
    type_line 'remind me to buy milk tomorrow'
    wait_for 'edit ›'
    type_line y
    wait_for '^Added todo'
    type_line hello
    wait_for '^No LLM'
    part "First run: the language, no model for now; common sentences work all the same"
    tmux -L "$socket" send-keys C-d
    wait_for '^\$$'
    clear_screen
    type_line 'export EVERLOOP_MODEL=scripted/script.json'
    type_line everloop
    wait_for '^You ›'
    type_line 'note the report and arrange the review on 6 May'
    wait_for 'thinking|thinks'
    wait_for '✔ (Added todo|已添加待办)'
    part "A goal: the plan is redrawn in place (this is how it looks on the way)"
    wait_for 'At what time'
    wait_for '^You ›$'
    part "The model has a question; the task waits"
    kill_everloop
    part "From another terminal: kill -9"
    clear_screen
    type_line everloop
    wait_for 'At what time'
    type_line 'at nine'
    wait_for '^succeeded'
    type_line '/todo list'
    wait_for '^ID'
    type_line '/schedule view day 2030-05-06'
    wait_for '09:00-09:30'
    part "Started again: the question is still there, and the next line answers it"
    tmux -L "$socket" send-keys C-d
    wait_for '^\$$'
    clear_screen
    type_line 'everloop runs list'
    wait_for '^[0-9a-z]{8}  '
    type_line "everloop replay --verify $(screen | grep -oE '^[0-9a-z]{8}  ' | head -1)"
    wait_for 'Not checked'
    wait_for '^\$$'
    part "One run; its journal is verified"
    tmux -L "$socket" kill-server
}

record_chinese() {
    begin zh_CN Asia/Shanghai
    script "写周报" "记下周报" "约好评审" "约好 9 点的评审" "评审" "评审在 5 月 6 日几点？" \
        "周报已记下，5 月 6 日 18:00 截止；评审约在当天 9:00，30 分钟。" >"$work/zh_CN/notes/script.json"
    echo "# 在 tmux（92×34）里真实运行 everloop 的记录。模型是脚本（scripted），其余都是真的。"
    echo "# 每一段是当时屏幕的全部内容（折行已接上）；#### 开头的行是后加的说明。"
    type_line everloop
    wait_for 'Language'
    type_line 1
    wait_for '^›'
    type_line 0
    wait_for '^你 ›'
    type_line '明天下午3点开会'
    wait_for '修改 ›'
    type_line y
    wait_for '^已添加日程'
    type_line '你好'
    wait_for '^当前未配置'
    part "第一次运行：选语言，先不配置模型；常用句子照样可用"
    tmux -L "$socket" send-keys C-d
    wait_for '^\$$'
    clear_screen
    type_line 'export EVERLOOP_MODEL=scripted/script.json'
    type_line everloop
    wait_for '^你 ›'
    type_line '记下周报，约好 5 月 6 日的评审'
    wait_for '正在思考'
    wait_for '✔ (Added todo|已添加待办)'
    part "说一个目标：计划在原处刷新（这是途中的样子）"
    wait_for '^请确认'
    wait_for '^你 ›$'
    part "模型有一个问题；任务等着"
    kill_everloop
    part "在另一个终端里：kill -9"
    clear_screen
    type_line everloop
    wait_for '^请确认'
    type_line '九点'
    wait_for '^成功'
    type_line '/todo list'
    wait_for '^编号'
    type_line '/schedule view day 2030-05-06'
    wait_for '09:00-09:30'
    part "重新启动：问题还在，下一行就是回答"
    tmux -L "$socket" send-keys C-d
    wait_for '^\$$'
    clear_screen
    type_line 'everloop runs list'
    wait_for '^[0-9a-z]{8}  '
    type_line "everloop replay --verify $(screen | grep -oE '^[0-9a-z]{8}  ' | head -1)"
    wait_for '^未检查'
    wait_for '^\$$'
    part "只有一个运行；日志验证通过"
    tmux -L "$socket" kill-server
}

record_english >"$here/first-run-and-chat.en.txt"
record_chinese >"$here/first-run-and-chat.zh.txt"
