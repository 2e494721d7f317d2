#!/usr/bin/env python3
"""Measures the chat on a real pseudo-terminal against a model server on loopback.

    cargo build --release && python3 crates/cli/benches/terminal.py target/release/everloop

Prints: key press to echo while an answer streams, first token to screen, processor time per
streamed chunk, and what "hello" costs. Only Python's standard library is used.
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEYS = 200
GREETINGS = 40
CHUNKS = 3000
PATIENCE = 60


class Endpoint(ThreadingHTTPServer):
    """An OpenAI-compatible server whose answers depend on the last message."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.sent_at = {}
        self.requests = 0
        self.stop = threading.Event()
        self.all_sent = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = b'{"data":[{"id":"mock"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        asked = json.loads(self.rfile.read(length))
        said = json.dumps(asked["messages"][-1], ensure_ascii=False)
        self.server.requests += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            self.answer(said)
            self.event({}, "stop")
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.close_connection = True

    def answer(self, said):
        if "stream until told" in said:
            at = 0
            while not self.server.stop.wait(0.004):
                self.event({"content": f"word {at} of a **long** answer. "}, None)
                at += 1
        elif "stream quickly" in said:
            for at in range(CHUNKS):
                new_line = "\n\n" if at % 12 == 11 else " "
                self.event({"content": f"word `{at}`{new_line}"}, None)
            self.server.all_sent.set()
        elif "greet " in said:
            mark = said.split("greet ")[1].split("!")[0]
            self.server.sent_at[mark] = time.monotonic()
            self.event({"content": f"first{mark} and more"}, None)
        else:
            answer = {"status": "done", "response": "Hello! How can I help?"}
            self.event({"content": json.dumps(answer)}, None)

    def event(self, delta, stop):
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        body = {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
        self.wfile.write(f"data: {json.dumps(body)}\n\n".encode())
        self.wfile.flush()


class Chat:
    """The program on a pseudo-terminal of 100 by 30."""

    def __init__(self, program, endpoint, home, *more):
        folder = os.path.join(home, "work")
        os.makedirs(folder, exist_ok=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "TERM": "xterm-256color",
            "EVERLOOP_HOME": os.path.join(home, "data"),
            "EVERLOOP_LANG": "en",
            "EVERLOOP_MODEL": "openai/mock",
            "EVERLOOP_CHAT__TITLES": "off",
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{endpoint.server_address[1]}/v1",
        }
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(program, [program, "chat", *more], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.seen = b""

    def read(self, seconds):
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if ready:
            self.seen += os.read(self.terminal, 65536)
            # The answers to questions that a program may ask its terminal.
            for question, answer in ((b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[c", b"\x1b[?62c")):
                if question in self.seen:
                    self.seen = self.seen.replace(question, b"")
                    os.write(self.terminal, answer)

    def until(self, words):
        words = words.encode()
        end = time.monotonic() + PATIENCE
        while words not in self.seen:
            if time.monotonic() > end:
                sys.exit(f"{words!r} did not come: {self.seen[-2000:]!r}")
            self.read(0.5)
        self.seen = self.seen[self.seen.index(words) + len(words) :]
        return time.monotonic()

    def types(self, text):
        os.write(self.terminal, text.encode())

    def processor_seconds(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def leave(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def percentiles(times):
    times = sorted(times)
    at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))]
    return f"p50 {at(0.5):.2f} ms, p99 {at(0.99):.2f} ms ({len(times)} times)"


def hello(chat, endpoint):
    chat.until("› ")
    before = endpoint.requests
    chat.types("hello\r")
    chat.until("How can I help?")
    chat.until("› ")
    print(f'"hello": {endpoint.requests - before} request(s)')


def first_token_to_screen(chat, endpoint):
    chat.types("/loop react\r")
    chat.until("› ")
    times = []
    for at in range(GREETINGS):
        chat.types(f"greet q{at}q!\r")
        shown = chat.until(f"firstq{at}q")
        times.append(shown - endpoint.sent_at[f"q{at}q"])
        chat.until("› ")
    print(f"first token to screen: {percentiles(times)}")


def key_to_echo(chat, endpoint):
    chat.types("stream until told\r")
    chat.until("word 5 ")
    times = []
    for at in range(KEYS):
        # Each key is another character, so that its echo cannot be mistaken.
        key = chr(0x4E00 + at)
        typed = time.monotonic()
        chat.types(key)
        times.append(chat.until(key) - typed)
    endpoint.stop.set()
    print(f"key press to echo while an answer streams: {percentiles(times)}")


def processor_per_chunk(program, endpoint, home):
    chat = Chat(program, endpoint, home, "--loop", "react")
    chat.until("› ")
    before = chat.processor_seconds()
    chat.types("stream quickly\r")
    chat.until(f"{CHUNKS - 1}")
    spent = chat.processor_seconds() - before
    chat.leave()
    print(f"processor time per streamed chunk: {1e6 * spent / CHUNKS:.0f} µs ({CHUNKS} chunks)")


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/everloop")
    endpoint = Endpoint()
    with tempfile.TemporaryDirectory() as home:
        chat = Chat(program, endpoint, home)
        hello(chat, endpoint)
        first_token_to_screen(chat, endpoint)
        key_to_echo(chat, endpoint)
        chat.leave()
    with tempfile.TemporaryDirectory() as home:
        processor_per_chunk(program, endpoint, home)


main()
