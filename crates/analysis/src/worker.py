# Runs cells of code one after the other and keeps what they define. One JSON value a line, both ways.
import ast, base64, contextlib, importlib.metadata, importlib.util, io, json, os, sys, traceback

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("MPLCONFIGDIR", os.environ.get("TMPDIR", "/tmp"))
# Cells must neither read nor write the pipes that they are sent through.
requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
os.dup2(2, 1)

PACKAGES = ["pandas", "numpy", "matplotlib", "scipy", "scikit-learn", "statsmodels", "polars", "pyarrow"]
IMPORTS = {"scikit-learn": "sklearn"}
FILES_MAX, FILE_BYTES_MAX = 20, 8 << 20
home = os.path.realpath(os.getcwd())
written = {}


def watch(event, args):
    if event == "open":
        path, mode, flags = args
        writes = bool(mode) and any(c in mode for c in "wax+")
        writes = writes or isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
    elif event == "os.rename":
        path, writes = args[1], True
    else:
        return
    if writes and isinstance(path, (str, bytes, os.PathLike)):
        written[os.path.realpath(os.fsdecode(path))] = True


def found_files():
    found = []
    for path in list(written):
        inner = os.path.relpath(path, home)
        hidden = any(part.startswith((".", "__pycache__")) for part in inner.split(os.sep))
        if hidden or not os.path.isfile(path) or len(found) >= FILES_MAX:
            continue
        size = os.path.getsize(path)
        data = None
        if size <= FILE_BYTES_MAX:
            with open(path, "rb") as file:
                data = base64.b64encode(file.read()).decode("ascii")
        found.append({"name": inner, "bytes": size, "data": data})
    written.clear()
    return found


def packages():
    found, missing = {}, []
    for name in PACKAGES:
        if importlib.util.find_spec(IMPORTS.get(name, name)) is None:
            missing.append(name)
            continue
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    return found, missing


def tell(value):
    answers.write(json.dumps(value) + "\n")
    answers.flush()


def query(sql):
    """Rows of the loaded tables: a DataFrame if pandas is installed, else a list of dicts."""
    tell({"query": sql})
    answer = json.loads(requests.readline())
    if answer.get("error") is not None:
        raise ValueError(answer["error"])
    columns, rows = answer["columns"], answer["rows"]
    if importlib.util.find_spec("pandas") is not None:
        import pandas
        return pandas.DataFrame(rows, columns=columns)
    return [dict(zip(columns, row)) for row in rows]


names = {"__name__": "__main__", "query": query}


def figures():
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    found = []
    for number in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, format="png", dpi=120, bbox_inches="tight")
        found.append(base64.b64encode(picture.getvalue()).decode("ascii"))
    pyplot.close("all")
    return found


def run(code):
    tree = ast.parse(code, "<cell>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        if value is not None:
            print(value)


have, missing = packages()
tell({"python": sys.version.split()[0], "packages": have, "missing": missing})
sys.addaudithook(watch)
for line in requests:
    code = json.loads(line)["code"]
    written.clear()
    output = io.StringIO()
    ok = True
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            run(code)
        except BaseException as error:
            ok = False
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "<cell>"]
            place = f"line {frames[-1].lineno}: " if frames else ""
            place = f"line {error.lineno}: " if isinstance(error, SyntaxError) else place
            print(f"{place}{type(error).__name__}: {error}")
    try:
        images = figures()
    except Exception as error:
        images, ok = [], False
        print(f"a figure cannot be drawn: {error}", file=output)
    files = found_files()
    tell({"ok": ok, "output": output.getvalue()[:2000000], "images": images, "files": files})
