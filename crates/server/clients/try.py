"""Other people's clients against a real server: the openai package, and schemathesis on the API document.

usage: try.py PATH_OF_EVERLOOP
Exits with 1 if anything is not as it should be. Everything happens on loopback, in a folder of its own.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import openai

TOKEN = "test-token-0123456789"
ANSWER = "Hello there."

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
    "unsupported_method",
    "allow_header_conformance",
]

# Every other check and phase, with the reason. They are printed, so that nobody takes them for passed.
LEFT_OUT = {
    "negative_data_rejection": "texts such as dates and zones are refused by rules that no schema states",
    "positive_data_acceptance": "the same: a text that the schema allows may name no date, loop or folder",
    "missing_required_header": "no header but the token is required, which ignored_auth covers",
    "use_after_free": "needs links between operations, which the document does not have",
    "ensure_resource_availability": "needs links between operations",
    "object_level_authorization": "there is one owner",
    "phase stateful": "needs links between operations",
    "phase examples": "the document has no examples; docs/api.md has them, and a test runs them",
}

# One pixel.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def start(program, home):
    script = home / "script.json"
    script.write_text(json.dumps({"replies": [{"text": ANSWER}] * 50}))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "EVERLOOP_HOME": str(home / "everloop"),
        "EVERLOOP_LANG": "en",
        "EVERLOOP_TOKEN": TOKEN,
        "EVERLOOP_MODEL": f"scripted/{script}",
        "EVERLOOP_SERVER__REQUESTS_PER_MINUTE": "0",
    }
    work = home / "work"
    work.mkdir()
    arguments = [program, "serve", "--json", "--quiet", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(arguments, cwd=work, env=environment, stdout=subprocess.PIPE, text=True)
    url = json.loads(server.stdout.readline())["url"]
    return server, url


def talk(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=TOKEN, max_retries=0)
    names = [model.id for model in client.models.list()]
    assert "everloop" in names and "everloop/react" in names, names
    said = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    whole = client.chat.completions.create(model="everloop/react", messages=said)
    assert whole.choices[0].message.content == ANSWER, whole
    pieces = client.chat.completions.create(model="everloop", messages=said, stream=True)
    streamed = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    assert streamed == ANSWER, streamed
    response = client.responses.create(model="everloop", input="hi")
    assert response.output_text == ANSWER and response.status == "completed", response
    text, last = "", None
    for event in client.responses.create(model="everloop", input="hi", stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        last = event.type
    assert text == ANSWER and last == "response.completed", (text, last)
    assert client.responses.retrieve(response.id).output_text == ANSWER
    assert client.models.retrieve("everloop/react").id == "everloop/react"
    told = client.responses.create(
        model="everloop", input="and now?", instructions="Be brief.", previous_response_id=response.id
    )
    assert (told.instructions, told.previous_response_id) == ("Be brief.", response.id), told
    seen = client.responses.retrieve(told.id)
    assert (seen.instructions, seen.previous_response_id) == ("Be brief.", response.id), seen
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    shown = [{"role": "user", "content": [{"type": "text", "text": "what is this?"}, picture]}]
    seen = client.chat.completions.create(model="everloop", messages=shown)
    assert seen.choices[0].message.content == ANSWER, seen
    picture["image_url"]["url"] = "https://example.invalid/x.png"
    try:
        client.chat.completions.create(model="everloop", messages=shown)
        raise AssertionError("a picture that nobody fetches was accepted")
    except openai.UnprocessableEntityError as refused:
        assert refused.code == "invalid_input" and refused.param == "messages", refused.body
        assert "data:" in refused.body["message"], refused.body
    try:
        client.models.retrieve("gpt-5")
        raise AssertionError("a model that there is not was found")
    except openai.NotFoundError as refused:
        assert refused.code == "not_found", refused.body
    try:
        openai.OpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0).models.list()
        raise AssertionError("a wrong key was accepted")
    except openai.AuthenticationError:
        pass
    print("openai: models, chat completions and responses, whole and streamed; instructions, pictures, errors")


def examine(url, home):
    arguments = [
        str(pathlib.Path(sys.executable).with_name("schemathesis")),
        "run", f"{url}/openapi.json",
        "--header", f"Authorization: Bearer {TOKEN}",
        "--checks", ",".join(CHECKS),
        "--phases", "coverage,fuzzing",
        "--max-examples", os.environ.get("EVERLOOP_API_EXAMPLES", "5"),
        "--generation-deterministic",
        # A comparison of all loops takes its time on a busy machine.
        "--request-timeout", "120",
    ]
    done = subprocess.run(arguments, cwd=home, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    counts = (line.strip() for line in lines if " generated" in line)
    cases = next((line for line in counts if line[:1].isdigit()), "no cases")
    if done.returncode != 0:
        print(done.stdout[-6000:], done.stderr[-2000:], sep="\n")
        raise AssertionError("schemathesis found something")
    print(f"schemathesis: {cases}; checks: {', '.join(CHECKS)}")
    for name, reason in LEFT_OUT.items():
        print(f"schemathesis, left out: {name}: {reason}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        server, url = start(sys.argv[1], home)
        try:
            talk(url)
            examine(url, home)
        finally:
            server.terminate()
            server.wait(timeout=30)


if __name__ == "__main__":
    main()
