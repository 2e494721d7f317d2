# Loads the data of this report as data_manifest.json says, makes its queries again and runs its
# code. It needs Python 3.9 and its own library; Excel and Parquet need pandas.
#
#   python3 analysis.py                      the data where it was, or beside the report
#   python3 analysis.py --data FOLDER        the data in another folder
#   python3 analysis.py --save data.sqlite   keeps the tables; then: sqlite3 data.sqlite < analysis.sql
import argparse, csv, datetime, decimal, functools, gzip, importlib.util, io, itertools, json, math, os, re, sqlite3, statistics, sys, zipfile

HERE = os.path.dirname(os.path.abspath(globals().get("__file__", "analysis.py")))
parser = argparse.ArgumentParser()
parser.add_argument("--data", default="")
parser.add_argument("--save", default=":memory:")
options, _ = parser.parse_known_args()
with open(os.path.join(HERE, "data_manifest.json"), encoding="utf-8") as file:
    manifest = json.load(file)
csv.field_size_limit(1 << 30)
decimal.getcontext().prec = 60

NOTHING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "\\n", "?", "missing",
           "\u65e0", "\u7f3a\u5931", "\u7a7a", "\u672a\u77e5"}
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september",
          "october", "november", "december"]
CODECS = {"windows-874": "cp874", "x-mac-cyrillic": "mac_cyrillic", "macintosh": "mac_roman",
          "ISO-8859-8-I": "iso-8859-8", "IBM866": "cp866"}
CURRENCY = "\u00a5\uffe5$\u20ac\u00a3\u20b9\u5143"


def places(table):
    name = os.path.basename(table["file"])
    if options.data:
        yield os.path.join(options.data, name)
    yield table["file"]
    if table.get("beside"):
        yield os.path.join(HERE, table["beside"])
    yield os.path.join(HERE, name)
    yield os.path.join(HERE, "..", name)


def stem(name):
    name = os.path.basename(name)
    endings = (".gz", ".zst", ".zip", ".csv", ".tsv", ".txt", ".tab", ".jsonl", ".ndjson", ".json")
    while name.lower().endswith(endings) and len(name) > 4:
        name = name[: name.rindex(".")]
    return name


def opened(table):
    """The bytes of a table, unpacked."""
    path = next((path for path in places(table) if os.path.isfile(path)), None)
    if path is None:
        sys.exit(f"{table['file']} is not there: name its folder with --data")
    with open(path, "rb") as file:
        start = file.read(4)
    if start[:2] == b"\x1f\x8b":
        return path, gzip.open(path, "rb")
    if start == b"PK\x03\x04" and table["form"] in ("delimited", "json", "json_lines"):
        packed = zipfile.ZipFile(path)
        names = [name for name in packed.namelist() if not name.endswith("/") and "__MACOSX" not in name]
        names = [name for name in names if stem(name) == table.get("part")] or names
        return path, packed.open(names[0])
    if start == b"\x28\xb5\x2f\xfd":
        sys.exit(f"{path} is packed with Zstandard: unpack it with `unzstd` and edit data_manifest.json")
    return path, open(path, "rb")


def text_of(table, raw):
    name = table["notes"].get("encoding") or "UTF-8"
    lines = io.TextIOWrapper(raw, encoding=CODECS.get(name, name), errors="replace", newline="")
    for at, line in enumerate(lines):
        yield (line.lstrip("\ufeff") if at == 0 else line).replace("\0", "")


def delimited(table, raw):
    notes, width = table["notes"], len(table["columns"])
    separator = notes.get("separator") or ","
    lines = itertools.islice(text_of(table, raw), 1 if notes.get("separator_line") else 0, None)
    if separator == " ":
        run = r" {2,}" if notes.get("wide_blanks") else r" +"
        lines, separator = (re.sub(run, "\x1f", line.strip()) + "\n" for line in lines), "\x1f"
    records = (row for row in csv.reader(lines, delimiter=separator) if row)
    for row in itertools.islice(records, notes.get("title_rows", 0) + bool(notes.get("has_header")), None):
        if len(row) == 1 and width > 1 and not row[0].strip():
            continue
        yield (row + [None] * width)[:width]


