"""Rates of the command `tables` and of the vendor's client, into and out of one `table-server`.

    python3 transfer.py target/release/tables [rows of the command] [rows of the client]

The command imports a file of JSON lines and exports the table. The client uses its fastest loops: transactions of 100 entities, 32 at once, and
pages of 1,000 entities of 8 partitions at once. Install the packages of `requirements.txt` first.
"""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables.aio import TableServiceClient

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
PORT = 10_912
ENDPOINT = f"http://127.0.0.1:{PORT}/{ACCOUNT}"
STORE = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};TableEndpoint={ENDPOINT};"
AT_ONCE, PARTITIONS = 32, 8


def entity(number, count):
    return {
        "PartitionKey": f"p{number * PARTITIONS // count}",
        "RowKey": f"{number:09}",
        "Name": f"station-{number % 1_000:05}",
        "Level": number % 100,
        "Value": 417.25,
        "Valid": True,
        "Remark": "gusts from the west, calm",
    }


async def insert(count):
    """Inserts entities in transactions of 100. Returns the rows per second, and the part of a core that the client used."""
    async with TableServiceClient(endpoint=ENDPOINT, credential=AzureNamedKeyCredential(ACCOUNT, KEY)) as service:
        table = await service.create_table_if_not_exists("ByClient")
        entities = (entity(number, count) for number in range(count))
        groups = iter(
            [
                batch
                for _, rows in itertools.groupby(entities, lambda row: row["PartitionKey"])
                for batch in iter(lambda rows=rows: list(itertools.islice(rows, 100)), [])
            ]
        )

        async def work():
            for group in groups:
                await table.submit_transaction([("upsert", row) for row in group])

        begun, busy = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        seconds = time.perf_counter() - begun
        return count / seconds, (time.process_time() - busy) / seconds


async def read(count):
    """Reads all entities, one query for each partition. Returns the same figures as `insert`."""
    async with TableServiceClient(endpoint=ENDPOINT, credential=AzureNamedKeyCredential(ACCOUNT, KEY)) as service:
        table = service.get_table_client("ByClient")

        async def work(partition):
            query = f"PartitionKey eq 'p{partition}'"
            return len([row async for row in table.query_entities(query, results_per_page=1_000)])

        begun, busy = time.perf_counter(), time.process_time()
        found = sum(await asyncio.gather(*(work(partition) for partition in range(PARTITIONS))))
        assert found == count, found
        seconds = time.perf_counter() - begun
        return count / seconds, (time.process_time() - busy) / seconds


def run(program, count, *arguments):
    """Runs the command, and returns the rows per second, the part of a core that it used, and the largest memory in MB."""
    begun = time.perf_counter()
    command = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(command.pid, 0)
    assert status == 0, arguments
    seconds = time.perf_counter() - begun
    return count / seconds, (usage.ru_utime + usage.ru_stime) / seconds, usage.ru_maxrss // 1_024


def main():
    program, counts = os.path.abspath(sys.argv[1]), [int(text) for text in sys.argv[2:]]
    ours, theirs = (counts + [1_000_000, 20_000][len(counts) :])[:2]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("in.jsonl", "w") as file:
            file.writelines(json.dumps(entity(number, ours)) + "\n" for number in range(ours))
        log = open("server.log", "w")
        server = subprocess.Popen([program, "serve", "--port", str(PORT), "--store", "data"], stdout=log, stderr=log)
        try:
            while "is served" not in open("server.log").read():
                assert server.poll() is None, open("server.log").read()
                time.sleep(0.1)
            imported = run(program, ours, "import", "ByCommand", "in.jsonl", "--store", STORE)
            exported = run(program, ours, "export", "ByCommand", "out.jsonl", "--store", STORE)
            inserted, listed = asyncio.run(insert(theirs)), asyncio.run(read(theirs))
        finally:
            server.terminate()
            server.wait()
    for verb, (rate, core, memory), (client, client_core) in (("import", imported, inserted), ("export", exported, listed)):
        # On a busy machine, the rows per second of processor time are comparable.
        busy = (rate / core) / (client / client_core)
        print(
            f"{verb} {rate:,.0f} rows/s with {core:.0%} of a core, {memory} MB; client {client:,.0f} rows/s with {client_core:.0%}; "
            f"ratio {rate / client:.1f}, of processor time {busy:.1f}"
        )


main()
