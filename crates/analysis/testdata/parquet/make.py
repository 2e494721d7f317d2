"""Makes the files beside it: pip install pyarrow polars duckdb, then python3 make.py."""

import datetime as dt
from decimal import Decimal

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300


def columns():
    day = dt.date(2026, 1, 1)
    start = dt.datetime(2026, 1, 1, 9, 30)
    nth = list(range(ROWS))
    some = lambda make: [None if n % 7 == 3 else make(n) for n in nth]
    return {
        "id": pa.array(nth, pa.int64()),
        "small": pa.array(some(lambda n: n % 100 - 50), pa.int8()),
        "huge": pa.array([2**64 - 1 - n for n in nth], pa.uint64()),
        "price": pa.array(some(lambda n: Decimal(n * 37 - 5000).scaleb(-2)), pa.decimal128(9, 2)),
        "wide": pa.array([Decimal(10**20 + n).scaleb(-4) for n in nth], pa.decimal128(30, 4)),
        "day": pa.array([day + dt.timedelta(n) for n in nth], pa.date32()),
        "at": pa.array(some(lambda n: start + dt.timedelta(hours=n)), pa.timestamp("us")),
        "clock": pa.array([dt.time(9, n % 60, 5) for n in nth], pa.time32("ms")),
        "ratio": pa.array([n / 8 for n in nth], pa.float64()),
        "single": pa.array([n / 10 for n in nth], pa.float32()),
        "open": pa.array(some(lambda n: n % 3 == 0), pa.bool_()),
        "region": pa.array(some(lambda n: ["East", "West", "\u534e\u4e1c"][n % 3]), pa.string()),
        "note": pa.array([f"note number {n}, shared beginning" for n in nth], pa.string()),
        "place": pa.array([{"lat": n / 4, "city": f"c{n % 5}"} for n in nth]),
        "tags": pa.array([["a", "b"][: n % 3] for n in nth]),
    }


table = pa.table(columns())
flat = table.drop_columns(["place", "tags"])
pq.write_table(table, "arrow.parquet", row_group_size=120)
pq.write_table(flat, "gzip_v2.parquet", compression="gzip", data_page_version="2.0")
pq.write_table(
    flat, "encodings.parquet", compression="none", use_dictionary=False, data_page_version="2.0",
    column_encoding={
        "id": "DELTA_BINARY_PACKED", "small": "DELTA_BINARY_PACKED", "note": "DELTA_BYTE_ARRAY",
        "region": "DELTA_LENGTH_BYTE_ARRAY", "ratio": "BYTE_STREAM_SPLIT",
        "single": "BYTE_STREAM_SPLIT",
    },
)
pq.write_table(flat.select(["id", "at"]), "int96.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(flat.select(["id"]), "lz4.parquet", compression="lz4")
polars.from_arrow(flat).write_parquet("zstd.parquet")
duckdb.sql("COPY flat TO 'duckdb.parquet' (FORMAT parquet)")