class Digits(str):
    """A number of JSON or Parquet as it is written."""


def flat(value, before="", depth=1):
    for key, inner in value.items():
        name = f"{before}.{key}" if before else key
        if isinstance(inner, dict) and inner and depth < 3:
            yield from flat(inner, name, depth + 1)
        else:
            yield name, json.dumps(inner, ensure_ascii=False) if isinstance(inner, (dict, list)) else inner


def records(table, raw):
    numbers = {"parse_float": Digits, "parse_int": Digits}
    if table["form"] == "json_lines":
        for line in text_of(table, raw):
            try:
                yield json.loads(line, **numbers)
            except ValueError:
                pass
        return
    value = json.loads("".join(text_of(table, raw)), **numbers)
    if isinstance(value, dict):
        lists = (own for own in value.values() if isinstance(own, list) and own and isinstance(own[0], dict))
        value = next(lists, [value])
    yield from value if isinstance(value, list) else [value]


def json_rows(table, raw):
    names = [column.get("named") or column["name"] for column in table["columns"]]
    for record in records(table, raw):
        if isinstance(record, dict):
            found = dict(flat(record))
        elif isinstance(record, list):
            found = {f"column_{at + 1}": value for at, value in enumerate(record)}
        else:
            found = {"value": record}
        yield [found.get(name) for name in names]


def frames(table, path):
    try:
        import pandas
    except ImportError:
        sys.exit(f"{path}: Excel and Parquet need pandas: python3 -m pip install pandas openpyxl pyarrow")
    if table["form"] == "parquet":
        frame = pandas.read_parquet(path)
        for name in [column.get("named") or column["name"] for column in table["columns"]]:
            if name not in frame:
                first, *inner = name.split(".")
                frame[name] = [functools.reduce(lambda own, key: own and own.get(key), inner, own) for own in frame[first]]
        frame = frame[[column.get("named") or column["name"] for column in table["columns"]]]
    else:
        frame = pandas.read_excel(path, sheet_name=table.get("part") or 0, header=None, dtype=object)
        frame = frame.dropna(how="all").dropna(axis=1, how="all")
        frame = frame.iloc[table["notes"].get("title_rows", 0) + bool(table["notes"].get("has_header")) :]
    for row in frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None):
        row = [Digits(format(v, "f")) if isinstance(v, decimal.Decimal) else v for v in row]
        yield [str(v) if isinstance(v, (datetime.date, datetime.time)) else v for v in row]


def ungrouped(whole, separator):
    if separator not in whole:
        return whole
    groups = whole.split(separator)
    fine = 1 <= len(groups[0]) <= 3 and groups[0][0] != "0"
    return whole.replace(separator, "") if fine and all(re.fullmatch(r"[0-9]{3}", g) for g in groups[1:]) else None


def number(text, plan):
    """The number and whether it had a percent sign; nothing if it is none."""
    text = "".join(chr(ord(c) - 0xFEE0) if "\uff10" <= c <= "\uff19" or c in "\uff0c\uff0e" else c for c in text)
    text = re.sub(r"[\s'\u2019]", " ", text).strip()
    signs = {"\u00a5" if c in "\u00a5\uffe5\u5143" else c for c in text if c in CURRENCY}
    if len(signs) > 1 or signs and signs != {plan.get("currency")}:
        return None
    negative = len(text) > 2 and text[0] == "(" and text[-1] == ")"
    text = (text[1:-1] if negative else text).strip(CURRENCY + " ")
    percent = text[-1:] in ("%", "\uff05")
    text = text[:-1].rstrip() if percent else text
    if text[:1] in ("-", "\u2212") and not negative:
        negative, text = True, text[1:]
    text = text.removeprefix("+").lstrip(CURRENCY + " ")
    thousands, point = (",", ".") if plan["numbers"] == "point" else (".", ",")
    whole, _, part = text.partition(point)
    whole = ungrouped(whole, " " if " " in whole else thousands)
    if whole is None or not re.fullmatch(r"[0-9]*", whole) or not re.fullmatch(r"[0-9]*([eE][-+]?[0-9]+)?", part):
        if whole is None or not re.fullmatch(r"[0-9]+[eE][-+]?[0-9]+", whole) or part:
            return None
    if not (whole + part):
        return None
    found = decimal.Decimal((whole or "0") + ("." + part if part else ""))
    return (-found if negative else found), percent


