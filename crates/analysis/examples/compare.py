#!/usr/bin/env python3
"""The same work as `analysis_bench run` by pandas, polars or DuckDB: load a file, profile every column, answer one query.

    compare.py FILE pandas|polars|duckdb
    compare.py FILE all BENCH

The second form runs all of them, `BENCH run FILE` first, one after the other, and prints a table; it fails if one fails or
finds something else than the others.

The profile of a column is what it holds, its missing and its different values, the least and the largest, its five most
frequent values, and the mean and the quartiles of numbers. What is printed are times, rows, an answer and the peak of memory.
"""

import resource
import subprocess
import sys
import time

path, engine = sys.argv[1], sys.argv[2]
began = time.perf_counter()


def timed(name, work):
    start = time.perf_counter()
    result = work()
    print(f"{name} {time.perf_counter() - start:.2f}", flush=True)
    return result


def of_pandas():
    import pandas

    def load():
        return pandas.read_csv(path, parse_dates=["day"])

    def profile():
        told = []
        for name in data.columns:
            column = data[name]
            top = column.value_counts()
            one = [column.isna().sum(), len(top), column.min(), column.max(), top.head(5)]
            if pandas.api.types.is_numeric_dtype(column):
                one += [column.mean(), column.quantile([0.25, 0.5, 0.75])]
            told.append(one)
        return told

    def query():
        return data.groupby(["region", data.day.dt.month]).amount.sum()

    data = timed("load", load)
    timed("profile", profile)
    answer = timed("query", query)
    return len(data), len(answer), answer.sum()


def of_polars():
    import polars

    def load():
        return polars.read_csv(path, try_parse_dates=True)

    def profile():
        told = []
        for name in data.columns:
            column = data[name]
            top = column.value_counts()
            one = [column.null_count(), len(top), column.min(), column.max(), top.top_k(5, by="count")]
            if column.dtype.is_numeric():
                one += [column.mean(), [column.quantile(at) for at in (0.25, 0.5, 0.75)]]
            told.append(one)
        return told

    def query():
        return data.group_by("region", polars.col("day").dt.month()).agg(polars.col("amount").sum())

    data = timed("load", load)
    timed("profile", profile)
    answer = timed("query", query)
    return len(data), len(answer), answer["amount"].sum()


def of_duckdb():
    import duckdb

    db = duckdb.connect()
    # Otherwise a bar of progress is among what is printed.
    db.execute("set enable_progress_bar = false")

    def load():
        db.execute("create table t as select * from read_csv_auto(?)", [path])

    def profile():
        told = []
        for name, kind, *_ in db.execute("describe t").fetchall():
            numbers = f", avg({name}), quantile_cont({name}, [0.25, 0.5, 0.75])"
            numbers = numbers if kind in ("BIGINT", "DOUBLE") else ""
            sql = f"select count(*) - count({name}), count(distinct {name}), min({name}), max({name}){numbers} from t"
            top = f"select {name}, count(*) as n from t group by 1 order by n desc limit 5"
            told.append([db.execute(sql).fetchall(), db.execute(top).fetchall()])
        return told

    def query():
        sql = "select region, month(day) as month, sum(amount) from t group by 1, 2"
        return db.execute(sql).fetchall()

    timed("load", load)
    timed("profile", profile)
    answer = timed("query", query)
    rows = db.execute("select count(*) from t").fetchall()[0][0]
    return rows, len(answer), sum(row[2] for row in answer)


def one(engine):
    rows, groups, total = {"pandas": of_pandas, "polars": of_polars, "duckdb": of_duckdb}[engine]()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(f"all {time.perf_counter() - began:.2f}")
    print(f"rows {rows}\ngroups {groups}\ntotal {total:.2f}\npeak_mb {usage.ru_maxrss / 1024:.0f}")


def told_by(command):
    """What a command measured, with the time of all processors that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = dict(line.split() for line in told.splitlines())
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found | {"cpu": f"{used:.2f}"}


def everything(bench):
    own = [sys.executable, __file__, path]
    commands = {"Everloop": [bench, "run", path]} | {name: own + [name] for name in ("pandas", "polars", "duckdb")}
    columns = ["load", "profile", "query", "all", "cpu", "peak_mb"]
    print("| | load | profile | query | all | processor time | peak memory |\n|---|--:|--:|--:|--:|--:|--:|")
    answers = set()
    for name, command in commands.items():
        found = told_by(command)
        answers.add((found["rows"], found["groups"], found["total"]))
        cells = [found[column] for column in columns]
        print("| " + " | ".join([name] + [f"{cell} s" for cell in cells[:-1]] + [f"{cells[-1]} MB"]) + " |", flush=True)
    print(f"rows, groups, total: {answers}")
    return len(answers) == 1


if engine == "all":
    sys.exit(0 if everything(sys.argv[3]) else "they do not agree")
one(engine)
