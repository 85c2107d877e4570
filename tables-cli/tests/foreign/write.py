"""Writes the fixtures of `tests/parquet.rs` with pyarrow and DuckDB: `python write.py` in this folder."""

import datetime
import decimal
import uuid

import duckdb
import pyarrow
import pyarrow.parquet

utc = datetime.timezone.utc
noon = datetime.datetime(2026, 11, 25, 12, 0, 0, 123456, utc)
guid = uuid.UUID("67e55044-10b1-426f-9247-bb680e5fe0c8")

table = pyarrow.table(
    {
        "PartitionKey": pyarrow.array(["Sales", "Sales", "é"]),
        "RowKey": pyarrow.array(["1", "2", ""], pyarrow.large_string()),
        "Timestamp": pyarrow.array([noon] * 3, pyarrow.timestamp("us", "UTC")),
        "Small": pyarrow.array([1, None, -3], pyarrow.int8()),
        "Age": pyarrow.array([36, None, -2147483648], pyarrow.int32()),
        "Unsigned": pyarrow.array([4294967295, None, 0], pyarrow.uint32()),
        "Badge": pyarrow.array([9007199254740993, None, -1], pyarrow.int64()),
        "Half": pyarrow.array([0.5, None, -0.25], pyarrow.float32()),
        "Score": pyarrow.array([0.1, None, float("inf")]),
        "Active": pyarrow.array([True, None, False]),
        "Name": pyarrow.array(["Ada", None, ""]).dictionary_encode(),
        "Photo": pyarrow.array([b"\x00\xff", None, b""]),
        "Code": pyarrow.array([b"ab", None, b"cd"], pyarrow.binary(2)),
        "Millis": pyarrow.array([noon, None, noon], pyarrow.timestamp("ms")),
        "Nanos": pyarrow.array([1764072000123456700, None, -100], pyarrow.timestamp("ns", "UTC")),
        "Day": pyarrow.array([datetime.date(2026, 11, 25), None, datetime.date(1969, 12, 31)]),
    }
)
pyarrow.parquet.write_table(table, "pyarrow.parquet", row_group_size=2)
pyarrow.parquet.write_table(table.select(["PartitionKey", "RowKey", "Millis"]), "int96.parquet", use_deprecated_int96_timestamps=True)
amounts = pyarrow.array([decimal.Decimal("1.50")] * 3, pyarrow.decimal128(9, 2))
pyarrow.parquet.write_table(table.select(["PartitionKey", "RowKey"]).append_column("Amount", amounts), "decimal.parquet")
nested = pyarrow.array([[1], [2, 3], []])
pyarrow.parquet.write_table(table.select(["PartitionKey", "RowKey"]).append_column("List", nested), "nested.parquet")

duckdb.sql("CREATE TABLE t (PartitionKey VARCHAR, RowKey VARCHAR, Id UUID, Seen TIMESTAMP, Born DATE, Big UBIGINT, Age INTEGER)")
duckdb.execute("INSERT INTO t VALUES ('p', '1', ?, '2026-11-25 12:00:00.123456', '2026-11-25', 7, 36)", [guid])
duckdb.sql("INSERT INTO t VALUES ('p', '2', NULL, NULL, NULL, 18446744073709551615, NULL), ('p', NULL, NULL, NULL, NULL, NULL, NULL)")
duckdb.sql("COPY t TO 'duckdb.parquet' (FORMAT parquet)")