def kept(value, has_point=False):
    """As SQLite keeps it without losing a digit."""
    if value == value.to_integral_value() and -(2**63) <= value < 2**63:
        if not has_point:
            return int(value)
        if abs(value) <= 2**53:
            return float(value)
    return float(value) if decimal.Decimal(repr(float(value))) == value else format(value.normalize(), "f").encode()


def clock(text):
    """Seconds of a day, billionths, and minutes ahead of UTC."""
    text, ahead = text.strip().upper(), None
    zone = re.search(r"(?:UTC|GMT|Z)$|(?: ?(?:UTC|GMT))?([-+])([0-9]{2}):?([0-9]{2})?$", text)
    if zone and zone.start() >= 4:
        sign, hours, minutes = zone.groups()
        ahead = (int(hours) * 60 + int(minutes or 0)) * (-1 if sign == "-" else 1) if sign else 0
        text = text[: zone.start()].strip()
    found = re.fullmatch(r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:[.,]([0-9]*))?)? ?(AM|PM)?", text)
    if not found:
        return None
    hour, minute, second = (int(part or 0) for part in found.group(1, 2, 3))
    half = found.group(5)
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "PM" else 0)
    elif half == "AM":
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    return hour * 3600 + minute * 60 + second, ((found.group(4) or "") + "0" * 9)[:9], ahead


def day(text, style):
    """The date and what follows it."""
    if style == "named":
        found = re.match(r"(?:([0-9]{1,2})(?:st|nd|rd|th)?[ ,\-/.]+([a-z]{3,})|([a-z]{3,})[ ,\-/.]+([0-9]{1,2})(?:st|nd|rd|th)?)[ ,\-/.]+([0-9]{4})(?![0-9])", text, re.I)
        if not found:
            return None
        name, of_month = (found.group(2) or found.group(3)).lower(), found.group(1) or found.group(4)
        name = "sep" if name == "sept" else name
        month = next((at + 1 for at, own in enumerate(MONTHS) if name in (own, own[:3])), 0)
        parts = int(found.group(5)), month, int(of_month)
    else:
        found = re.match(r"([0-9]{1,4})[-/.\u5e74]([0-9]{1,4})[-/.\u6708]([0-9]{1,4})\u65e5?", text)
        if not found:
            return None
        one, two, three = (int(part) for part in found.groups())
        first = len(found.group(1))
        if (style == "year_first") != (first == 4) or style != "year_first" and first > 2:
            return None
        parts = {"year_first": (one, two, three), "day_first": (three, two, one), "month_first": (three, one, two)}[style]
    try:
        return datetime.datetime(*parts), text[found.end() :].lstrip("T \u3000,")
    except ValueError:
        return None


