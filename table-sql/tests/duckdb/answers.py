"""Writes `answers.txt`: the answers of DuckDB to `queries.sql`, over the Parquet export of the tables.

`tests/duckdb.rs` runs it with the folder of the export if TABLES_DUCKDB names a Python with the package `duckdb`.
"""

import pathlib
import sys

import duckdb

here = pathlib.Path(__file__).parent
export = pathlib.Path(sys.argv[1])
session = duckdb.connect()
session.sql("SET TimeZone = 'UTC'")
is_employee = "regexp_full_match(RowKey, 'empid_[0-9]{6}')"
session.sql(f"""CREATE VIEW Company AS SELECT *,
    CASE WHEN {is_employee} THEN PartitionKey END AS department,
    CASE WHEN {is_employee} THEN CAST(substr(RowKey, 7) AS BIGINT) END AS id
    FROM '{export}/Company.parquet'""")
session.sql(f"""CREATE VIEW Reviews AS SELECT *, PartitionKey AS department,
    CAST(substr(RowKey, 7, 6) AS BIGINT) AS employee, CAST(substr(RowKey, 14) AS BIGINT) AS year
    FROM '{export}/Reviews.parquet'""")


def shown(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.4f}" if isinstance(value, float) else str(value)


with open(here / "answers.txt", "w", encoding="utf-8") as out:
    for query in (here / "queries.sql").read_text(encoding="utf-8").splitlines():
        out.write(f"> {query}\n")
        for row in session.execute(query).fetchall():
            out.write("|".join(map(shown, row)) + "\n")
