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
# Figures and files of one cell together: an answer is one line.
TOTAL_BYTES_MAX = 24 << 20
OUTPUT_CHARS_MAX = 2_000_000
home = os.path.realpath(os.getcwd())
# Files that the running cell wrote, and those that any cell did.
written, made = {}, set()
# Whether the running cell read data.
reads = False


def within(path, folders):
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


# Python and its packages, and what systems keep in files.
INSTALLED = {os.path.realpath(path) for path in [sys.prefix, sys.base_prefix, *sys.path] if path}
INSTALLED = [path for path in INSTALLED if not within(home, [path])]
SYSTEM = ["/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/opt", "/var/cache"]
SYSTEM += [os.path.realpath(os.environ[name]) for name in ["TMPDIR", "MPLCONFIGDIR"] if os.environ.get(name)]
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn")


def is_data(path):
    if path is None:
        path = home
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    path = os.path.realpath(os.fsdecode(path))
    if path in made or path.endswith((".py", ".pyc", ".so")) or within(path, INSTALLED):
        return False
    return (within(path, [home]) or not within(path, SYSTEM)) and os.path.exists(path)


def watch(event, args):
    global reads
    writes = False
    if event == "open":
        path, mode, flags = args
        writes = bool(mode) and any(c in mode for c in "wax+")
        writes = writes or isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
        reads = reads or not writes and is_data(path)
    elif event == "os.rename":
        path, writes = args[1], True
    elif event in ("os.listdir", "os.scandir", "sqlite3.connect"):
        reads = reads or is_data(args[0])
    elif event.startswith(STARTS):
        reads = True
    if writes and isinstance(path, (str, bytes, os.PathLike)):
        path = os.path.realpath(os.fsdecode(path))
        if not os.path.exists(path):
            made.add(path)
        written[path] = True


def names_data(tree):
    """Whether code names a file that is there: packages of other languages open it themselves."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 4096:
            path = os.path.join(home, node.value)
            if "\0" not in path and os.path.isfile(path) and is_data(path):
                return True
    return False


def clean(text):
    return text.encode("utf-8", "replace").decode("utf-8")


def found_files(left):
    found = []
    for path in list(written):
        inner = os.path.relpath(path, home)
        hidden = any(part.startswith((".", "__pycache__")) for part in inner.split(os.sep))
        if hidden or not os.path.isfile(path) or len(found) >= FILES_MAX:
            continue
        size = os.path.getsize(path)
        data = None
        if size <= min(FILE_BYTES_MAX, left):
            with open(path, "rb") as file:
                content = file.read(size)
            left -= len(content)
            data = base64.b64encode(content).decode("ascii")
        found.append({"name": clean(inner), "bytes": size, "data": data})
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
    global reads
    reads = True
    tell({"query": clean(sql)})
    answer = json.loads(requests.readline())
    if answer.get("error") is not None:
        raise ValueError(answer["error"])
    columns, rows = answer["columns"], answer["rows"]
    if importlib.util.find_spec("pandas") is not None:
        import pandas
        return pandas.DataFrame(rows, columns=columns)
    return [dict(zip(columns, row)) for row in rows]


names = {"__name__": "__main__", "query": query}


def figures(output):
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return [], 0
    found, size = [], 0
    for number in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, format="png", dpi=120, bbox_inches="tight")
        if size + len(picture.getvalue()) > TOTAL_BYTES_MAX:
            print(f"figure {number} is left out: the figures of one cell may have {TOTAL_BYTES_MAX >> 20} MiB", file=output)
            continue
        size += len(picture.getvalue())
        found.append(base64.b64encode(picture.getvalue()).decode("ascii"))
    pyplot.close("all")
    return found, size


def run(code):
    global reads
    tree = ast.parse(code, "<cell>")
    reads = names_data(tree)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        if value is not None:
            print(value)


def shown(output):
    text = clean(output.getvalue())
    if len(text) <= OUTPUT_CHARS_MAX:
        return text
    return f"{text[:OUTPUT_CHARS_MAX]}\n[cut: it printed {len(text)} characters]\n"


have, missing = packages()
tell({"python": sys.version.split()[0], "packages": have, "missing": missing})
sys.addaudithook(watch)
for line in requests:
    request = json.loads(line)
    written.clear()
    reads = False
    output = io.StringIO()
    ok = True
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            run(request["code"])
        except BaseException as error:
            ok = False
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == "<cell>"]
            place = f"line {frames[-1].lineno}: " if frames else ""
            place = f"line {error.lineno}: " if isinstance(error, SyntaxError) else place
            print(f"{place}{type(error).__name__}: {error}")
    has_read = reads
    try:
        images, size = figures(output)
    except Exception as error:
        images, size, ok = [], 0, False
        print(f"a figure cannot be drawn: {error}", file=output)
    files = found_files(TOTAL_BYTES_MAX - size)
    answer = {"number": request["number"], "ok": ok, "output": shown(output), "reads": has_read}
    tell({**answer, "images": images, "files": files})