def moment(text, plan, style):
    found = day(text, style)
    if not found:
        return None
    date, rest = found
    if plan["kind"] == "date":
        return None if rest else date.strftime("%Y-%m-%d").rjust(10, "0")
    seconds, part, ahead = (clock(rest) if rest else (0, "", None)) or (None, None, None)
    if seconds is None:
        return None
    if ahead is not None and plan.get("zone") is not None:
        date += datetime.timedelta(minutes=plan["zone"] - ahead)
    part = part.rstrip("0")
    return (date + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S") + ("." + part if part else "")


def converted(value, plan):
    """The value, and whether it fits its column."""
    kind = plan["kind"]
    # In a column of text a word such as NA may mean something.
    nothing = {""} if kind == "text" else NOTHING
    if value is None or isinstance(value, str) and value.strip().lower() in nothing:
        return None, True
    if isinstance(value, bool):
        return (int(value), True) if kind == "boolean" else (str(value).lower(), kind == "text")
    if isinstance(value, (int, float)):
        value = Digits(repr(value))
    if kind == "text":
        return str(value), True
    text = value.strip()
    if kind == "boolean":
        found = {"true": 1, "false": 0}.get(text.lower() if text in ("true", "TRUE", "True", "false", "FALSE", "False") else "")
        return found, found is not None
    if kind in ("date", "date_time"):
        found = moment(text, plan, plan["dates"]) or moment(text, plan, "year_first")
        return found, found is not None
    found = number(text, {**plan, "numbers": "point"} if isinstance(value, Digits) else plan)
    if found is None or found[1] != (plan["is_percent"] and not isinstance(value, Digits)):
        return None, False
    found = found[0] / 100 if found[1] else found[0]
    return (None, False) if kind == "integer" and found != found.to_integral_value() else (kept(found, kind == "decimal"), True)


class ExactSum:
    """Adds decimals exactly: a thousand times 0.1 is 100."""

    def __init__(self):
        self.sum, self.count, self.has_point = decimal.Decimal(0), 0, False

    def step(self, value, sign=1):
        if value is None or isinstance(value, str):
            return
        self.has_point |= isinstance(value, float) or isinstance(value, bytes) and b"." in value
        value = decimal.Decimal(value.decode() if isinstance(value, bytes) else repr(value))
        self.sum, self.count = self.sum + sign * value, self.count + sign

    def inverse(self, value):
        self.step(value, -1)

    def value(self):
        return self.finalize()

    def finalize(self):
        if not self.count:
            return None
        return kept(self.sum, self.has_point)


class ExactTotal(ExactSum):
    def finalize(self):
        return kept(self.sum, True) if self.count else 0.0


class ExactMean(ExactSum):
    def finalize(self):
        return float(self.sum / self.count) if self.count else None


def numeric(value):
    return None if value is None or isinstance(value, str) else float(value)


def rounded(value, places=0):
    if numeric(value) is None or places is None:
        return None
    exact = decimal.Decimal(value.decode() if isinstance(value, bytes) else repr(value))
    unit = decimal.Decimal(1).scaleb(-min(max(places, 0), 30))
    try:
        return float(exact.quantize(unit, decimal.ROUND_HALF_UP))
    except decimal.InvalidOperation:
        return float(value)


def scalar(function):
    def call(*values):
        try:
            values = [numeric(value) for value in values]
            return None if None in values else float(function(*values))
        except (ValueError, OverflowError, ZeroDivisionError):
            return None
    return call


def aggregate(arguments, result):
    """A function of all values: those that are no numbers are left out."""
    class Own:
        def __init__(self):
            self.rows, self.last = [], None

        def step(self, *values):
            self.last, values = values[-1], [numeric(value) for value in values]
            if None not in values[:arguments]:
                self.rows.append(values)

        def finalize(self):
            try:
                return result(self.rows, self.last) if self.rows else None
            except (statistics.StatisticsError, ZeroDivisionError):
                return None
    return Own


def percentile(rows, percent):
    values = sorted(row[0] for row in rows)
    place = float(percent) / 100 * (len(values) - 1)
    low = values[int(place)]
    return low + (values[min(int(place) + 1, len(values) - 1)] - low) * (place - int(place))


def of_values(function):
    return lambda rows, _: function([row[0] for row in rows])


def correlation(rows, _):
    one, two = [row[0] for row in rows], [row[1] for row in rows]
    first, second = statistics.fmean(one), statistics.fmean(two)
    products = sum((x - first) * (y - second) for x, y in zip(one, two))
    return products / (sum((x - first) ** 2 for x in one) * sum((y - second) ** 2 for y in two)) ** 0.5


def add_statistics(database):
    for places in (1, 2):
        database.create_function("round", places, rounded, deterministic=True)
    scalars = {"sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "log": math.log10, "log10": math.log10,
               "log2": math.log2, "floor": math.floor, "ceil": math.ceil, "ceiling": math.ceil, "trunc": math.trunc}
    for own, function in scalars.items():
        database.create_function(own, 1, scalar(function), deterministic=True)
    for own in ("pow", "power"):
        database.create_function(own, 2, scalar(math.pow), deterministic=True)
    database.create_aggregate("median", 1, aggregate(1, lambda rows, _: percentile(rows, 50)))
    for own in ("percentile", "quantile"):
        database.create_aggregate(own, 2, aggregate(1, percentile))
    spreads = {"stddev": statistics.stdev, "stddev_samp": statistics.stdev, "stddev_pop": statistics.pstdev,
               "variance": statistics.variance, "var_samp": statistics.variance, "var_pop": statistics.pvariance}
    for own, function in spreads.items():
        database.create_aggregate(own, 1, aggregate(1, of_values(function)))
    database.create_aggregate("corr", 2, aggregate(2, correlation))


def name(text):
    return '"' + text.replace('"', '""') + '"'


def load(database, table):
    columns = table["columns"]
    kinds = {"integer": "INTEGER", "boolean": "INTEGER", "decimal": "REAL"}
    kind_of = lambda column: "BLOB" if column["plan"]["kind"] == "integer" and column["misfits"].get("long") else kinds.get(column["plan"]["kind"], "TEXT")
    types = [kind_of(column) for column in columns]
    parts = ", ".join(f"{name(c['name'])} {kind}" for c, kind in zip(columns, types))
    database.execute(f"DROP TABLE IF EXISTS {name(table['name'])}")
    database.execute(f"CREATE TABLE {name(table['name'])} ({parts})")
    beside = table.get("misfits_table")
    if beside:
        database.execute(f"DROP TABLE IF EXISTS {name(beside)}")
        database.execute(f'CREATE TABLE {name(beside)} ("row" INTEGER, "column" TEXT, "value" TEXT)')
    path, raw = opened(table)
    if table["form"] in ("excel", "parquet"):
        rows = frames(table, path)
    else:
        rows = (delimited if table["form"] == "delimited" else json_rows)(table, raw)
    count, marks = 0, ",".join("?" * len(columns))
    for count, row in enumerate(rows, 1):
        values = []
        for column, value in zip(columns, row):
            found, fits = converted(value, column["plan"])
            if not fits and column["plan"]["kind"] != "text" and beside:
                database.execute(f"INSERT INTO {name(beside)} VALUES (?, ?, ?)", (count, column["name"], str(value)))
            values.append(found if fits or column["plan"]["kind"] == "text" else None)
        database.execute(f"INSERT INTO {name(table['name'])} VALUES ({marks})", values)
    print(f"{table['name']}: {count} rows" + ("" if count == table["rows"] else f", and not {table['rows']}: the data has changed"))


def shown(value):
    return value.decode() if isinstance(value, bytes) else "" if value is None else str(value)


def is_same(one, other):
    if other[:1] == "'" and other[1:2] in tuple("=+-@\t\r"):
        other = other[1:]
    try:
        if one == other:
            return True
        one, other = decimal.Decimal(one), decimal.Decimal(other)
        # A mean may end in another digit.
        return abs(one - other) <= abs(other) * decimal.Decimal("1e-14")
    except decimal.InvalidOperation:
        return False


def compare(database, query):
    """Makes a query again; whether it gives what the report has."""
    found = database.execute(query["sql"].strip().rstrip(";"))
    rows = [[shown(value) for value in row] for row in found.fetchmany(query["rows"] + (not query.get("is_cut")))]
    with open(os.path.join(HERE, "results", query["name"] + ".csv"), encoding="utf-8", newline="") as file:
        kept_rows = list(csv.reader(file))[1:]
    kept_rows = [row or [""] for row in kept_rows]
    same = len(rows) == len(kept_rows) and all(
        len(one) == len(other) and all(map(is_same, one, other)) for one, other in zip(rows, kept_rows))
    print(f"{query['name']}: {len(rows)} rows, " + ("the same as in the report" if same else "NOT the same as in the report"))
    return same


database = sqlite3.connect(options.save)
for function, own in (("sum", ExactSum), ("total", ExactTotal), ("avg", ExactMean)):
    getattr(database, "create_window_function", database.create_aggregate)(function, 1, own)
add_statistics(database)
for table in manifest["tables"]:
    load(database, table)
database.commit()
all_same = all([compare(database, query) for query in manifest["queries"]])


def query(sql):
    """Rows of the loaded tables: a DataFrame if pandas is installed, else a list of dicts."""
    found = database.execute(sql)
    columns = [column[0] for column in found.description]
    rows = [[value.decode() if isinstance(value, bytes) else value for value in row] for row in found]
    if importlib.util.find_spec("pandas") is not None:
        import pandas
        return pandas.DataFrame(rows, columns=columns)
    return [dict(zip(columns, row)) for row in rows]
